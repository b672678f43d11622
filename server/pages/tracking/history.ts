import { choiceOf, type RecipientChoice } from '../../domain/decisiones/decidir.ts'
import { EVENT_WORDS } from '../../domain/estados/estados.ts'
import type { QuienResuelve } from '../../generated/contract/types/index.ts'
import { dayInWords } from '../../platform/time/day.ts'
import { reasonOf } from './estados.ts'
import type { DecisionEvento, ShownShipment } from './shipment.ts'

/** Returns an event of the history in words. An event of a decision says what was decided, and by which side. */
export function eventWords(evento: ShownShipment['eventos'][number]): string {
  const { tipo, decision } = evento
  if (decision) return decisionWords(decision)
  const reason = reasonOf(evento)
  const words = EVENT_WORDS[tipo] ?? tipo
  return reason ? `${words}: ${reason}` : words
}

/** Beginning of the sentence for each choice of the recipient; the day follows. */
const REQUESTED: Readonly<Record<Exclude<RecipientChoice, 'rechazo'>, string>> = {
  otro_dia: 'Pidió que lo llevemos',
  otro_lugar: 'Pidió que lo llevemos a otro lugar,',
  vecino: 'Pidió que lo dejemos con un vecino,',
}

/** Sides that decide besides the recipient, and what they decide. */
const DECIDED_BY: Readonly<Record<Exclude<QuienResuelve, 'destinatario'>, string>> = {
  comercio: 'La tienda pidió',
  operador: 'El servicio de mensajería decidió',
  politica: 'Se acabaron los intentos o el plazo:',
}

function decisionWords({ accion, por, fecha, requested }: DecisionEvento): string {
  const day = fecha && `el ${dayInWords(fecha)}`
  if (por !== 'destinatario') {
    if (por === 'politica') return `${DECIDED_BY.politica} vuelve a la tienda`
    return accion === 'devolver' ? `${DECIDED_BY[por]} que vuelva` : `${DECIDED_BY[por]} que se lo lleven ${day}`
  }
  if (accion === 'devolver') return 'Dijo que no lo quiere'
  const choice = choiceOf(requested)
  return `${REQUESTED[choice === null || choice === 'rechazo' ? 'otro_dia' : choice]} ${day}`
}
