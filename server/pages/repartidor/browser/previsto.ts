import {
  type Estado,
  type EstadoSiguiente,
  esEstadoFinal,
  pasoA,
  pasosDesde,
  TODOS_LOS_PASOS,
  tomaElPaquete,
} from './dominio.ts'
import type { Accion, GuiaGuardada } from './store/base.ts'

/** Prediction of a guide after all its pending actions. */
export interface Prevision {
  /** State that the guide will have; null if the phone knows only the guide's code. */
  estado: Estado | null
  porEnviar: boolean
  final: boolean
  /**
   * True if the courier will carry the guide. Also true if the phone knows only the guide's code, because then the
   * courier has to decide.
   */
  suya: boolean
  pasos: EstadoSiguiente[]
}

/**
 * Predicts the state of a guide after all its pending actions have reached the server, and the states that the courier
 * can report then.
 */
export function previsto(
  guia: Pick<GuiaGuardada, 'guia' | 'datos' | 'sinAsignar'>,
  acciones: readonly Accion[],
): Prevision {
  const pendientes = acciones.filter(
    (una) => una.guia === guia.guia && una.situacion === 'pendiente' && una.estado !== null,
  )
  const ultima = pendientes.at(-1)
  const estado = ultima?.estado ?? guia.datos?.estado ?? null
  const suya = !guia.datos || guia.datos.custodia === 'propia' || pendientes.some((una) => tomaElPaquete(una.estado))
  const pasos = ultima
    ? pasosDesde(ultima.estado!).filter((paso) => suya || tomaElPaquete(paso.estado))
    : (guia.datos?.siguientes.filter(({ estado: otro }) => otro !== 'cancelado') ??
      (guia.sinAsignar ? [] : TODOS_LOS_PASOS.map(pasoA)))
  return { estado, porEnviar: ultima !== undefined, final: estado !== null && esEstadoFinal(estado), suya, pasos }
}
