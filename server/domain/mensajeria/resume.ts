import { inTransaction, statement } from '../../data/db.ts'
import { queryByComercio, queryReachableParts } from '../../data/partQueries.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { HOUR_MS } from '../../platform/time/units.ts'
import type { JobDeps } from '../deps.ts'
import { isUnsendableSql } from '../records/locationRequest.ts'
import { type ExtraChange, hasLink, IS_LATEST_REQUEST, isNeededSql, withSolicitud } from './requestSql.ts'

const MAX_GUIAS_PER_TRANSACTION = 200

const TOO_LATE_TEXT =
  'El servicio no tenía mensajería cuando se creó la guía y el mensaje ya no sale. Pídalo otra vez, o confirme usted el lugar.'

/** SQL condition that the request `m` waits for messaging. */
const wasNeverSentSql = (m: string) => `${isUnsendableSql(`${m}.modo`, `${m}.canal`)} and ${m}.estado = 'pendiente'`

const FIND_UNSENT = statement<{ count: number }, { comercio_id: string; modo: string; guia_id: string }>(
  'mensajes.findUnsent',
  'part',
  `select distinct comercio_id, modo, guia_id from mensaje m where ${wasNeverSentSql('m')} limit :count`,
)

const GUIAS = `select * from json_to_recordset(:guias::json) as x(comercio_id uuid, modo text, guia_id uuid)`

/**
 * Locks the guides in a fixed order, before their messages. `takeStep`, which writes an event, takes its locks in the
 * same order.
 */
const LOCK_GUIAS = statement<{ guias: string }>(
  'mensajes.lockGuias',
  'part',
  `select g.id from guia g where (comercio_id, modo, id) in (select comercio_id, modo, guia_id from (${GUIAS}) x)
     order by comercio_id, modo, id for update`,
)

/** SQL of the request as the guide's row stores it: pending on the other channel, or dropped. */
const RESUMED: ExtraChange = (extra) =>
  withSolicitud(extra, `jsonb_build_object('canal', m.canal, 'estado', m.estado, 'motivo', m.motivo)`)

/**
 * Hands the newest request of each guide and type to WhatsApp and drops the others, so that a recipient gets one
 * message. Drops requests for a location if the guide has ended, has its location, or is older than the validity of a
 * link. Drops questions about decisions that are no longer open. A handed-over message gets `:now` as its creation
 * instant, from which its retries count.
 */
const RESUME = statement<
  { guias: string; now: Date; desde: Date; final_states: readonly Estado[]; motivo: string },
  { estado: string }
>(
  'mensajes.resume',
  'part',
  `with x as (
     ${GUIAS}
   ), q as (
     select m.comercio_id, m.modo, m.guia_id, m.numero, ${IS_LATEST_REQUEST} as ultima, ${isNeededSql()} as hace_falta,
       ${IS_LATEST_REQUEST} and ${isNeededSql()} and ${hasLink('m.tipo')} and m.telefono is not null
         and (m.tipo = 'solicitud_decision' or g.creado_en > :desde::timestamptz) as sale
     from x join mensaje m on m.comercio_id = x.comercio_id and m.modo = x.modo and m.guia_id = x.guia_id
     join guia g on g.comercio_id = x.comercio_id and g.modo = x.modo and g.id = x.guia_id
     where ${wasNeverSentSql('m')}
   ), m as (
     update mensaje set canal = case when q.sale then 'whatsapp' else canal end,
       estado = case when q.sale then 'pendiente' else 'descartado' end,
       proximo_en = :now::timestamptz, creado_en = case when q.sale then :now else creado_en end,
       abierta = q.sale and tipo <> 'solicitud_decision',
       motivo = case when q.hace_falta and not q.sale then :motivo::text end
     from q where mensaje.comercio_id = q.comercio_id and mensaje.modo = q.modo and mensaje.guia_id = q.guia_id
       and mensaje.numero = q.numero and ${wasNeverSentSql('mensaje')}
     returning mensaje.*, q.ultima
   ), g as (
     update guia set ubicacion_extra = ${RESUMED('guia.ubicacion_extra')}
     from m where m.ultima and m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id and guia.modo = m.modo
       and guia.id = m.guia_id
   )
   select estado from m`,
)

/**
 * Sends the live requests that wait for messaging, once the service has it. Each batch is one transaction that locks
 * the guides, so any number of processes may run it. If a process is killed, the next process continues.
 * @returns true if more may remain
 */
export async function resumeUnsent({
  db,
  clock,
  settings,
  log,
  notifyJobs,
  whatsappClient,
}: Pick<JobDeps, 'db' | 'clock' | 'settings' | 'log' | 'notifyJobs' | 'whatsappClient'>): Promise<boolean> {
  if (!whatsappClient) return false
  const guias = await queryReachableParts(db, ({ query }) => query(FIND_UNSENT, { count: MAX_GUIAS_PER_TRANSACTION }))
  if (guias.length === 0) return false
  const now = clock()
  const desde = new Date(now.getTime() - settings.requestHours * HOUR_MS)
  const changedRows = await queryByComercio(db, guias, (shardDb, shardGuias) =>
    inTransaction(shardDb, async (query) => {
      const guiasJson = JSON.stringify(shardGuias)
      await query(LOCK_GUIAS, { guias: guiasJson })
      const final_states = STATE_MACHINE.finales
      return query(RESUME, { guias: guiasJson, now, desde, final_states, motivo: TOO_LATE_TEXT })
    }),
  )
  const resumedCount = changedRows.filter(({ estado }) => estado === 'pendiente').length
  log.info({ resumed: resumedCount, dropped: changedRows.length - resumedCount }, 'held messages')
  if (resumedCount > 0) notifyJobs()
  return guias.length >= MAX_GUIAS_PER_TRANSACTION
}
