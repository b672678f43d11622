// Decision about a parcel after a failed attempt: which events open and close it. Pure functions.

import type { Decision, Dia, Estado, Motivo, PoliticaDeIntentos } from '../../generated/contract/types/index.ts'
import { type Problema, problemOfFaults } from '../../platform/errors.ts'
import { addDays, dayIn } from '../../platform/time/day.ts'
import { isRestDay, type RestDays } from '../../platform/time/restDays.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import { isFinalState } from './estados.ts'

/**
 * Returns a stored decision with its members in a fixed order. `jsonb` has its own order, and webhook bodies must stay
 * identical.
 */
export const presentDecision = (storedDecision: Decision | null): Decision | null =>
  storedDecision && {
    estado: storedDecision.estado,
    opciones: storedDecision.opciones,
    fecha_desde: storedDecision.fecha_desde,
    vence_en: storedDecision.vence_en,
    accion: storedDecision.accion,
    fecha: storedDecision.fecha,
    franja: storedDecision.franja && { desde: storedDecision.franja.desde, hasta: storedDecision.franja.hasta },
    por: storedDecision.por,
  }

/**
 * New value of a guide's decision, and the time at which the merchant's policy decides; null if the policy never does.
 */
export interface DecisionDeGuia {
  valor: Decision
  expiry: Date | null
}

/**
 * Returns the decision that a failed attempt opens. After the last allowed attempt, the policy decides at once if the
 * merchant's parcels return automatically.
 * @param intentos failed attempts so far, including this one
 * @param zone IANA time zone of the destination
 */
export function openDecision(
  { maximos, dias_entre, dias_para_decidir, al_vencer }: PoliticaDeIntentos,
  { intentos, ocurrido_en, registrado_en }: { intentos: number; ocurrido_en: Date; registrado_en: Date },
  zone: string,
): DecisionDeGuia {
  const hasAttemptsLeft = intentos < maximos
  const waitMs = hasAttemptsLeft || al_vencer === 'esperar' ? dias_para_decidir * DAY_MS : 0
  const expiresAt = new Date(registrado_en.getTime() + waitMs)
  return {
    valor: {
      estado: 'pendiente',
      opciones: hasAttemptsLeft ? ['reintentar', 'devolver'] : ['devolver'],
      fecha_desde: hasAttemptsLeft ? addDays(dayIn(ocurrido_en, zone), dias_entre) : null,
      vence_en: expiresAt.toISOString(),
      accion: null,
      fecha: null,
      franja: null,
      por: null,
    },
    expiry: al_vencer === 'devolver' ? expiresAt : null,
  }
}

/** Decision for a return that is requested while no decision is open. */
const WITHOUT_QUESTION: Decision = {
  estado: 'pendiente',
  opciones: ['devolver'],
  fecha_desde: null,
  vence_en: null,
  accion: null,
  fecha: null,
  franja: null,
  por: null,
}

/** Decision that was taken: the action, and who decided. */
export type TakenDecision = Pick<Decision, 'accion' | 'por'> & Partial<Pick<Decision, 'fecha' | 'franja'>>

/** Returns the value of a decision after it was taken. */
export const takeDecision = (openDecision: Decision | null, choice: TakenDecision): DecisionDeGuia => ({
  valor: { ...(isAwaitingDecision(openDecision) ? openDecision : WITHOUT_QUESTION), ...choice, estado: 'tomada' },
  expiry: null,
})

/** First and last day for another delivery attempt. */
export interface OfferedDays {
  desde: Dia
  hasta: Dia
}

/** Maximum number of days from today for another delivery attempt. */
const MAX_ATTEMPT_DELAY_DAYS = 30

/** Returns the days on which another delivery attempt is possible. */
export function offeredDaysOf(earliestDay: Dia | null, today: Dia): OfferedDays {
  const desde = earliestDay !== null && earliestDay > today ? earliestDay : today
  const until = addDays(today, MAX_ATTEMPT_DELAY_DAYS)
  return { desde, hasta: until < desde ? desde : until }
}

/** Returns the days of a range that are no rest days; all of them if the range has nothing else. */
export function daysOf({ desde, hasta }: OfferedDays, restDays: RestDays | undefined): Dia[] {
  const days: Dia[] = []
  for (let day = desde; day <= hasta; day = addDays(day, 1)) days.push(day)
  const offeredDays = restDays ? days.filter((day) => !isRestDay(restDays, day)) : days
  return offeredDays.length > 0 ? offeredDays : days
}

/** Makes the 422 for a day on which no attempt is possible. */
export const dayOutOfRange = ({ desde, hasta }: OfferedDays): Problema =>
  problemOfFaults('validacion', [
    { campo: '/fecha', codigo: 'fuera_de_rango', mensaje: `debe ser un día desde ${desde} hasta ${hasta}` },
  ])

/** Description of the event for a recipient who decides for another day. */
export const ASKED_OTHER_DAY = 'El destinatario pidió otro día'

/**
 * Returns the decision of a recipient who told the courier a day; undefined if no attempt is left. A day that is too
 * early becomes the first possible day, because reports may arrive late.
 * @throws Problema 422 if the day is too late
 */
export function takeDay(openDecision: Decision, requestedDay: Dia, today: Dia): DecisionDeGuia | undefined {
  const days = offeredDaysOf(openDecision.fecha_desde, today)
  if (requestedDay > days.hasta) throw dayOutOfRange(days)
  if (!openDecision.opciones.includes('reintentar')) return undefined
  const fecha = requestedDay < days.desde ? days.desde : requestedDay
  return takeDecision(openDecision, { accion: 'reintentar', por: 'destinatario', fecha, franja: null })
}

/** Returns true if the decision is open. */
export const isAwaitingDecision = (decision: Decision | null): decision is Decision => decision?.estado === 'pendiente'

/** Returns true if the decision was taken, but is not carried out yet. */
export const isTaken = (decision: Decision | null): decision is Decision => decision?.estado === 'tomada'

/** Action that each state carries out. */
const CARRIES_OUT: Readonly<Partial<Record<Estado, Decision['accion']>>> = {
  en_ruta: 'reintentar',
  en_devolucion: 'devolver',
}

/**
 * Returns the guide's decision after the guide enters a state; undefined if the decision stays as it is. A state that
 * carries out the decision marks it as applied. A final state that does not carry it out marks it as superseded.
 */
export function afterEstado(decision: Decision | null, estado: Estado): DecisionDeGuia | undefined {
  if (!isAwaitingDecision(decision) && !isTaken(decision)) return undefined
  const appliedAction = CARRIES_OUT[estado]
  // A courier who takes out a parcel that must return has not heard of the decision. The decision stays, and the return
  // follows the courier's scan.
  if (returnsAfter(decision, estado)) return undefined
  if (!appliedAction && !isFinalState(estado)) return undefined
  const isApplied = isTaken(decision) && decision.accion === appliedAction
  return { valor: { ...decision, estado: isApplied ? 'aplicada' : 'superada' }, expiry: null }
}

/** States in which a decided return does not begin: the parcel is lost, or already returns. */
const NEVER_RETURNS: readonly Estado[] = ['en_devolucion', 'extraviado']

/** Returns true if a decided return begins right after a scan with this state. */
export const returnsAfter = (decision: Decision | null, estado: Estado): boolean =>
  isTaken(decision) && decision.accion === 'devolver' && !NEVER_RETURNS.includes(estado) && !isFinalState(estado)

/** Returns the reason (`motivo`) of the event that starts a return, by who decided the return. */
export function motivoOf({ por, opciones }: Decision): Motivo {
  if (por === 'destinatario') return 'destinatario_rechaza'
  if (por === 'politica') return opciones.includes('reintentar') ? 'sin_decision' : 'intentos_agotados'
  return por === 'comercio' ? 'a_pedido_del_comercio' : 'otro'
}
