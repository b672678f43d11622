// Reports one state for many guides. Each guide has its own event with its own idempotency key. All are stored on the
// phone, or none.

import type { Estado } from './dominio.ts'
import { filasDeReparto } from './lista.ts'
import type { Prevision } from './previsto.ts'
import { encolar, acciones as leerAcciones } from './store/acciones.ts'
import type { Sesion } from './store/base.ts'
import { guiasDe } from './store/guias.ts'

/** States that can be reported without further data. */
export const DE_LOTE = ['recolectado', 'en_ruta', 'en_bodega'] as const satisfies Estado[]
export type PasoDeLote = (typeof DE_LOTE)[number]

/** Tells whether a state can be reported for a guide without opening the guide's own screen. */
export const puede = (
  { pasos, datos }: Pick<Prevision, 'pasos'> & { datos: { ubicacion: { estado: string } } | null },
  estado: Estado,
) =>
  pasos.some(
    (paso) => paso.estado === estado && (!paso.con_ubicacion || !datos || datos.ubicacion.estado === 'confirmada'),
  )

/** Result of the last batch, for the screen after it. */
export let ultimoLote: { estado: PasoDeLote; hechas: number; quedan: string[] } | null = null

/** Reports a state for each guide that can enter it, as far as the phone knows. */
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
