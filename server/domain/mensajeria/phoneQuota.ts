import { type Db, statement } from '../../data/db.ts'
import { otherParts } from '../../data/partQueries.ts'
import type { CanalDeMensaje } from '../../generated/contract/types/index.ts'
import { hasLink } from './requestSql.ts'
import { idsOf, type MensajeKey, type MensajeRow } from './row.ts'

/**
 * Maximum requests that a telephone gets from all merchants together, per hour and per day. A recipient who waits for
 * more parcels is asked about the first parcels now and about the others over the day. The limit also keeps merchants
 * from flooding a stranger's phone.
 */
export const MAX_PER_TELEFONO = { hora: 5, dia: 20 }
export const QUOTA_REACHED_TEXT = `Ese teléfono ya recibió ${MAX_PER_TELEFONO.hora} solicitudes en una hora o ${MAX_PER_TELEFONO.dia} en un día, de todos los comercios. Saldrá más tarde, por sí sola.`

/**
 * SQL that counts the requests sent within the last hour and day to each telephone of `q`, of all types with a link. Each
 * telephone is counted once, however many rows of `q` share it.
 */
export const SENT_BY_TELEFONO = `select o.telefono, o.modo, count(*) as in_day,
       count(*) filter (where coalesce(o.enviado_en, o.proximo_en) > :now::timestamptz - interval '1 hour') as in_hour
     from mensaje o where o.telefono in (select telefono from q)
       and ${hasLink('o.tipo')} and o.estado in ('enviando', 'dudoso', 'enviado', 'entregado', 'leido')
       and coalesce(o.enviado_en, o.proximo_en) > :now::timestamptz - interval '1 day'
     group by o.telefono, o.modo`

/**
 * SQL of the position of a message of `q` among the requests that are due for its telephone. Position plus sent
 * requests stays the same while others are sent concurrently, so no lock on the telephone is needed. The count stops at
 * 500: any later message is postponed for weeks anyway.
 */
export const QUEUE_POSITION = `(select count(*) from (
       select from mensaje o where o.telefono = q.telefono and o.modo = q.modo and ${hasLink('o.tipo')}
         and o.estado = 'pendiente' and o.canal = :canal and o.proximo_en <= :now
         and (o.creado_en, o.id) <= (q.creado_en, q.id) limit 500) antes)`

export interface TelefonoCount {
  id: string
  in_hour: number
  in_day: number
  antes: number
}

/**
 * Counts what merchants of another part (shard) have for the telephones of some messages: requests sent, and requests
 * due before each message. Both counts use one snapshot, so that a request sent meanwhile counts once.
 */
const COUNT_OF_OTHERS = statement<{ mensajes: string; now: Date; canal: CanalDeMensaje }, TelefonoCount>(
  'mensajes.countOfOthers',
  'part',
  `with q as materialized (
     select * from json_to_recordset(:mensajes::json) as q(id uuid, telefono text, modo text, creado_en timestamptz)
   ), t as materialized (
     ${SENT_BY_TELEFONO}
   )
   select q.id, coalesce(in_hour, 0)::int as in_hour, coalesce(in_day, 0)::int as in_day, ${QUEUE_POSITION}::int as antes
   from q left join t using (telefono, modo)`,
)
const READ_TELEFONOS = statement<
  { ids: readonly string[] },
  Pick<MensajeRow, 'id' | 'telefono' | 'modo'> & { creado_en: string }
>(
  'mensajes.readTelefonos',
  'part',
  'select id, telefono, modo, creado_en::text as creado_en from mensaje where id = any(:ids::uuid[])',
)

/** Counts, for messages of one part (shard), what merchants of all other parts have for the same telephones. */
export async function countOfOtherParts(
  { db, shardDb, now, canal }: { db: Db; shardDb: Db; now: Date; canal: CanalDeMensaje },
  mensajes: readonly MensajeKey[],
): Promise<TelefonoCount[]> {
  const otherDbs = otherParts(db, shardDb)
  if (otherDbs.length === 0) return []
  const mensajes_ = JSON.stringify(await shardDb.query(READ_TELEFONOS, { ids: idsOf(mensajes) }))
  const counts = await Promise.all(
    otherDbs.map(({ query }) => query(COUNT_OF_OTHERS, { mensajes: mensajes_, now, canal })),
  )
  return counts.flat()
}
