import type { TipoDeEvento } from '../../generated/contract/types/index.ts'
import { insertWebhookAvisos } from '../eventos/evento.ts'
import { SHAPE_IN_SQL } from '../records/bodyShape.ts'
import { fotoSql } from '../records/guiaFields.ts'
import type { WebhookKey } from '../records/webhookKey.ts'

// SQL fragments shared by the statements that change a message and the location request of its guide.

/** SQL condition that a message of this type contains a link, and counts towards the limits of its telephone. */
export const hasLink = (type: string) => `${type} in ('solicitud_ubicacion', 'solicitud_decision')`

/**
 * SQL of the instant until which the link of the message `m` is valid. A link for a decision is valid until the
 * decision's own deadline.
 */
export const linkExpiresAtSql = (m: string) =>
  `case when ${m}.tipo = 'solicitud_decision' then ${m}.vence_en else :vence_en::timestamptz end`

/**
 * SQL condition that the recipient may still answer the message `m` about a decision of the guide `g`. The decision is
 * still open, it is the guide's newest decision, and the guide has the same telephone.
 */
const isDecisionOpenSql = (g: string) => `(${g}.decision ->> 'estado' = 'pendiente' and m.telefono = ${g}.telefono
     and m.vence_en > :now::timestamptz and not exists (select from evento v where v.comercio_id = m.comercio_id
       and v.modo = m.modo and v.guia_id = m.guia_id and v.secuencia > m.decision_secuencia
       and v.tipo = 'guia.decision_pendiente'))`

/**
 * SQL condition that the message `m` is still needed. An acknowledgement (`acuse`) always is. A question about a
 * decision is needed while the decision is open. A location request is needed until the guide `g` has a confirmed
 * location, a state of `:final_states` or another telephone.
 */
export const isNeededSql = (g = 'g') =>
  `coalesce(case m.tipo when 'acuse' then true when 'solicitud_decision' then ${isDecisionOpenSql(g)}
     else ${g}.ubicacion_estado <> 'confirmada' and not ${g}.estado = any(:final_states::text[])
       and m.telefono = ${g}.telefono end, false)`

/**
 * SQL of the JSON column `extra` with some members of its `solicitud` (location request) replaced. A guide whose
 * location was erased takes them from the message `m`.
 */
export const withSolicitud = (extra: string, members: string) =>
  `coalesce(${extra}, '{}') || jsonb_build_object('solicitud', coalesce(${extra} -> 'solicitud',
     jsonb_build_object('canal', m.canal, 'numero', m.numero, 'creado_en', m.creado_en)) || ${members})`

/** Function that builds the SQL of the new value of `extra` after a change of the message `m`. */
export type ExtraChange = (extra: string) => string

/**
 * SQL that locks the guides of messages in a fixed order, before their messages. A step of a guide (`takeStep`) closes
 * its messages in the same order. This statement then reads the result of a concurrent step, not the state before that
 * step.
 */
export const lockGuiasSql = (
  condition: string,
) => `select comercio_id, modo, id, estado, ubicacion_estado, telefono, decision from guia
   where (comercio_id, modo, id) in (select comercio_id, modo, guia_id from mensaje where ${condition})
   order by comercio_id, modo, id for update`

/**
 * SQL condition that `m` is its guide's newest request. A change of an older request says nothing about the newest
 * request.
 */
export const IS_LATEST_REQUEST = `not exists (select from mensaje o where o.comercio_id = m.comercio_id and o.modo = m.modo
       and o.guia_id = m.guia_id and o.tipo = m.tipo and o.numero > m.numero)`

/** Webhook delivery that one of the statements below has written. */
export type NewEntrega = WebhookKey & { guia_id: string }

/**
 * SQL that ends a statement whose CTE `g` changed the requests of guides. Each of these guides gets an event with its
 * webhook deliveries. The event's time is `:now`, or the guide's last change if that is later. `:traza` is the
 * event's trace.
 */
export const announceChangeSql = (type: TipoDeEvento) => `e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, estado_anterior, foto,
       forma, ocurrido_en, registrado_en, traza)
     select comercio_id, modo, id, secuencia, guia, external_ref, '${type}', estado, estado, ${fotoSql('g')},
       ${SHAPE_IN_SQL}, actualizado_en, actualizado_en, :traza::text from g
     returning n.*
   ), d as (${insertWebhookAvisos('e', ':now::timestamptz')})
   select * from d`

/** SQL condition that the message `m` belongs to a guide of `p`. */
export const isOfGuiaSql = (m: string) =>
  `${m}.comercio_id = p.comercio_id and ${m}.modo = p.modo and ${m}.guia_id = p.id`
