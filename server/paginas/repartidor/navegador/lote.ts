// One action for many parcels: each its own event, with its own key, kept together or not at all.
import { encolar, acciones as leerAcciones } from './almacen/acciones.ts'
import type { Sesion } from './almacen/base.ts'
import { guiasDe } from './almacen/guias.ts'
import type { Estado } from './dominio.ts'
import { filasDe } from './lista.ts'
import type { Prevision } from './previsto.ts'

/** The steps that ask for nothing but that they happened. */
export const DE_LOTE = ['recolectado', 'en_ruta', 'en_bodega'] as const satisfies Estado[]
export type PasoDeLote = (typeof DE_LOTE)[number]

/** Whether that step can be taken without opening the guide. */
export const puede = (
  { pasos, datos }: Pick<Prevision, 'pasos'> & { datos: { ubicacion: { estado: string } } | null },
  estado: Estado,
) =>
  pasos.some(
    (paso) => paso.estado === estado && (!paso.con_ubicacion || !datos || datos.ubicacion.estado === 'confirmada'),
  )

/** What became of the last one, for the screen after it. */
export let ultimoLote: { estado: PasoDeLote; hechas: number; quedan: string[] } | null = null

/** Takes that step with each of these guides that can take it as the phone knows it now. */
export async function hacerLote({ repartidor, nombre }: Sesion, guias: readonly string[], estado: PasoDeLote) {
  const [guardadas, acciones] = await Promise.all([guiasDe(repartidor), leerAcciones()])
  const filas = filasDe(
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
