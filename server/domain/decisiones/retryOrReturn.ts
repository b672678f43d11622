import type { Decision, Dia, Estado, Franja, QuienResuelve } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { dayIn } from '../../platform/time/day.ts'
import type { RestDays } from '../../platform/time/restDays.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import { admitsCorreccion } from '../correcciones/correccion.ts'
import type { ServiceSettings } from '../deps.ts'
import {
  dayOutOfRange,
  daysOf,
  isAwaitingDecision,
  isTaken,
  type OfferedDays,
  offeredDaysOf,
  presentDecision,
  takeDecision,
} from '../estados/decision.ts'
import { isFinalState, nextStates } from '../estados/estados.ts'
import { takeStep } from '../eventos/evento.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import type { LockedGuia, LockedGuiaDeps, LockedGuiaWriter } from '../records/lockedGuia.ts'
import { decisionStep, returnStep } from './consequences.ts'

// Decisions about the parcel of a locked guide, by a person or by the merchant's policy.

/** Person or rule that takes the decision. */
export interface Decider {
  por: QuienResuelve
  /** Code of the author, stored with the events; null if the merchant's policy decides. */
  autor: string | null
  /** Reason for the decision, shown in its event. */
  descripcion?: string | undefined
}

/** Another delivery attempt, as the request describes it. */
export interface RequestedIntento {
  /** Day of the attempt. Undefined: the first possible day. */
  fecha?: Dia | undefined
  franja?: Franja | undefined
  /** Days on which the attempt must not be; undefined: the person who decides may choose any day. */
  restDays?: RestDays | undefined
  /** Writes the changes of the guide that the attempt needs, and returns the guide. */
  changeGuia: () => Promise<GuiaRow>
}

export type DecisionDeps = LockedGuiaDeps & { settings: Pick<ServiceSettings, 'timeZone' | 'restDays'> }

/**
 * Decides on another delivery attempt for a locked guide, in the lock's transaction.
 * @returns the guide's row afterwards
 * @throws Problema 409 `decision_tomada` or `decision_no_admitida`; 422; problems that `changeGuia` throws
 */
export async function retryLockedGuia(
  { settings }: Pick<DecisionDeps, 'settings'>,
  writer: LockedGuiaWriter,
  { por, autor, descripcion }: Decider,
  lockedGuia: LockedGuia,
  { fecha, franja, restDays, changeGuia }: RequestedIntento,
): Promise<GuiaRow> {
  const now = writer.clock()
  const zone = timeZoneOf(lockedGuia, settings.timeZone)
  const openDecision = requireRetryable(lockedGuia)
  const day = requireDay(offeredDaysOf(openDecision.fecha_desde, dayIn(now, zone)), fecha, restDays)
  requireWindow(franja)
  const changedGuia = await changeGuia()
  const decision = takeDecision(openDecision, { accion: 'reintentar', por, fecha: day, franja: franja ?? null })
  const commonFields = { ocurrido_en: now, registrado_en: now, autor, descripcion: descripcion ?? null }
  return record(writer, changedGuia, decisionStep('guia.decision_tomada', decision, commonFields))
}

/** States in which no courier is on the way with the parcel, so that its return can begin at once. */
const RESTING_STATES: readonly Estado[] = ['en_bodega', 'intento_fallido']

/**
 * Decides that the parcel of a locked guide returns to the sender, in the lock's transaction.
 * @returns the guide's row afterwards
 * @throws Problema 409 `decision_tomada` or `transicion_invalida`
 */
export async function returnLockedGuia(
  writer: LockedGuiaWriter,
  { por, autor, descripcion }: Decider,
  lockedGuia: GuiaRow,
): Promise<GuiaRow> {
  if (lockedGuia.estado === 'en_devolucion') return lockedGuia
  requireReturnable(lockedGuia)
  requireNotTaken(lockedGuia)
  const now = writer.clock()
  const commonFields = { ocurrido_en: now, registrado_en: now, autor }
  const decision = takeDecision(lockedGuia.decision, { accion: 'devolver', por })
  const step = decisionStep('guia.decision_tomada', decision, { ...commonFields, descripcion: descripcion ?? null })
  const decidedGuia = await record(writer, lockedGuia, step)
  return RESTING_STATES.includes(lockedGuia.estado)
    ? record(writer, decidedGuia, returnStep(decision.valor, commonFields))
    : decidedGuia
}

/** Writes an event of a locked guide. */
const record = async ({ query, notifyJobs }: LockedGuiaWriter, guia: GuiaRow, step: Parameters<typeof takeStep>[2]) =>
  (await takeStep({ db: { query }, notifyJobs }, guia, step))!.guia

/**
 * Returns the open decision of a guide.
 * @throws Problema 409 if no decision allows another attempt
 */
function requireRetryable(lockedGuia: LockedGuia): Decision {
  requireNotTaken(lockedGuia)
  const { estado, decision: openDecision, intentos } = lockedGuia
  if (isAwaitingDecision(openDecision) && openDecision.opciones.includes('reintentar')) return openDecision
  const canReturn = nextStates(estado).includes('en_devolucion')
  const mensaje = isAwaitingDecision(openDecision)
    ? `Ya se hicieron ${intentos} intentos, los que admite la cuenta. Pida la devolución, o hable con el servicio de mensajería.`
    : `La guía está en ${estado}${noIntentoRemedy(estado, canReturn)}`
  throw new Problema('decision_no_admitida', mensaje, { estado, opciones: canReturn ? ['devolver'] : [] })
}

/** Returns the end of an error message: why the guide has no failed attempt to repeat, and what the user can do. */
function noIntentoRemedy(estado: Estado, canReturn: boolean): string {
  if (isFinalState(estado)) return ', que es un estado final: no hay nada que decidir.'
  if (estado === 'en_devolucion') return ': el paquete ya vuelve, y no se lleva otra vez.'
  const now = canReturn ? '; ahora puede pedir la devolución' : ''
  return ` y no hay un intento fallido que repetir. Se puede reintentar después de uno${now}.`
}

const DECIDED_BY: Readonly<Record<QuienResuelve, string>> = {
  comercio: 'El comercio',
  operador: 'El servicio de mensajería',
  destinatario: 'El destinatario',
  politica: 'La política de la cuenta',
}

/**
 * Requires that no decision waits to be carried out.
 * @throws Problema 409 `decision_tomada` if there is such a decision
 */
export function requireNotTaken({ estado, decision }: GuiaRow): void {
  if (!isTaken(decision)) return
  const { accion, fecha, por } = decision
  const decidedText = `${DECIDED_BY[por!]} ya decidió: ${accion}${fecha ? ` el ${fecha}` : ''}. Vale la primera decisión`
  const correctionHint =
    accion === 'reintentar' && admitsCorreccion(estado) ? 'Los datos de la entrega se corrigen con PATCH; l' : 'L'
  const changers = por === 'destinatario' ? 'cambian quien recibe, si tiene su enlace, y' : 'cambia'
  const mensaje = `${decidedText}. ${correctionHint}a decisión solo la ${changers} el servicio de mensajería.`
  throw new Problema('decision_tomada', mensaje, { estado, decision: presentDecision(decision)! })
}

/**
 * Requires that the parcel can be returned.
 * @throws Problema 409 `transicion_invalida` if no courier has collected it yet, or if it has arrived
 */
function requireReturnable({ estado }: GuiaRow): void {
  if (nextStates(estado).includes('en_devolucion')) return
  const mensaje = isFinalState(estado)
    ? `La guía está en ${estado}, que es un estado final: no hay nada que devolver.`
    : `La guía está en ${estado}: nadie tiene el paquete, así que no se devuelve: se cancela, con cancelar.`
  throw new Problema('transicion_invalida', mensaje, { estado, transiciones: [] })
}

/**
 * Returns the day of the attempt.
 * @throws Problema 422 if it is too early or too late, or nothing is delivered on it
 */
function requireDay(days: OfferedDays, requestedDay: Dia | undefined, restDays: RestDays | undefined): Dia {
  const offeredDays = daysOf(days, restDays)
  const day = requestedDay ?? offeredDays[0]!
  if (day < days.desde || day > days.hasta) throw dayOutOfRange(days)
  if (offeredDays.includes(day)) return day
  const other = offeredDays.find((offeredDay) => offeredDay > day) ?? offeredDays.at(-1)!
  const mensaje = `ese día no se reparte; elija otro, por ejemplo ${other}`
  throw problemOfFaults('validacion', [{ campo: '/fecha', codigo: 'fuera_de_rango', mensaje }])
}

/**
 * Requires that the window of hours ends after it begins.
 * @throws Problema 422
 */
function requireWindow(franja: Franja | undefined): void {
  if (franja === undefined || franja.desde < franja.hasta) return
  const mensaje = `debe ser después de desde (${franja.desde})`
  throw problemOfFaults('validacion', [{ campo: '/franja/hasta', codigo: 'fuera_de_rango', mensaje }])
}
