import { statement } from '../../data/db.ts'
import { queryByComercio } from '../../data/partQueries.ts'
import type { CanalDeMensaje, Estado } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { tokenHash } from '../../platform/codes/token.ts'
import { currentTrace } from '../../platform/tracing.ts'
import { tokenOf } from '../ubicacion/ubicacion.ts'
import { linkOf, noteLinkOwners } from './links.ts'
import {
  announceChangeSql,
  type ExtraChange,
  hasLink,
  IS_LATEST_REQUEST,
  isNeededSql,
  isOfGuiaSql,
  linkExpiresAtSql,
  lockGuiasSql,
  type NewEntrega,
  withSolicitud,
} from './requestSql.ts'
import type { MensajeDeps, MensajeKey, MensajeRow } from './row.ts'
import { inTracesOf } from './traces.ts'

const DROPPED: ExtraChange = (extra) => withSolicitud(extra, `jsonb_build_object('estado', m.estado)`)
const SENT: ExtraChange = (extra) =>
  `case when ${IS_LATEST_REQUEST} then ${withSolicitud(
    extra,
    `jsonb_build_object('canal', m.canal, 'estado', 'enviado', 'motivo', null, 'enviado_en', :now::timestamptz, 'vence_en', m.vence_en)`,
  )} else ${extra} end`

/**
 * Marks messages as sent, each once: only a message in one of the states `:desde` changes. The same statement activates
 * the link, increments the guide's sequence, and writes the event and its webhook deliveries. A second message of the
 * same guide waits for another call. A message that its guide no longer needs is dropped, unless it was already sent.
 * If the telephone was erased, the provider's id is not stored, because WhatsApp makes that id from the telephone.
 */
const MARK_SENT = statement<
  {
    sent: string
    now: Date
    final_states: readonly Estado[]
    vence_en: Date
    kid: string
    desde: readonly MensajeRow['estado'][]
    canal: CanalDeMensaje
    traza: string | null
  },
  NewEntrega
>(
  'mensajes.markSent',
  'part',
  `with x as (
     select * from json_to_recordset(:sent::json) as x(id uuid, huella text, proveedor_id text)
   ), p as (
     ${lockGuiasSql('id in (select id from x) and estado = any(:desde::text[]) and canal = :canal')}
   ), q as (
     select distinct on (m.comercio_id, m.modo, m.guia_id) m.id as mensaje_id, x.huella, x.proveedor_id,
       ${isNeededSql('p')} as hace_falta
     from p join mensaje m on ${isOfGuiaSql('m')} join x on x.id = m.id
     where m.estado = any(:desde::text[]) and m.canal = :canal order by m.comercio_id, m.modo, m.guia_id, m.numero
   ), m as (
     update mensaje set
       estado = case when q.hace_falta or estado <> 'pendiente' then 'enviado' else 'descartado' end,
       enviado_en = case when q.hace_falta or estado <> 'pendiente' then :now::timestamptz end,
       vence_en = case when ${hasLink('tipo')} then ${linkExpiresAtSql('mensaje')} end, kid = :kid, codigo = null, motivo = null,
       abierta = q.hace_falta and tipo not in ('acuse', 'solicitud_decision'),
       proveedor_id = case when mensaje.telefono is not null then coalesce(q.proveedor_id, mensaje.proveedor_id) end
     from q where mensaje.id = q.mensaje_id and mensaje.estado = any(:desde) returning mensaje.*, q.huella, q.hace_falta
   ), l as (
     insert into enlace_ubicacion (huella, comercio_id, modo, guia_id, numero, vence_en)
     select decode(huella, 'hex'), comercio_id, modo, guia_id, m.numero, vence_en
     from m where estado = 'enviado' and ${hasLink('tipo')}
     on conflict (huella) do update set vence_en = excluded.vence_en
   ), n as (
     update guia set ubicacion_extra = ${DROPPED('guia.ubicacion_extra')}
     from m where not m.hace_falta and m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id
       and guia.modo = m.modo and guia.id = m.guia_id and ${IS_LATEST_REQUEST}
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = greatest(guia.actualizado_en, :now), ubicacion_estado = 'solicitada',
       ubicacion_extra = ${SENT('guia.ubicacion_extra')}
     from m where m.estado = 'enviado' and m.hace_falta and m.tipo = 'solicitud_ubicacion'
       and guia.comercio_id = m.comercio_id and guia.modo = m.modo and guia.id = m.guia_id
     returning guia.*
   ), ${announceChangeSql('ubicacion.solicitada')}`,
)

interface SentMensaje extends MensajeKey {
  proveedor_id?: string | null
}

/**
 * Records that a channel accepted these messages. Their links work from now on, and each guide gets an event.
 * @param desde states in which the messages may be: `pendiente` for a channel that accepts everything at once
 */
export async function markSent(
  deps: MensajeDeps,
  canal: CanalDeMensaje,
  desde: readonly MensajeRow['estado'][],
  mensajes: readonly SentMensaje[],
): Promise<void> {
  const { db, clock, secretos, notifyJobs } = deps
  const now = clock()
  const rows = mensajes.map(({ id, comercio_id, proveedor_id }) => {
    const { token } = tokenOf(secretos, id)!
    return { id, comercio_id, proveedor_id: proveedor_id ?? null, huella: tokenHash(token).toString('hex') }
  })
  await noteLinkOwners(db, rows)
  const entregas = await inTracesOf(db, 'ubicacion.solicitada', rows, (traceRows) =>
    queryByComercio(db, traceRows, ({ query }, rows) =>
      query(MARK_SENT, {
        sent: JSON.stringify(rows),
        now,
        final_states: STATE_MACHINE.finales,
        ...linkOf(deps, now),
        desde,
        canal,
        traza: currentTrace(),
      }),
    ),
  )
  if (entregas.length > 0) notifyJobs(entregas)
}
