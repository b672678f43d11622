import { statement } from '../../data/db.ts'
import { queryByComercio } from '../../data/partQueries.ts'
import type { CanalDeMensaje, Estado } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { tokenHash } from '../../platform/codes/token.ts'
import { tokenOf } from '../ubicacion/ubicacion.ts'
import { linkOf, noteLinkOwners } from './links.ts'
import {
  countOfOtherParts,
  MAX_PER_TELEFONO,
  QUEUE_POSITION,
  QUOTA_REACHED_TEXT,
  SENT_BY_TELEFONO,
} from './phoneQuota.ts'
import {
  type ExtraChange,
  hasLink,
  IS_LATEST_REQUEST,
  isNeededSql,
  linkExpiresAtSql,
  withSolicitud,
} from './requestSql.ts'
import type { MensajeDeps, MensajeKey, MensajeRow } from './row.ts'

const POSTPONED: ExtraChange = (extra) =>
  withSolicitud(
    extra,
    `jsonb_build_object('estado', m.estado) || case when m.estado = 'pendiente'
         then jsonb_build_object('motivo', :motivo::text) else '{}' end`,
  )

/**
 * Claims due messages for two minutes. A message beyond the quota of its telephone is postponed instead: by an hour for
 * each five requests before it, and by a day for each twenty.
 */
const CLAIM_MENSAJES = statement<
  {
    claimed: string
    /**
     * Counts (`phoneQuota.ts`), as JSON, of messages to the same telephones that merchants in other parts of
     * the data have.
     */
    of_others: string
    now: Date
    motivo: string
    final_states: readonly Estado[]
    canal: CanalDeMensaje
    kid: string
    vence_en: Date
  },
  Omit<ClaimedMensaje, 'token'>
>(
  'mensajes.claimMensajes',
  'part',
  `with x as (
     select * from json_to_recordset(:claimed::json) as x(id uuid, huella text)
   ), q as (
     select m.id, m.telefono, m.modo, m.tipo, m.creado_en, x.huella, ${isNeededSql()} as hace_falta
     from x join mensaje m on m.id = x.id
     join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
     where m.estado = 'pendiente' and m.canal = :canal and m.proximo_en <= :now::timestamptz for update of m skip locked
   ), t as materialized (
     ${SENT_BY_TELEFONO}
   ), o as (
     select id, sum(antes) as antes, sum(in_hour) as in_hour, sum(in_day) as in_day
     from json_to_recordset(:of_others::json) as o(id uuid, antes int, in_hour int, in_day int) group by id
   ), s as (
     select q.*, ${QUEUE_POSITION} + coalesce(o.antes, 0) as lugar, coalesce(t.in_hour, 0) + coalesce(o.in_hour, 0) as in_hour,
       coalesce(t.in_day, 0) + coalesce(o.in_day, 0) as in_day
     from q left join t using (telefono, modo) left join o on o.id = q.id
   ), c as (
     select *, ${hasLink('tipo')} and hace_falta
       and (in_hour + lugar > ${MAX_PER_TELEFONO.hora} or in_day + lugar > ${MAX_PER_TELEFONO.dia}) as sobra from s
   ), h as materialized (
     select *, :now::timestamptz + case when sobra then random() * interval '20 minutes'
         + ((in_day + lugar) / ${MAX_PER_TELEFONO.hora}) * interval '1 hour'
         + ((in_day + lugar) / ${MAX_PER_TELEFONO.dia}) * interval '20 hours'
         else interval '2 minutes' end as hasta from c
   ), m as (
     update mensaje set
       estado = case when q.sobra then 'pendiente' when q.hace_falta then 'enviando' else 'descartado' end,
       abierta = q.hace_falta and mensaje.tipo <> 'solicitud_decision', intentos = intentos + case when q.sobra then 0 else 1 end, kid = :kid,
       proximo_en = q.hasta
     from h q where mensaje.id = q.id returning mensaje.*, q.huella
   ), l as (
     insert into enlace_ubicacion (huella, comercio_id, modo, guia_id, numero, vence_en)
     select decode(huella, 'hex'), comercio_id, modo, guia_id, m.numero, ${linkExpiresAtSql('m')}
     from m where estado = 'enviando' and ${hasLink('tipo')} on conflict (huella) do nothing
   ), n as (
     update guia set ubicacion_extra = ${POSTPONED('guia.ubicacion_extra')}
     from m where m.estado <> 'enviando' and m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id
       and guia.modo = m.modo and guia.id = m.guia_id and ${IS_LATEST_REQUEST}
   )
   select m.*, g.departamento, g.municipio, c.nombre as comercio from m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   join comercio c on c.id = m.comercio_id where m.estado = 'enviando'`,
)

/** Message that this process has claimed for sending. Its link already works, and no other process sends it. */
export type ClaimedMensaje = MensajeRow & { departamento: string; municipio: string; comercio: string; token: string }

/**
 * Claims the due messages among these for two minutes. Messages that no guide needs any more are dropped; messages over
 * the quota of their telephone are postponed.
 */
export async function claimMensajes(
  deps: MensajeDeps,
  canal: CanalDeMensaje,
  mensajes: readonly MensajeKey[],
): Promise<ClaimedMensaje[]> {
  const { db, clock, secretos } = deps
  const now = clock()
  const tokens = new Map(mensajes.map(({ id }) => [id, tokenOf(secretos, id)!.token]))
  const rows = mensajes.map(({ id, comercio_id }) => ({
    id,
    comercio_id,
    huella: tokenHash(tokens.get(id)!).toString('hex'),
  }))
  await noteLinkOwners(db, rows)
  const claimed = await queryByComercio(db, rows, async (shardDb, rows) => {
    const countsOfOthers = await countOfOtherParts({ db, shardDb, now, canal }, rows)
    return shardDb.query(CLAIM_MENSAJES, {
      claimed: JSON.stringify(rows),
      of_others: JSON.stringify(countsOfOthers),
      now,
      final_states: STATE_MACHINE.finales,
      canal,
      motivo: QUOTA_REACHED_TEXT,
      ...linkOf(deps, now),
    })
  })
  return claimed.map((row) => ({ ...row, token: tokens.get(row.id)! }))
}
