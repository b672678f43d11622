// Guides that a courier has on the phone.
import type { Suyas } from '../api.ts'
import type { GuiaDeReparto } from '../dominio.ts'
import { abrir, CADUCAN_MS, escribirAlmacen, type GuiaGuardada, type Sesion, type Transaccion } from './base.ts'

/** Returns a courier's guides that the phone read within the last 24 hours. */
export async function guiasDe(repartidor: string): Promise<GuiaGuardada[]> {
  const desde = Date.now() - CADUCAN_MS
  const guias = await (await abrir()).getAll('guias')
  return guias.filter((guia) => guia.repartidor === repartidor && guia.leida > desde)
}

/** Returns a courier's guide, if the phone read it within the last 24 hours. */
export async function guiaDe(repartidor: string, guia: string) {
  return (await guiasDe(repartidor)).find((una) => una.guia === guia)
}

/** Tells whether the courier is still signed in on this phone, because a response may arrive after signing out. */
const estaDentro = async (tx: Transaccion, repartidor: string) =>
  ((await tx.objectStore('ajustes').get('sesion')) as Sesion | undefined)?.repartidor === repartidor

/**
 * Stores guides as the server sent them. Of two copies, the copy with the higher `secuencia` is newer and stays.
 * @param servidor server's clock at the response, in milliseconds since the epoch
 * @param delDia guides that the courier finished today, and guides assigned to the courier, if the answer contains them
 */
export const guardarGuias = (
  repartidor: string,
  leidas: readonly GuiaDeReparto[],
  servidor: number,
  { hoy, asignadas }: Partial<Pick<Suyas, 'hoy' | 'asignadas'>> = {},
) =>
  escribirAlmacen(async (tx) => {
    if (!(await estaDentro(tx, repartidor))) return
    if (hoy) await tx.objectStore('ajustes').put(hoy, 'hoy')
    if (asignadas) await tx.objectStore('ajustes').put({ guias: asignadas, leida: Date.now() }, 'asignadas')
    const guias = tx.objectStore('guias')
    for (const datos of leidas) {
      const previa = await guias.get(datos.guia)
      if (previa?.repartidor === repartidor && (previa.datos?.secuencia ?? 0) > datos.secuencia) continue
      await guias.put({
        guia: datos.guia,
        repartidor,
        datos,
        leida: Date.now(),
        vista: servidor,
        desconocida: false,
      })
    }
  })

/**
 * Stores a code that was scanned without coverage, or that the server does not know. A guide with data keeps the data,
 * unless the server does not know the code.
 * @param desconocida true if the server does not know the code
 */
export const guardarSinDatos = (repartidor: string, guia: string, desconocida: boolean) =>
  escribirAlmacen(async (tx) => {
    if (!(await estaDentro(tx, repartidor))) return
    const guias = tx.objectStore('guias')
    const previa = await guias.get(guia)
    if (previa?.repartidor === repartidor && previa.datos && !desconocida) return
    await guias.put({ guia, repartidor, datos: null, leida: Date.now(), vista: 0, desconocida })
  })

/**
 * Stores that the courier may not see a guide, and deletes the guide's data. The code stays, because the guide may be
 * assigned to the courier again.
 */
export const guardarSinAsignar = (repartidor: string, guia: string) =>
  escribirAlmacen(async (tx) => {
    if (!(await estaDentro(tx, repartidor))) return
    const sinDatos = { guia, repartidor, datos: null, leida: Date.now(), vista: 0, desconocida: false }
    await tx.objectStore('guias').put({ ...sinDatos, sinAsignar: true })
  })

/** Removes a guide from the phone. */
export const soltarGuia = (guia: string) => escribirAlmacen((tx) => tx.objectStore('guias').delete(guia))
