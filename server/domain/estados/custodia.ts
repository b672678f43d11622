import type { Custodia, Estado } from '../../generated/contract/types/index.ts'
import { isFinalState, reportableStates } from './estados.ts'

/** Properties of a guide that decide who has custody of its parcel. */
export interface CarriedGuia {
  estado: Estado
  /** Courier of the guide's latest `recolectado` or `en_ruta`; null before the first of these events. */
  custodio: string | null
}

/** States that give custody of a parcel to the courier who reports them. */
const TAKING_STATES: readonly Estado[] = ['recolectado', 'en_ruta']
/** States in which a parcel is with the company, independent of the courier who brought it. */
const AT_COMPANY_STATES: readonly Estado[] = ['en_bodega', 'en_transito']
/** States in which the courier who took a parcel still carries it. */
export const HELD_STATES: readonly Estado[] = ['recolectado', 'en_ruta', 'intento_fallido', 'en_devolucion']

/** Returns who has custody of a parcel, from the view of a courier: `propia`, `ajena` or `ninguna`. */
export function custodiaOf({ estado, custodio }: CarriedGuia, repartidor: string): Custodia {
  if (custodio === repartidor) return 'propia'
  return custodio === null || AT_COMPANY_STATES.includes(estado) ? 'ninguna' : 'ajena'
}

/** Reports whether a courier takes a parcel by reporting this state. */
export const isTaking = (estado: Estado) => TAKING_STATES.includes(estado)

/** Reports whether a report of this state may change who carries the parcel, so that its assignment matters. */
export const mayChangeCustodio = ({ estado }: Pick<CarriedGuia, 'estado'>, reportedState: Estado): boolean =>
  isTaking(reportedState) || estado === reportedState

/**
 * Reports whether a courier who reports this state has custody from then on, if no courier took the parcel later. A
 * late scan counts like a timely scan if the courier could take the parcel now. The courier's later reports, made
 * without coverage, depend on that scan.
 */
export const daCustodia = ({ estado, custodio }: CarriedGuia, reportedState: Estado): boolean =>
  isTaking(reportedState) &&
  !isFinalState(estado) &&
  (custodio === null || reportableStates(estado).includes(reportedState))

/**
 * States in which a courier may hand over a parcel. A failed attempt is not one of them, because the other courier takes
 * that parcel with `en_ruta`.
 */
const HANDOVER_STATES: readonly Estado[] = ['recolectado', 'en_ruta', 'en_devolucion']

/**
 * Reports whether a courier who reports this state receives the parcel from the courier who carries it. The state stays
 * the same. Only the courier who has the assignment may receive it.
 */
export const isHandover = (
  { estado, custodio }: CarriedGuia,
  reportedState: Estado,
  receiver: string,
  assignedTo: string | null | undefined,
): boolean =>
  estado === reportedState &&
  HANDOVER_STATES.includes(estado) &&
  custodio !== null &&
  custodio !== receiver &&
  assignedTo === receiver

/**
 * Reports whether a courier may report this state. A courier with custody may report every state; any other courier
 * only states that give custody. If another courier has custody, the present state must also allow the reported state.
 * If no courier has custody, `en_bodega` is allowed too.
 */
export function canReport(custodia: Custodia, { estado }: CarriedGuia, reportedState: Estado): boolean {
  if (custodia === 'propia') return true
  if (custodia === 'ninguna') return isTaking(reportedState) || reportedState === 'en_bodega'
  return isTaking(reportedState) && reportableStates(estado).includes(reportedState)
}
