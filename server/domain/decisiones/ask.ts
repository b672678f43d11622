import { type Query, statement } from '../../data/db.ts'
import type { PoliticaDeIntentos } from '../../generated/contract/types/index.ts'
import type { Deps } from '../deps.ts'
import type { DecisionDeGuia } from '../estados/decision.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { dueAtCreationSql } from '../records/locationRequest.ts'

/** Dependencies of the message that asks a recipient to decide. */
export type QuestionDeps = Pick<Deps, 'newId' | 'channelOf'>

/**
 * Queues the message that asks the recipient to decide. Writes nothing if another message takes the same number
 * (`numero`) at the same time.
 */
const ASK = statement<
  ReturnType<typeof guiaKeyOf> & {
    id: string
    canal: string
    now: Date
    vence_en: Date
    /** Sequence of the event that opened the decision. */
    secuencia: number
  }
>(
  'decisiones.ask',
  'merchant',
  `insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en,
     vence_en, abierta, decision_secuencia)
   select comercio_id, modo, id, 1 + (select coalesce(max(numero), 0) from mensaje m where m.comercio_id = g.comercio_id
       and m.modo = g.modo and m.guia_id = g.id), :id::uuid, guia, :canal::text, 'solicitud_decision', telefono, 'pendiente',
     ${dueAtCreationSql('modo', ':canal', ':now::timestamptz')}, :now, :vence_en::timestamptz, false, :secuencia::int
   from guia g where comercio_id = :comercio_id and modo = :modo and id = :guia_id
   on conflict (comercio_id, modo, guia_id, numero) do nothing returning 1`,
)

/**
 * Maximum numbers that are tried for the message. Only answers to texts of the recipient compete for the same number.
 */
const MAX_NUMBERS = 10

/**
 * Returns the function that queues the message about an open decision, in the transaction of the event that opens it.
 * Undefined if no message is sent: the merchant does not want it, the recipient's telephone was erased, or the policy
 * decides at once.
 */
export function askRecipient(
  { newId, channelOf }: QuestionDeps,
  { destinatario_decide }: PoliticaDeIntentos,
  { modo, telefono }: GuiaRow,
  { valor }: DecisionDeGuia,
  now: Date,
): ((query: Query, guia: GuiaRow) => Promise<void>) | undefined {
  if (!destinatario_decide || telefono === null || valor.vence_en === null) return undefined
  const vence_en = new Date(valor.vence_en)
  if (vence_en <= now) return undefined
  const { id } = newId()
  return async (query, guia) => {
    const mensaje = { ...guiaKeyOf(guia), id, canal: channelOf(modo), now, vence_en, secuencia: guia.secuencia }
    for (let intento = 0; intento < MAX_NUMBERS; intento++) if ((await query(ASK, mensaje)).length > 0) return
    throw new Error('no number was free for the message about a decision')
  }
}
