import type { Db } from '../../data/db.ts'
import type { Decision, Dia } from '../../generated/contract/types/index.ts'
import { dayIn } from '../../platform/time/day.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import { readIntentosPolicy } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import {
  ASKED_OTHER_DAY,
  afterEstado,
  type DecisionDeGuia,
  motivoOf,
  openDecision,
  returnsAfter,
  takeDay,
} from '../estados/decision.ts'
import type { GuiaStep, StepWithConsequences } from '../eventos/evento.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { askRecipient, type QuestionDeps } from './ask.ts'

/** Returns the event that reports a decision. */
export const decisionStep = (
  tipo: 'guia.decision_pendiente' | 'guia.decision_tomada',
  decision: DecisionDeGuia,
  commonFields: Pick<GuiaStep, 'ocurrido_en' | 'registrado_en' | 'autor' | 'descripcion'>,
): GuiaStep => ({ ...commonFields, tipo, decision, datos: { decision: decision.valor } })

/**
 * Returns the event that begins a return that was decided. Its time is the time of registration, even after a late
 * scan. The courier may have delivered the parcel before hearing of the decision, and that delivery must still be
 * applied.
 */
export const returnStep = (
  lockedGuia: Decision,
  commonFields: Pick<GuiaStep, 'registrado_en' | 'autor' | 'repartidor'>,
): GuiaStep => ({
  ...commonFields,
  ocurrido_en: commonFields.registrado_en,
  tipo: 'guia.en_devolucion',
  estado: 'en_devolucion',
  motivo: motivoOf(lockedGuia),
  decision: { valor: { ...lockedGuia, estado: 'aplicada' }, expiry: null },
})

/**
 * Adds to an event its effects on the decision about the parcel, all in one transaction. A failed attempt opens a
 * decision. If the recipient told the courier a day at the door, that day is the decision. Otherwise the recipient gets
 * a message, if the merchant wants so. A state that carries the decision out, or makes it unnecessary, closes it. If a
 * return was decided, it begins right after a scan.
 * @param requestedDay day that the recipient asked for at the door
 * @throws Problema 422 if that day is too late
 */
export async function withConsequences(
  { db, settings, ...deps }: { db: Db } & Pick<Deps, 'settings'> & QuestionDeps,
  guia: GuiaRow,
  step: GuiaStep,
  requestedDay?: Dia,
): Promise<StepWithConsequences> {
  const { estado, ocurrido_en, registrado_en, autor = null, repartidor } = step
  if (estado === undefined) return step
  const { decision } = guia
  const commonFields = { ocurrido_en, registrado_en, autor }
  if (decision && returnsAfter(decision, estado))
    return { ...step, followUps: [returnStep(decision, { ...commonFields, repartidor })] }
  if (estado !== 'intento_fallido') return { ...step, decision: afterEstado(decision, estado) }
  const intentos = step.intentos ?? guia.intentos
  const policy = await readIntentosPolicy(db, guia.comercio_id)
  const zone = timeZoneOf(guia, settings.timeZone)
  const abierta = openDecision(policy, { intentos, ocurrido_en, registrado_en }, zone)
  const lockedGuia =
    requestedDay === undefined ? undefined : takeDay(abierta.valor, requestedDay, dayIn(registrado_en, zone))
  if (lockedGuia) {
    const pending = decisionStep('guia.decision_pendiente', abierta, commonFields)
    const decidedFields = { ...commonFields, ocurrido_en: registrado_en, descripcion: ASKED_OTHER_DAY }
    return { ...step, followUps: [pending, decisionStep('guia.decision_tomada', lockedGuia, decidedFields)] }
  }
  const descripcion =
    requestedDay === undefined ? null : `El destinatario pidió el ${requestedDay}, y ya no quedan intentos`
  const pending = decisionStep('guia.decision_pendiente', abierta, { ...commonFields, descripcion })
  return { ...step, followUps: [{ ...pending, write: askRecipient(deps, policy, guia, abierta, registrado_en) }] }
}
