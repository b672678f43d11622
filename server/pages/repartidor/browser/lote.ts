// One step for many guides. Each guide has its own event with its own idempotency key. All are stored, or none.

import type { Estado } from './dominio.ts'
import { filasDeReparto } from './lista.ts'
import type { Prevision } from './previsto.ts'
import { encolar, acciones as leerAcciones } from './store/acciones.ts'
import type { Sesion } from './store/base.ts'
import { guiasDe } from './store/guias.ts'

/** Steps that need no further data. */
export const DE_LOTE = ['recolectado', 'en_ruta', 'en_bodega'] as const satisfies Estado[]
export type PasoDeLote = (typeof DE_LOTE)[number]

/** Tells whether a guide can take a step without its own screen. */
export const puede = (
  { pasos, datos }: Pick<Prevision, 'pasos'> & { datos: { ubicacion: { estado: string } } | null },
  estado: Estado,
) =>
  pasos.some(
    (paso) => paso.estado === estado && (!paso.con_ubicacion || !datos || datos.ubicacion.estado === 'confirmada'),
  )

/** Result of the last batch, for the screen after it. */
export let ultimoLote: { estado: PasoDeLote; hechas: number; quedan: string[] } | null = null

/** Takes a step with each guide that can take the step, as far as the phone knows. */
export async function hacerLote({ repartidor, nombre }: Sesion, guias: readonly string[], estado: PasoDeLote) {
  const [guardadas, acciones] = await Promise.all([guiasDe(repartidor), leerAcciones()])
  const filas = filasDeReparto(
    guardadas.filter(({ guia }) => guias.includes(guia)),
    acciones,
  )
  const hacer = filas.filter((fila) => puede(fila, estado)).map(({ guia }) => guia)
  const nada = { evento: {}, fotos: [], firma: null, trazos: null }
  await encolar(
    hacer.map((guia) => ({ repartidor, nombre, guia, estado, ...nada })),
    Date.now(),
  )
  ultimoLote = { estado, hechas: hacer.length, quedan: guias.filter((guia) => !hacer.includes(guia)) }
}
