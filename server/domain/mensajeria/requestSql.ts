import type { TipoDeEvento } from '../../generado/contrato/tipos/index.ts'
import { insertarEntregasDeWebhook } from '../eventos/evento.ts'
import { FORMA_EN_SQL } from '../eventos/forma.ts'
import { fotoEnSql } from '../guias/campos.ts'
import type { ClaveDeWebhook } from '../webhooks/webhook.ts'

// SQL fragments shared by the statements that change a message and the location request of its guide.

/**
 * SQL condition that the message `m` is still needed. An acknowledgement (`acuse`) always is. A request is needed until
 * the guide `g` has a confirmed location, a state of `:finales` or another telephone.
 */
export const haceFalta = (g = 'g') =>
  `(m.tipo = 'acuse' or (${g}.ubicacion_estado <> 'confirmada' and not ${g}.estado = any(:finales::text[])
     and m.telefono = ${g}.telefono))`

/**
 * SQL of `extra` with members of its `solicitud` replaced. A guide from before the migration has no `solicitud`; then
 * the members of `m` are used.
 */
export const withSolicitud = (extra: string, miembros: string) =>
  `coalesce(${extra}, '{}') || jsonb_build_object('solicitud', coalesce(${extra} -> 'solicitud',
     jsonb_build_object('canal', m.canal, 'numero', m.numero, 'creado_en', m.creado_en)) || ${miembros})`

/** Builds the SQL of the new value of `extra` after a change of the message `m`. */
export type ExtraChange = (extra: string) => string

/**
 * SQL that locks the guides of messages in a fixed order, before their messages. A step of a guide (`darPaso`) closes
 * its messages in the same order. This statement therefore reads what a concurrent step has written, not the state
 * before that step.
 */
export const lockGuias = (
  condition: string,
) => `select comercio_id, modo, id, estado, ubicacion_estado, telefono from guia
   where (comercio_id, modo, id) in (select comercio_id, modo, guia_id from mensaje where ${condition})
   order by comercio_id, modo, id for update`

/**
 * SQL condition that `m` is its guide's newest request. A change of an older request says nothing about the newest
 * request.
 */
export const ES_LA_ULTIMA = `not exists (select from mensaje o where o.comercio_id = m.comercio_id and o.modo = m.modo
       and o.guia_id = m.guia_id and o.tipo = m.tipo and o.numero > m.numero)`

/** Webhook delivery written by one of the statements below. */
export type NuevaEntrega = ClaveDeWebhook & { guia_id: string }

/**
 * SQL that ends a statement whose CTE `g` changed the requests of guides. Each guide writes this event and its webhook
 * deliveries, dated `:ahora` or, if later, the guide's last date.
 */
export const announceChange = (tipo: TipoDeEvento) => `e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, estado_anterior, foto,
       forma, ocurrido_en, registrado_en)
     select comercio_id, modo, id, secuencia, guia, external_ref, '${tipo}', estado, estado, ${fotoEnSql('g')},
       ${FORMA_EN_SQL}, actualizado_en, actualizado_en from g
     returning n.*
   ), d as (${insertarEntregasDeWebhook('e', ':ahora::timestamptz')})
   select * from d`

/** SQL condition that the message `m` belongs to a guide of `p`. */
export const isOfGuia = (m: string) => `${m}.comercio_id = p.comercio_id and ${m}.modo = p.modo and ${m}.guia_id = p.id`
