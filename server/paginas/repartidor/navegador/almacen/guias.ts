// The guides that a courier has at hand.
import type { GuiaDeReparto } from '../dominio.ts'
import { abrir, CADUCAN_MS, escribir, type GuiaGuardada, type Sesion, type Transaccion } from './base.ts'

export async function guiasDe(repartidor: string): Promise<GuiaGuardada[]> {
  const desde = Date.now() - CADUCAN_MS
  const guias = await (await abrir()).getAll('guias')
  return guias.filter((guia) => guia.repartidor === repartidor && guia.leida > desde)
}

export async function guiaDe(repartidor: string, guia: string) {
  return (await guiasDe(repartidor)).find((una) => una.guia === guia)
}

/** Whether that courier is the one on this phone: an answer may come when he has left. */
const estaDentro = async (tx: Transaccion, repartidor: string) =>
  ((await tx.objectStore('ajustes').get('sesion')) as Sesion | undefined)?.repartidor === repartidor

/** Keeps guides as the server gave them; of two copies the one with the higher `secuencia` is the newer. */
export const guardarGuias = (repartidor: string, leidas: readonly GuiaDeReparto[], servidor: number) =>
  escribir(async (tx) => {
    if (!(await estaDentro(tx, repartidor))) return
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

/** Keeps a code that was read where there is no coverage, or that the server doesn't know. */
export const guardarSinDatos = (repartidor: string, guia: string, desconocida: boolean) =>
  escribir(async (tx) => {
    if (!(await estaDentro(tx, repartidor))) return
    const guias = tx.objectStore('guias')
    const previa = await guias.get(guia)
    if (previa?.repartidor === repartidor && previa.datos && !desconocida) return
    await guias.put({ guia, repartidor, datos: null, leida: Date.now(), vista: 0, desconocida })
  })

export const soltarGuia = (guia: string) => escribir((tx) => tx.objectStore('guias').delete(guia))
