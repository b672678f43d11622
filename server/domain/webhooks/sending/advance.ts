import { statement } from '../../../data/db.ts'
import { runInEachPart } from '../../../data/partQueries.ts'
import type { JobDeps } from '../../deps.ts'

/** Waiting deliveries, with the time from which each delivery waits: its latest attempt or its creation. */
const WAITING_AVISOS = `select d.comercio_id, d.modo, d.webhook, d.guia_id, d.secuencia, coalesce(i.iniciado_en, d.creado_en) as puesta_en
     from webhook_aviso d left join lateral (
       select iniciado_en from webhook_intento i where i.comercio_id = d.comercio_id and i.modo = d.modo
         and i.webhook = d.webhook and i.guia_id = d.guia_id and i.secuencia = d.secuencia order by i.numero desc limit 1) i on true
     where d.estado = 'pendiente' and d.proximo_en > :now`

const HAS_DATED_AHEAD = statement<{ now: Date }>(
  'avisos.hasDatedAhead',
  'part',
  `select from (${WAITING_AVISOS}) p where p.puesta_en > :now limit 1`,
)

/**
 * Corrects due times after the clock has stepped back. A delivery is corrected if its latest attempt (or, before the
 * first attempt, its creation) is dated in the future. The delivery then waits from now for as long as it had to wait
 * from that date. Deliveries that were postponed before the clock went ahead keep their due time.
 */
const BRING_FORWARD = statement<{ now: Date }>(
  'avisos.bringForward',
  'part',
  `update webhook_aviso e set proximo_en = :now::timestamptz + greatest(interval '0', e.proximo_en - p.puesta_en)
   from (
     ${WAITING_AVISOS}
   ) p
   where p.puesta_en > :now and e.comercio_id = p.comercio_id and e.modo = p.modo and e.webhook = p.webhook
     and e.guia_id = p.guia_id and e.secuencia = p.secuencia and e.estado = 'pendiente' and e.proximo_en > :now`,
)

/** Brings forward the deliveries that were postponed while the clock was ahead. */
export const bringAvisosForward = ({ db, clock }: Pick<JobDeps, 'db' | 'clock'>) =>
  runInEachPart(db, async ({ query }) => {
    // An attempt made while the first statement waits for a connection also looks dated in the future. Only dates of a
    // clock that was ahead are later than the second reading of the clock, after that statement.
    const datedAheadRows = await query(HAS_DATED_AHEAD, { now: clock() })
    if (datedAheadRows.length > 0) await query(BRING_FORWARD, { now: clock() })
  })
