import type { Accion, GuiaGuardada } from './almacen/base.ts'
import { type Estado, type EstadoSiguiente, esFinal, pasoA, pasosDesde, TODOS_LOS_PASOS } from './dominio.ts'

export interface Prevision {
  /** The state that the guide will be in; null when nothing is known of it but its code. */
  estado: Estado | null
  porEnviar: boolean
  final: boolean
  pasos: EstadoSiguiente[]
}

/** Foresees what a guide will be once everything that was done to it has arrived, and what can be done to it then. */
export function previsto(guia: Pick<GuiaGuardada, 'guia' | 'datos'>, acciones: readonly Accion[]): Prevision {
  const ultima = acciones
    .filter((una) => una.guia === guia.guia && una.situacion === 'pendiente' && una.estado !== null)
    .at(-1)
  const estado = ultima?.estado ?? guia.datos?.estado ?? null
  const pasos = ultima
    ? pasosDesde(ultima.estado!)
    : (guia.datos?.siguientes.filter(({ estado: otro }) => otro !== 'cancelado') ?? TODOS_LOS_PASOS.map(pasoA))
  return { estado, porEnviar: ultima !== undefined, final: estado !== null && esFinal(estado), pasos }
}
