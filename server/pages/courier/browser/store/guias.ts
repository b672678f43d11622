// Guides that a courier has on the phone.
import type { OwnGuias } from '../api.ts'
import type { GuiaDeReparto } from '../vocabulary.ts'
import {
  GUIA_MAX_AGE_MS,
  openPhoneDatabase,
  type Sesion,
  type StoredGuia,
  type StoreTransaction,
  writeStore,
} from './base.ts'

/** Returns a courier's guides that the phone read within the last 24 hours. */
export async function readGuiasOf(repartidor: string): Promise<StoredGuia[]> {
  const from = Date.now() - GUIA_MAX_AGE_MS
  const guias = await (await openPhoneDatabase()).getAll('guias')
  return guias.filter((guia) => guia.repartidor === repartidor && guia.readAt > from)
}

/** Returns a courier's guide, if the phone read it within the last 24 hours. */
export async function readGuiaOf(repartidor: string, guia: string) {
  return (await readGuiasOf(repartidor)).find((storedGuia) => storedGuia.guia === guia)
}

/** Tells whether the courier is still signed in on this phone, because a response may arrive after signing out. */
const isSignedIn = async (tx: StoreTransaction, repartidor: string) =>
  ((await tx.objectStore('settings').get('sesion')) as Sesion | undefined)?.repartidor === repartidor

/**
 * Stores guides as the server sent them. Of two copies, the copy with the higher `secuencia` is newer and stays.
 * @param serverTime server's clock at the response, in milliseconds since the epoch
 * @param hoy guides that the courier finished today, if the answer contains them
 * @param asignadas guides assigned to the courier, if the answer contains them
 */
export const storeGuias = (
  repartidor: string,
  receivedGuias: readonly GuiaDeReparto[],
  serverTime: number,
  { hoy, asignadas }: Partial<Pick<OwnGuias, 'hoy' | 'asignadas'>> = {},
) =>
  writeStore(async (tx) => {
    if (!(await isSignedIn(tx, repartidor))) return
    if (hoy) await tx.objectStore('settings').put(hoy, 'hoy')
    if (asignadas) await tx.objectStore('settings').put({ guias: asignadas, readAt: Date.now() }, 'asignadas')
    const guias = tx.objectStore('guias')
    for (const datos of receivedGuias) {
      const previousGuia = await guias.get(datos.guia)
      if (previousGuia?.repartidor === repartidor && (previousGuia.datos?.secuencia ?? 0) > datos.secuencia) continue
      await guias.put({
        guia: datos.guia,
        repartidor,
        datos,
        readAt: Date.now(),
        serverReadAt: serverTime,
        isUnknown: false,
      })
    }
  })

/**
 * Stores a code that was scanned without coverage, or that the server does not know. A guide with data keeps the data,
 * unless the server does not know the code.
 * @param isUnknown true if the server does not know the code
 */
export const storeWithoutData = (repartidor: string, guia: string, isUnknown: boolean) =>
  writeStore(async (tx) => {
    if (!(await isSignedIn(tx, repartidor))) return
    const guias = tx.objectStore('guias')
    const previousGuia = await guias.get(guia)
    if (previousGuia?.repartidor === repartidor && previousGuia.datos && !isUnknown) return
    await guias.put({ guia, repartidor, datos: null, readAt: Date.now(), serverReadAt: 0, isUnknown })
  })

/**
 * Stores that the courier may not see a guide, and deletes the guide's data. The code stays, because the guide may be
 * assigned to the courier again.
 */
export const storeUnassigned = (repartidor: string, guia: string) =>
  writeStore(async (tx) => {
    if (!(await isSignedIn(tx, repartidor))) return
    const emptyGuia = { guia, repartidor, datos: null, readAt: Date.now(), serverReadAt: 0, isUnknown: false }
    await tx.objectStore('guias').put({ ...emptyGuia, isUnassigned: true })
  })

/** Removes a guide from the phone. */
export const releaseGuia = (guia: string) => writeStore((tx) => tx.objectStore('guias').delete(guia))
