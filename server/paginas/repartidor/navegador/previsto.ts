import type { Accion, GuiaGuardada } from './almacen/base.ts'
import { type Estado, type EstadoSiguiente, esFinal, esToma, pasoA, pasosDesde, TODOS_LOS_PASOS } from './dominio.ts'

export interface Prevision {
  /** The state that the guide will be in; null when nothing is known of it but its code. */
  estado: Estado | null
  porEnviar: boolean
  final: boolean
  /** Whether the courier carries the guide then; of one of which nothing is known he alone can say. */
  suya: boolean
  pasos: EstadoSiguiente[]
}

/** Foresees what a guide will be once everything that was done to it has arrived, and what can be done to it then. */
export function previsto(guia: Pick<GuiaGuardada, 'guia' | 'datos'>, acciones: readonly Accion[]): Prevision {
  const pendientes = acciones.filter(
    (una) => una.guia === guia.guia && una.situacion === 'pendiente' && una.estado !== null,
  )
  const ultima = pendientes.at(-1)
  const estado = ultima?.estado ?? guia.datos?.estado ?? null
  const suya = !guia.datos || guia.datos.custodia === 'propia' || pendientes.some((una) => esToma(una.estado))
  const pasos = ultima
    ? pasosDesde(ultima.estado!).filter((paso) => suya || esToma(paso.estado))
    : (guia.datos?.siguientes.filter(({ estado: otro }) => otro !== 'cancelado') ?? TODOS_LOS_PASOS.map(pasoA))
  return { estado, porEnviar: ultima !== undefined, final: estado !== null && esFinal(estado), suya, pasos }
}
