// Guides that a courier has on the phone.
import type { AvanceDelDia } from '../../../../generado/contrato/tipos/index.ts'
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

/** Tells whether the courier is signed in on this phone. A response may arrive after the courier left. */
const estaDentro = async (tx: Transaccion, repartidor: string) =>
  ((await tx.objectStore('ajustes').get('sesion')) as Sesion | undefined)?.repartidor === repartidor

/**
 * Stores guides as the server sent them. Of two copies, the copy with the higher `secuencia` is newer and stays.
 * @param servidor server's clock at the response, in milliseconds since the epoch
 * @param hoy guides that the courier finished today, if the server said so
 */
export const guardarGuias = (
  repartidor: string,
  leidas: readonly GuiaDeReparto[],
  servidor: number,
  hoy?: AvanceDelDia,
) =>
  escribirAlmacen(async (tx) => {
    if (!(await estaDentro(tx, repartidor))) return
    if (hoy) await tx.objectStore('ajustes').put(hoy, 'hoy')
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

/** Removes a guide from the phone. */
export const soltarGuia = (guia: string) => escribirAlmacen((tx) => tx.objectStore('guias').delete(guia))
