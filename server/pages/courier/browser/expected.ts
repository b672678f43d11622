import type { CourierAction, StoredGuia } from './store/base.ts'
import {
  ALL_STEPS,
  type Estado,
  type EstadoSiguiente,
  isFinalEstado,
  pasoA,
  stepsAfter,
  takesParcel,
} from './vocabulary.ts'

/** Prediction of a guide after all its pending actions. */
export interface Prediction {
  /** State that the guide will have; null if the phone knows only the guide's code. */
  estado: Estado | null
  isUnsent: boolean
  final: boolean
  /**
   * True if the courier will carry the guide. Also true if the phone knows only the guide's code, because then the
   * courier has to decide.
   */
  isOwn: boolean
  steps: EstadoSiguiente[]
}

/**
 * Predicts the state of a guide after all its pending actions have reached the server, and the states that the courier
 * can report then.
 */
export function predict(
  guia: Pick<StoredGuia, 'guia' | 'datos' | 'isUnassigned'>,
  actions: readonly CourierAction[],
): Prediction {
  const pendientes = actions.filter(
    (action) => action.guia === guia.guia && action.status === 'pendiente' && action.estado !== null,
  )
  const ultima = pendientes.at(-1)
  const estado = ultima?.estado ?? guia.datos?.estado ?? null
  const isOwn =
    !guia.datos || guia.datos.custodia === 'propia' || pendientes.some((action) => takesParcel(action.estado))
  const steps = ultima
    ? stepsAfter(ultima.estado!).filter((paso) => isOwn || takesParcel(paso.estado))
    : (guia.datos?.siguientes.filter(({ estado: otro }) => otro !== 'cancelado') ??
      (guia.isUnassigned ? [] : ALL_STEPS.map(pasoA)))
  return { estado, isUnsent: ultima !== undefined, final: estado !== null && isFinalEstado(estado), isOwn, steps }
}
