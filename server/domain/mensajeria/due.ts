import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { queryReachableParts, runInEachPart } from '../../data/partQueries.ts'
import type { CanalDeMensaje } from '../../generated/contract/types/index.ts'
import { isUnsendableSql } from '../records/locationRequest.ts'
import type { MensajeDeps, MensajeKey, MensajeRow } from './row.ts'

const PENDING = statement<
  Pick<MensajeRow, 'canal'> & { now: Date; count: number },
  MensajeKey & { mensaje: MensajeRow['id'] }
>(
  'mensajes.pending',
  'part',
  `select comercio_id, id as mensaje, md5(id::text || ':' || estado || proximo_en)::uuid as id from mensaje
   where estado in ('pendiente', 'enviando') and proximo_en <= :now and canal = :canal order by proximo_en limit :count`,
)

/**
 * Returns a function that reads a channel's due messages as jobs: pending messages, and messages in state `enviando`
 * whose lease ended because the sender died.
 */
export const readPendingMensajes =
  (canal: CanalDeMensaje) =>
  async ({ db, clock }: Pick<MensajeDeps, 'db' | 'clock'>, count: number): Promise<JobInsert[]> => {
    const rows = await queryReachableParts(db, ({ query }) => query(PENDING, { now: clock(), count, canal }))
    return rows.map(({ id, mensaje, comercio_id }) => ({ id, data: { mensaje, comercio_id } }))
  }

/**
 * Brings forward messages that were never sent and that were created in the future. Each message keeps the wait between
 * its creation and its due instant. A message that cannot be sent keeps waiting.
 */
const BRING_FORWARD = statement<{ now: Date }>(
  'mensajes.bringForward',
  'part',
  `update mensaje set proximo_en = :now::timestamptz + (proximo_en - creado_en)
   where estado = 'pendiente' and proximo_en > :now and creado_en > :now and intentos = 0
     and not ${isUnsendableSql('modo', 'canal')}`,
)

/** Brings forward messages that were scheduled before the clock was set back. */
export const bringMensajesForward = ({ db, clock }: Pick<MensajeDeps, 'db' | 'clock'>) =>
  runInEachPart(db, ({ query }) => query(BRING_FORWARD, { now: clock() }))
