import { statement } from '../../data/db.ts'
import { queryByComercio } from '../../data/partQueries.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { HOUR_MS } from '../../platform/time/units.ts'
import { currentTrace } from '../../platform/tracing.ts'
import {
  announceChangeSql,
  type ExtraChange,
  IS_LATEST_REQUEST,
  isOfGuiaSql,
  linkExpiresAtSql,
  lockGuiasSql,
  type NewEntrega,
  withSolicitud,
} from './requestSql.ts'
import { idsOf, type MensajeDeps, type MensajeKey, type MensajeRow } from './row.ts'
import { inTracesOf } from './traces.ts'

const AS_DOUBTFUL: ExtraChange = (extra) =>
  withSolicitud(
    extra,
    `jsonb_build_object('estado', 'dudoso', 'motivo', :motivo::text, 'vence_en', :vence_en::timestamptz)`,
  )
const AS_FAILED: ExtraChange = (extra) =>
  withSolicitud(extra, `jsonb_build_object('estado', 'fallido', 'motivo', :motivo::text)`)
const FROM_PROVIDER: ExtraChange = (extra) =>
  withSolicitud(
    extra,
    `jsonb_strip_nulls(jsonb_build_object('estado', m.estado, 'entregado_en', m.entregado_en, 'leido_en', m.leido_en))`,
  )

/** Postpones a claimed message until `proximo_en`. Used only if the message certainly was not sent. */
export const postponeMensaje = (
  { db }: MensajeDeps,
  { id, comercio_id }: MensajeKey,
  proximo_en: Date,
  codigo: string,
  motivo: string,
) =>
  db.forComercio(comercio_id).prisma.mensaje.updateMany({
    where: { id, comercio_id, estado: 'enviando' },
    data: { estado: 'pendiente', proximo_en, codigo, motivo },
  })

/**
 * Marks messages as doubtful: they may or may not have been sent. A doubtful message is not sent again; only the
 * provider's status or a person's action changes it.
 */
const MARK_DOUBTFUL = statement<{ ids: readonly string[]; motivo: string; hasta: Date | null; vence_en: Date }>(
  'mensajes.markDoubtful',
  'part',
  `with p as (
     ${lockGuiasSql(`id = any(:ids::uuid[]) and estado = 'enviando'`)}
   ), m as (
     update mensaje set estado = 'dudoso', motivo = :motivo, vence_en = ${linkExpiresAtSql('mensaje')} from p
     where ${isOfGuiaSql('mensaje')} and mensaje.id = any(:ids::uuid[]) and mensaje.estado = 'enviando'
       and (:hasta::timestamptz is null or proximo_en <= :hasta) returning mensaje.*
   ), n as (
     update guia set ubicacion_extra = ${AS_DOUBTFUL('guia.ubicacion_extra')}
     from m where m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id and guia.modo = m.modo
       and guia.id = m.guia_id and ${IS_LATEST_REQUEST}
   )
   select id from m`,
)

/**
 * Marks claimed messages as doubtful, if it is unknown whether they were sent; such messages are not sent again.
 * @param onlyExpired true to mark only messages whose sender died, so that their lease has ended
 */
export const markDoubtful = (
  { db, clock, settings }: MensajeDeps,
  mensajes: readonly MensajeKey[],
  motivo: string,
  onlyExpired = false,
) => {
  const now = clock()
  const vence_en = new Date(now.getTime() + settings.requestHours * HOUR_MS)
  const hasta = onlyExpired ? now : null
  return queryByComercio(db, mensajes, ({ query }, keys) =>
    query(MARK_DOUBTFUL, { ids: idsOf(keys), motivo, hasta, vence_en }),
  )
}

/** Marks a message as failed. If the message is its guide's newest request, the request fails too. */
const MARK_FAILED = statement<
  Pick<MensajeRow, 'id' | 'codigo'> & {
    motivo: string
    now: Date
    final_states: readonly Estado[]
    traza: string | null
  },
  NewEntrega
>(
  'mensajes.markFailed',
  'part',
  `with p as (
     ${lockGuiasSql('id = :id::uuid')}
   ), m as (
     update mensaje set estado = 'fallido', codigo = :codigo, motivo = :motivo, abierta = false from p
     where ${isOfGuiaSql('mensaje')} and mensaje.id = :id
       and mensaje.estado in ('enviando', 'dudoso', 'enviado', 'pendiente') returning mensaje.*
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = greatest(guia.actualizado_en, :now), ubicacion_estado = 'fallida',
       ubicacion_extra = ${AS_FAILED('guia.ubicacion_extra')}
     from m where m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id and guia.modo = m.modo
       and guia.id = m.guia_id and guia.ubicacion_estado <> 'confirmada' and not guia.estado = any(:final_states::text[])
       and ${IS_LATEST_REQUEST}
     returning guia.*
   ), ${announceChangeSql('ubicacion.fallida')}`,
)

/** Ends a message that cannot be delivered. If it is its guide's newest request, the request fails too. */
export async function markFailed(
  { db, clock, notifyJobs }: MensajeDeps,
  { id, comercio_id }: MensajeKey,
  codigo: string | null,
  motivo: string,
): Promise<void> {
  const entregas = await inTracesOf(db, 'ubicacion.fallida', [{ id, comercio_id }], () =>
    db.forComercio(comercio_id).query(MARK_FAILED, {
      id,
      codigo,
      motivo: motivo.slice(0, 500),
      now: clock(),
      final_states: STATE_MACHINE.finales,
      traza: currentTrace(),
    }),
  )
  if (entregas.length > 0) notifyJobs(entregas)
}

/**
 * Records a status from the provider. The state only advances, in any order of arrival. If the telephone was erased,
 * the provider's id is not stored, because WhatsApp makes that id from the telephone.
 */
const RECORD_STATUS = statement<{ id: string; estado: string; en: Date; proveedor_id: string }>(
  'mensajes.recordStatus',
  'part',
  `with p as (
     ${lockGuiasSql('id = :id::uuid')}
   ), m as (
     update mensaje set
       estado = case when :estado = 'leido' or mensaje.estado = 'leido' then 'leido'
         when :estado = 'entregado' or mensaje.estado = 'entregado' then 'entregado' else 'enviado' end,
       entregado_en = case when :estado in ('entregado', 'leido') then least(entregado_en, :en::timestamptz)
         else entregado_en end,
       leido_en = case when :estado = 'leido' then least(leido_en, :en::timestamptz) else leido_en end,
       proveedor_id = case when mensaje.telefono is not null then coalesce(proveedor_id, :proveedor_id) end
     from p where ${isOfGuiaSql('mensaje')} and mensaje.id = :id and mensaje.estado in ('enviado', 'entregado', 'leido')
     returning mensaje.*
   )
   update guia set ubicacion_extra = ${FROM_PROVIDER('guia.ubicacion_extra')}
   from m where m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id and guia.modo = m.modo
     and guia.id = m.guia_id and guia.ubicacion_extra ? 'solicitud' and ${IS_LATEST_REQUEST}`,
)

/** Records the provider's status of a sent message. The state only advances, in any order of arrival. */
export const recordStatus = (
  { db }: MensajeDeps,
  { id, comercio_id }: MensajeKey,
  estado: string,
  en: Date,
  proveedor_id: string,
) => db.forComercio(comercio_id).query(RECORD_STATUS, { id, estado, en, proveedor_id })
