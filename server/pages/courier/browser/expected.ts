import type { CourierAction, StoredGuia } from './store/base.ts'
import {
  ALL_STEPS,
  type Estado,
  type EstadoSiguiente,
  isFinalEstado,
  stepsAfter,
  stepTo,
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
  const pending = actions.filter(
    (action) => action.guia === guia.guia && action.status === 'pendiente' && action.estado !== null,
  )
  const last = pending.at(-1)
  const estado = last?.estado ?? guia.datos?.estado ?? null
  const isOwn = !guia.datos || guia.datos.custodia === 'propia' || pending.some((action) => takesParcel(action.estado))
  const steps = last
    ? stepsAfter(last.estado!).filter((step) => isOwn || takesParcel(step.estado))
    : (guia.datos?.siguientes.filter(({ estado: other }) => other !== 'cancelado') ??
      (guia.isUnassigned ? [] : ALL_STEPS.map(stepTo)))
  return { estado, isUnsent: last !== undefined, final: estado !== null && isFinalEstado(estado), isOwn, steps }
}
