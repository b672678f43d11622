import type { Dia, Franja } from '../../generated/contract/types/index.ts'
import { type Corrector, correctLockedGuia } from '../correcciones/correccion.ts'
import type { Remember } from '../idempotencia/idempotencia.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import type { GuiaScope } from '../records/guiaLookup.ts'
import { type LockedGuiaDeps, withLockedGuia } from '../records/lockedGuia.ts'
import { type Decider, type DecisionDeps, retryLockedGuia, returnLockedGuia } from './retryOrReturn.ts'

export {
  answerLockedGuia,
  choiceOf,
  createDecisiones,
  type DecisionData,
  type Decisiones,
  type RecipientAnswer,
  type RecipientChoice,
} from './destinatario.ts'
export { expireLockedGuia } from './expire.ts'
export { MAX_NEIGHBOUR_LENGTHS } from './neighbour.ts'
export { requireNotTaken } from './retryOrReturn.ts'

/** Another delivery attempt, as the request describes it. */
interface RetryRequest {
  fecha?: Dia | undefined
  franja?: Franja | undefined
  /** Fields of the guide that the request corrects. */
  campos: Parameters<typeof correctLockedGuia>[3]
  /** Sequence number that the guide must have; undefined: any. */
  secuencia?: number | undefined
}

/**
 * Decides on another delivery attempt, and corrects fields of the guide, in one transaction. Without a requested day,
 * takes the first possible one.
 * @param remember stores the request's key in the same transaction
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `decision_tomada`, `decision_no_admitida`, `carrera_perdida`, or one of a correction; 422
 */
export function retryGuiaOf(
  deps: DecisionDeps,
  caller: Decider & Corrector,
  code: string,
  { fecha, franja, campos, secuencia }: RetryRequest,
  remember: Remember,
): Promise<GuiaRow & { comercio: string }> {
  return withLockedGuia(deps, caller.ambito, code, secuencia, remember, (writer, lockedGuia) =>
    retryLockedGuia(deps, writer, caller, lockedGuia, {
      fecha,
      franja,
      changeGuia: async () =>
        Object.keys(campos).length > 0
          ? correctLockedGuia(writer, caller, lockedGuia, campos)
          : (lockedGuia as GuiaRow),
    }),
  )
}

/**
 * Decides that a parcel returns to the sender. The return begins at once unless a courier is on the way with the
 * parcel; then it begins with the next scan. A parcel that is already returning stays as it is.
 * @param remember stores the request's key in the same transaction
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `decision_tomada` or `transicion_invalida`
 */
export const returnGuiaOf = (
  deps: LockedGuiaDeps,
  { ambito, ...caller }: Decider & { ambito: GuiaScope },
  code: string,
  remember: Remember,
): Promise<GuiaRow & { comercio: string }> =>
  withLockedGuia(deps, ambito, code, undefined, remember, (writer, lockedGuia) =>
    returnLockedGuia(writer, caller, lockedGuia),
  )
