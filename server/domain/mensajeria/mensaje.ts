import type { JobInsert } from 'pg-boss'
import { type Db, type RowOf, statement } from '../../data/db.ts'
import { noteOwners } from '../../data/owners.ts'
import { toJob } from '../../data/queue/jobRows.ts'
import { askByMerchant, askThoseThere, inEach, otherParts } from '../../data/spread.ts'
import type { mensaje } from '../../generado/contrato/prisma/client.ts'
import type {
  CanalDeMensaje,
  Estado,
  EstadoDeMensaje,
  Modo,
  TipoDeEvento,
  TipoDeMensaje,
} from '../../generado/contrato/tipos/index.ts'
import { MAQUINA_DE_ESTADOS } from '../../generado/contrato/vocabulario.ts'
import type { Deps } from '../deps.ts'
import { insertarEntregasDeWebhook } from '../eventos/evento.ts'
import { FORMA_EN_SQL } from '../eventos/forma.ts'
import { fotoEnSql } from '../guias/campos.ts'
import { esSinSalida, venceAlCrear } from '../guias/guia.ts'
import { huellaDe, tokenDe } from '../ubicacion/ubicacion.ts'
import type { ClaveDeWebhook } from '../webhooks/webhook.ts'

/** Row of `mensaje`; columns have the contract's names. */
export type FilaMensaje = RowOf<
  mensaje,
  {
    modo: Modo
    canal: CanalDeMensaje
    tipo: TipoDeMensaje
    /** `enviando`: a process holds the message, with a lease until `proximo_en`. */
    estado: EstadoDeMensaje | 'enviando'
  }
>

/** Key of a message: its id and its merchant. */
export type Suyo = Pick<FilaMensaje, 'id' | 'comercio_id'>

/** Dependencies for handing messages over to a channel. */
export type DepsDeMensajes = Pick<Deps, 'db' | 'reloj' | 'secretos' | 'avisarTrabajo' | 'ajustes'>

const PENDIENTES = statement<
  Pick<FilaMensaje, 'canal'> & { ahora: Date; cuantas: number },
  Suyo & { mensaje: FilaMensaje['id'] }
>(
  'mensajes.pendientes',
  `select comercio_id, id as mensaje, md5(id::text || ':' || estado || proximo_en)::uuid as id from mensaje
   where estado in ('pendiente', 'enviando') and proximo_en <= :ahora and canal = :canal order by proximo_en limit :cuantas`,
  { alcance: 'parte' },
)

/**
 * Returns a function that reads a channel's due messages as jobs: pending messages, and messages in state `enviando`
 * whose lease ended because the sender died.
 */
export const mensajesPendientes =
  (canal: CanalDeMensaje) =>
  async ({ db, reloj }: Pick<DepsDeMensajes, 'db' | 'reloj'>, cuantas: number): Promise<JobInsert[]> => {
    const filas = await askThoseThere(db, ({ consultar }) => consultar(PENDIENTES, { ahora: reloj(), cuantas, canal }))
    return filas.map(({ id, mensaje, comercio_id }) => ({ id, data: { mensaje, comercio_id } }))
  }

/**
 * SQL condition that the message `m` is still needed. An acknowledgement (`acuse`) always is. A request is needed until
 * the guide `g` has a confirmed location or a state of `:finales`.
 */
export const haceFalta = (g = 'g') =>
  `(m.tipo = 'acuse' or (${g}.ubicacion_estado <> 'confirmada' and not ${g}.estado = any(:finales::text[])))`

/**
 * SQL of `extra` with members of its `solicitud` replaced. A guide from before the migration has no `solicitud`; then
 * the members of `m` are used.
 */
const conSolicitud = (extra: string, miembros: string) =>
  `coalesce(${extra}, '{}') || jsonb_build_object('solicitud', coalesce(${extra} -> 'solicitud',
     jsonb_build_object('canal', m.canal, 'numero', m.numero, 'creado_en', m.creado_en)) || ${miembros})`

/** Builds the SQL of the new value of `extra` after a change of the message `m`. */
export type Cambio = (extra: string) => string

/**
 * SQL that locks the guides of messages in a fixed order, before their messages. A step of a guide (`darPaso`) closes
 * its messages in the same order. This statement therefore reads what a concurrent step has written, not the state
 * before that step.
 */
const susGuias = (cuales: string) => `select comercio_id, modo, id, estado, ubicacion_estado from guia
   where (comercio_id, modo, id) in (select comercio_id, modo, guia_id from mensaje where ${cuales})
   order by comercio_id, modo, id for update`

/**
 * SQL condition that `m` is its guide's newest request. A change of an older request says nothing about the newest
 * request.
 */
export const ES_LA_ULTIMA = `not exists (select from mensaje o where o.comercio_id = m.comercio_id and o.modo = m.modo
       and o.guia_id = m.guia_id and o.tipo = m.tipo and o.numero > m.numero)`

const DESCARTAR: Cambio = (extra) => conSolicitud(extra, `jsonb_build_object('estado', m.estado)`)
const ENVIAR: Cambio = (extra) =>
  `case when ${ES_LA_ULTIMA} then ${conSolicitud(
    extra,
    `jsonb_build_object('canal', m.canal, 'estado', 'enviado', 'motivo', null, 'enviado_en', :ahora::timestamptz, 'vence_en', m.vence_en)`,
  )} else ${extra} end`
const POSTERGAR: Cambio = (extra) =>
  conSolicitud(
    extra,
    `jsonb_build_object('estado', m.estado) || case when m.estado = 'pendiente'
         then jsonb_build_object('motivo', :motivo::text) else '{}' end`,
  )
const POR_DUDOSO: Cambio = (extra) =>
  conSolicitud(
    extra,
    `jsonb_build_object('estado', 'dudoso', 'motivo', :motivo::text, 'vence_en', :vence_en::timestamptz)`,
  )
const POR_FALLIDO: Cambio = (extra) =>
  conSolicitud(extra, `jsonb_build_object('estado', 'fallido', 'motivo', :motivo::text)`)
const SEGUN_PROVEEDOR: Cambio = (extra) =>
  conSolicitud(
    extra,
    `jsonb_strip_nulls(jsonb_build_object('estado', m.estado, 'entregado_en', m.entregado_en, 'leido_en', m.leido_en))`,
  )

const idsDe = (mensajes: readonly Suyo[]) => mensajes.map(({ id }) => id)

/** Webhook delivery written by one of the statements below. */
type EntregaHecha = ClaveDeWebhook & { guia_id: string }

/**
 * SQL that ends a statement whose CTE `g` changed the requests of guides. Each guide writes this event and its webhook
 * deliveries, dated `:ahora` or, if later, the guide's last date.
 */
const anunciar = (tipo: TipoDeEvento) => `e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, estado_anterior, foto,
       forma, ocurrido_en, registrado_en)
     select comercio_id, modo, id, secuencia, guia, external_ref, '${tipo}', estado, estado, ${fotoEnSql('g')},
       ${FORMA_EN_SQL}, actualizado_en, actualizado_en from g
     returning n.*
   ), d as (${insertarEntregasDeWebhook('e', ':ahora::timestamptz')})
   select * from d`

/** SQL condition that the message `m` belongs to a guide of `p`. */
const deSuGuia = (m: string) => `${m}.comercio_id = p.comercio_id and ${m}.modo = p.modo and ${m}.guia_id = p.id`

/**
 * Marks messages as sent, each once: only a message in one of the states `:desde` changes. The same statement activates
 * the link, increments the guide's sequence, and writes the event and its webhook deliveries. A second message of the
 * same guide waits for another call. A message that its guide no longer needs is dropped, unless it was already sent.
 */
const MARCAR_ENVIADOS = statement<
  {
    enviados: string
    ahora: Date
    finales: readonly Estado[]
    vence_en: Date
    kid: string
    desde: readonly FilaMensaje['estado'][]
    canal: CanalDeMensaje
  },
  EntregaHecha
>(
  'mensajes.marcarEnviados',
  `with x as (
     select * from json_to_recordset(:enviados::json) as x(id uuid, huella text, proveedor_id text)
   ), p as (
     ${susGuias('id in (select id from x) and estado = any(:desde::text[]) and canal = :canal')}
   ), q as (
     select distinct on (m.comercio_id, m.modo, m.guia_id) m.id as mensaje_id, x.huella, x.proveedor_id,
       ${haceFalta('p')} as hace_falta
     from p join mensaje m on ${deSuGuia('m')} join x on x.id = m.id
     where m.estado = any(:desde::text[]) and m.canal = :canal order by m.comercio_id, m.modo, m.guia_id, m.numero
   ), m as (
     update mensaje set
       estado = case when q.hace_falta or estado <> 'pendiente' then 'enviado' else 'descartado' end,
       enviado_en = case when q.hace_falta or estado <> 'pendiente' then :ahora::timestamptz end,
       vence_en = case when tipo = 'solicitud_ubicacion' then :vence_en::timestamptz end, kid = :kid, codigo = null, motivo = null,
       abierta = q.hace_falta and tipo <> 'acuse', proveedor_id = coalesce(q.proveedor_id, mensaje.proveedor_id)
     from q where mensaje.id = q.mensaje_id and mensaje.estado = any(:desde) returning mensaje.*, q.huella, q.hace_falta
   ), l as (
     insert into enlace_ubicacion (huella, comercio_id, modo, guia_id, numero, vence_en)
     select decode(huella, 'hex'), comercio_id, modo, guia_id, m.numero, vence_en
     from m where estado = 'enviado' and tipo = 'solicitud_ubicacion'
     on conflict (huella) do update set vence_en = excluded.vence_en
   ), n as (
     update guia set ubicacion_extra = ${DESCARTAR('guia.ubicacion_extra')}
     from m where not m.hace_falta and m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id
       and guia.modo = m.modo and guia.id = m.guia_id
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = greatest(guia.actualizado_en, :ahora), ubicacion_estado = 'solicitada',
       ubicacion_extra = ${ENVIAR('guia.ubicacion_extra')}
     from m where m.estado = 'enviado' and m.hace_falta and m.tipo = 'solicitud_ubicacion'
       and guia.comercio_id = m.comercio_id and guia.modo = m.modo and guia.id = m.guia_id
     returning guia.*
   ), ${anunciar('ubicacion.solicitada')}`,
  { alcance: 'parte' },
)

/** Records the merchant of each link before the link's row is written. */
const anotarEnlaces = (db: Db, filas: readonly { huella: string; comercio_id: string }[]) =>
  noteOwners(
    db,
    filas.map(({ huella, comercio_id }) => ({ key: huella, merchant: comercio_id })),
  )

/** Returns the key with which links are made now, and the instant until which they are valid. */
const enlaceDe = ({ secretos, ajustes }: DepsDeMensajes, ahora: Date) => ({
  kid: secretos.presente('ubicacion').kid,
  vence_en: new Date(ahora.getTime() + ajustes.horasDeSolicitud * 3_600_000),
})

interface Enviado extends Suyo {
  proveedor_id?: string | null
}

/**
 * Records that a channel accepted these messages. Their links work from now on, and each guide gets an event.
 * @param desde states in which the messages may be: `pendiente` for a channel that accepts everything at once
 */
export async function marcarEnviados(
  partes: DepsDeMensajes,
  canal: CanalDeMensaje,
  desde: readonly FilaMensaje['estado'][],
  mensajes: readonly Enviado[],
): Promise<void> {
  const { db, reloj, secretos, avisarTrabajo } = partes
  const ahora = reloj()
  const filas = mensajes.map(({ id, comercio_id, proveedor_id }) => {
    const { token } = tokenDe(secretos, id)!
    return { id, comercio_id, proveedor_id: proveedor_id ?? null, huella: huellaDe(token).toString('hex') }
  })
  await anotarEnlaces(db, filas)
  const entregas = await askByMerchant(db, filas, ({ consultar }, filas) =>
    consultar(MARCAR_ENVIADOS, {
      enviados: JSON.stringify(filas),
      ahora,
      finales: MAQUINA_DE_ESTADOS.finales,
      ...enlaceDe(partes, ahora),
      desde,
      canal,
    }),
  )
  if (entregas.length > 0) avisarTrabajo(entregas)
}

const EN_BUZON = statement<{ ids: readonly string[] }, Suyo & Pick<FilaMensaje, 'modo'>>(
  'mensajes.enBuzon',
  `select id, comercio_id, modo from mensaje where id = any(:ids::uuid[]) and canal = 'buzon' and estado = 'pendiente'`,
  { alcance: 'parte' },
)

/** Postpones live messages of the mailbox. Only a process of an earlier version writes them as due. */
const RETENER = statement<{ ids: readonly string[] }>(
  'mensajes.retener',
  `update mensaje set proximo_en = ${venceAlCrear('modo', 'canal', 'proximo_en')}
       where id = any(:ids::uuid[]) and estado = 'pendiente'`,
  { alcance: 'parte' },
)

/**
 * Delivers messages of test guides to the mailbox, the messages of one guide one after another. A repeated call does
 * nothing. A live message is held until the service has messaging (`retomar.ts`).
 */
export async function enviarAlBuzon(deps: DepsDeMensajes, mensajes: readonly Suyo[]): Promise<void> {
  const { db } = deps
  const pendientes = (unos: readonly Suyo[]) =>
    askByMerchant(db, unos, ({ consultar }, suyos) => consultar(EN_BUZON, { ids: idsDe(suyos) }))
  const { live = [], test = [] } = Object.groupBy(await pendientes(mensajes), ({ modo }) => modo)
  if (live.length > 0)
    await askByMerchant(db, live, ({ consultar }, suyos) => consultar(RETENER, { ids: idsDe(suyos) }))
  for (let quedan = test, antes = Infinity; quedan.length > 0 && quedan.length < antes; ) {
    await marcarEnviados(deps, 'buzon', ['pendiente'], quedan)
    antes = quedan.length
    quedan = await pendientes(quedan)
  }
}

/**
 * Maximum requests that a telephone gets from all merchants together, per hour and per day. A recipient who waits for
 * more parcels is asked about the first parcels now and about the others over the day. The limit also keeps merchants
 * from flooding a stranger's phone.
 */
const POR_TELEFONO = { hora: 5, dia: 20 }
const YA_RECIBIO = `Ese teléfono ya recibió ${POR_TELEFONO.hora} solicitudes en una hora o ${POR_TELEFONO.dia} en un día, de todos los comercios. Saldrá más tarde, por sí sola.`

/**
 * SQL that counts the messages sent within the last hour and day to each telephone of `q`. Each telephone is counted
 * once, however many rows of `q` share it.
 */
const SALIERON = `select o.telefono, o.modo, o.tipo, count(*) as en_el_dia,
       count(*) filter (where coalesce(o.enviado_en, o.proximo_en) > :ahora::timestamptz - interval '1 hour') as en_la_hora
     from mensaje o where o.telefono in (select telefono from q)
       and o.estado in ('enviando', 'dudoso', 'enviado', 'entregado', 'leido')
       and coalesce(o.enviado_en, o.proximo_en) > :ahora::timestamptz - interval '1 day'
     group by o.telefono, o.modo, o.tipo`

/**
 * SQL of the position of a message of `q` among the requests that are due for its telephone. Position plus sent
 * requests stays the same while others are sent concurrently, so no lock on the telephone is needed. The count stops at
 * 500: any later message is postponed for weeks anyway.
 */
const LUGAR = `(select count(*) from (
       select from mensaje o where o.telefono = q.telefono and o.modo = q.modo and o.tipo = q.tipo
         and o.estado = 'pendiente' and o.canal = :canal and o.proximo_en <= :ahora
         and (o.creado_en, o.id) <= (q.creado_en, q.id) limit 500) antes)`

interface Cuenta {
  id: string
  en_la_hora: number
  en_el_dia: number
  antes: number
}

/**
 * Counts what merchants of another part (shard) have for the telephones of some messages: requests sent, and requests
 * due before each message. Both counts use one snapshot, so that a request sent meanwhile counts once.
 */
const DE_OTROS = statement<{ mensajes: string; ahora: Date; canal: CanalDeMensaje }, Cuenta>(
  'mensajes.deOtros',
  `with q as materialized (
     select * from json_to_recordset(:mensajes::json) as q(id uuid, telefono text, modo text, tipo text, creado_en timestamptz)
   ), t as materialized (
     ${SALIERON}
   )
   select q.id, coalesce(en_la_hora, 0)::int as en_la_hora, coalesce(en_el_dia, 0)::int as en_el_dia, ${LUGAR}::int as antes
   from q left join t using (telefono, modo, tipo)`,
  { alcance: 'parte' },
)
const TELEFONOS = statement<
  { ids: readonly string[] },
  Pick<FilaMensaje, 'id' | 'telefono' | 'modo' | 'tipo'> & { creado_en: string }
>(
  'mensajes.telefonos',
  'select id, telefono, modo, tipo, creado_en::text as creado_en from mensaje where id = any(:ids::uuid[])',
  { alcance: 'parte' },
)

/** Counts, for messages of one part (shard), what merchants of all other parts have for the same telephones. */
async function contarDeOtros(
  { db, suya, ahora, canal }: { db: Db; suya: Db; ahora: Date; canal: CanalDeMensaje },
  mensajes: readonly Suyo[],
): Promise<Cuenta[]> {
  const otras = otherParts(db, suya)
  if (otras.length === 0) return []
  const mensajes_ = JSON.stringify(await suya.consultar(TELEFONOS, { ids: idsDe(mensajes) }))
  const cuentas = await Promise.all(
    otras.map(({ consultar }) => consultar(DE_OTROS, { mensajes: mensajes_, ahora, canal })),
  )
  return cuentas.flat()
}

/**
 * Claims due messages for two minutes. A message over its telephone's quota is postponed in its row instead: by an hour
 * for each five requests before it, and by a day for each twenty.
 */
const RECLAMAR = statement<
  {
    reclamados: string
    /** JSON of the counts ({@link Cuenta}) of other parts' merchants for the same telephones. */
    de_otros: string
    ahora: Date
    motivo: string
    finales: readonly Estado[]
    canal: CanalDeMensaje
    kid: string
    vence_en: Date
  },
  Omit<Reclamado, 'token'>
>(
  'mensajes.reclamar',
  `with x as (
     select * from json_to_recordset(:reclamados::json) as x(id uuid, huella text)
   ), q as (
     select m.id, m.telefono, m.modo, m.tipo, m.creado_en, x.huella, ${haceFalta()} as hace_falta
     from x join mensaje m on m.id = x.id
     join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
     where m.estado = 'pendiente' and m.canal = :canal and m.proximo_en <= :ahora::timestamptz for update of m skip locked
   ), t as materialized (
     ${SALIERON}
   ), o as (
     select id, sum(antes) as antes, sum(en_la_hora) as en_la_hora, sum(en_el_dia) as en_el_dia
     from json_to_recordset(:de_otros::json) as o(id uuid, antes int, en_la_hora int, en_el_dia int) group by id
   ), s as (
     select q.*, ${LUGAR} + coalesce(o.antes, 0) as lugar, coalesce(t.en_la_hora, 0) + coalesce(o.en_la_hora, 0) as en_la_hora,
       coalesce(t.en_el_dia, 0) + coalesce(o.en_el_dia, 0) as en_el_dia
     from q left join t using (telefono, modo, tipo) left join o on o.id = q.id
   ), c as (
     select *, tipo = 'solicitud_ubicacion' and hace_falta
       and (en_la_hora + lugar > ${POR_TELEFONO.hora} or en_el_dia + lugar > ${POR_TELEFONO.dia}) as sobra from s
   ), h as materialized (
     select *, :ahora::timestamptz + case when sobra then random() * interval '20 minutes'
         + ((en_el_dia + lugar) / ${POR_TELEFONO.hora}) * interval '1 hour'
         + ((en_el_dia + lugar) / ${POR_TELEFONO.dia}) * interval '20 hours'
         else interval '2 minutes' end as hasta from c
   ), m as (
     update mensaje set
       estado = case when q.sobra then 'pendiente' when q.hace_falta then 'enviando' else 'descartado' end,
       abierta = q.hace_falta, intentos = intentos + case when q.sobra then 0 else 1 end, kid = :kid,
       proximo_en = q.hasta
     from h q where mensaje.id = q.id returning mensaje.*, q.huella
   ), l as (
     insert into enlace_ubicacion (huella, comercio_id, modo, guia_id, numero, vence_en)
     select decode(huella, 'hex'), comercio_id, modo, guia_id, m.numero, :vence_en::timestamptz
     from m where estado = 'enviando' and tipo = 'solicitud_ubicacion' on conflict (huella) do nothing
   ), n as (
     update guia set ubicacion_extra = ${POSTERGAR('guia.ubicacion_extra')}
     from m where m.estado <> 'enviando' and m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id
       and guia.modo = m.modo and guia.id = m.guia_id
   )
   select m.*, g.municipio, c.nombre as comercio from m
   join guia g on g.comercio_id = m.comercio_id and g.modo = m.modo and g.id = m.guia_id
   join comercio c on c.id = m.comercio_id where m.estado = 'enviando'`,
  { alcance: 'parte' },
)

/** Message that this process has claimed for sending. Its link already works, and no other process sends it. */
export type Reclamado = FilaMensaje & { municipio: string; comercio: string; token: string }

/**
 * Claims the due messages among these for two minutes. Messages that no guide needs any more are dropped; messages over
 * the quota of their telephone are postponed.
 */
export async function reclamar(
  partes: DepsDeMensajes,
  canal: CanalDeMensaje,
  mensajes: readonly Suyo[],
): Promise<Reclamado[]> {
  const { db, reloj, secretos } = partes
  const ahora = reloj()
  const tokens = new Map(mensajes.map(({ id }) => [id, tokenDe(secretos, id)!.token]))
  const filas = mensajes.map(({ id, comercio_id }) => ({
    id,
    comercio_id,
    huella: huellaDe(tokens.get(id)!).toString('hex'),
  }))
  await anotarEnlaces(db, filas)
  const reclamados = await askByMerchant(db, filas, async (suya, filas) => {
    const deOtros = await contarDeOtros({ db, suya, ahora, canal }, filas)
    return suya.consultar(RECLAMAR, {
      reclamados: JSON.stringify(filas),
      de_otros: JSON.stringify(deOtros),
      ahora,
      finales: MAQUINA_DE_ESTADOS.finales,
      canal,
      motivo: YA_RECIBIO,
      ...enlaceDe(partes, ahora),
    })
  })
  return reclamados.map((fila) => ({ ...fila, token: tokens.get(fila.id)! }))
}

/** Postpones a claimed message that certainly was not sent, until `proximo_en`. */
export const aplazarMensaje = (
  { db }: DepsDeMensajes,
  { id, comercio_id }: Suyo,
  proximo_en: Date,
  codigo: string,
  motivo: string,
) =>
  db.de(comercio_id).prisma.mensaje.updateMany({
    where: { id, comercio_id, estado: 'enviando' },
    data: { estado: 'pendiente', proximo_en, codigo, motivo },
  })

/**
 * Marks messages as doubtful: they may or may not have been sent. A doubtful message is not sent again; only the
 * provider's status or a person's action changes it.
 */
const DUDAR = statement<{ ids: readonly string[]; motivo: string; hasta: Date | null; vence_en: Date }>(
  'mensajes.dudar',
  `with p as (
     ${susGuias(`id = any(:ids::uuid[]) and estado = 'enviando'`)}
   ), m as (
     update mensaje set estado = 'dudoso', motivo = :motivo, vence_en = :vence_en from p
     where ${deSuGuia('mensaje')} and mensaje.id = any(:ids::uuid[]) and mensaje.estado = 'enviando'
       and (:hasta::timestamptz is null or proximo_en <= :hasta) returning mensaje.*
   ), n as (
     update guia set ubicacion_extra = ${POR_DUDOSO('guia.ubicacion_extra')}
     from m where m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id and guia.modo = m.modo
       and guia.id = m.guia_id and ${ES_LA_ULTIMA}
   )
   select id from m`,
  { alcance: 'parte' },
)

/**
 * Marks claimed messages as doubtful, if it is unknown whether they were sent; such messages are not sent again.
 * @param vencidos true to mark only messages whose sender died, so that their lease has ended
 */
export const dudar = (
  { db, reloj, ajustes }: DepsDeMensajes,
  mensajes: readonly Suyo[],
  motivo: string,
  vencidos = false,
) => {
  const ahora = reloj()
  const vence_en = new Date(ahora.getTime() + ajustes.horasDeSolicitud * 3_600_000)
  const hasta = vencidos ? ahora : null
  return askByMerchant(db, mensajes, ({ consultar }, suyos) =>
    consultar(DUDAR, { ids: idsDe(suyos), motivo, hasta, vence_en }),
  )
}

/** Marks a message as failed. If the message is its guide's newest request, the request fails too. */
const FALLAR = statement<
  Pick<FilaMensaje, 'id' | 'codigo'> & { motivo: string; ahora: Date; finales: readonly Estado[] },
  EntregaHecha
>(
  'mensajes.fallar',
  `with p as (
     ${susGuias('id = :id::uuid')}
   ), m as (
     update mensaje set estado = 'fallido', codigo = :codigo, motivo = :motivo, abierta = false from p
     where ${deSuGuia('mensaje')} and mensaje.id = :id
       and mensaje.estado in ('enviando', 'dudoso', 'enviado', 'pendiente') returning mensaje.*
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = greatest(guia.actualizado_en, :ahora), ubicacion_estado = 'fallida',
       ubicacion_extra = ${POR_FALLIDO('guia.ubicacion_extra')}
     from m where m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id and guia.modo = m.modo
       and guia.id = m.guia_id and guia.ubicacion_estado <> 'confirmada' and not guia.estado = any(:finales::text[])
       and ${ES_LA_ULTIMA}
     returning guia.*
   ), ${anunciar('ubicacion.fallida')}`,
  { alcance: 'parte' },
)

/** Ends a message that cannot be delivered. If it is its guide's newest request, the request fails too. */
export async function fallar(
  { db, reloj, avisarTrabajo }: DepsDeMensajes,
  { id, comercio_id }: Suyo,
  codigo: string | null,
  motivo: string,
): Promise<void> {
  const entregas = await db.de(comercio_id).consultar(FALLAR, {
    id,
    codigo,
    motivo: motivo.slice(0, 500),
    ahora: reloj(),
    finales: MAQUINA_DE_ESTADOS.finales,
  })
  if (entregas.length > 0) avisarTrabajo(entregas)
}

/**
 * Records a status from the provider. The state only advances, in any order of arrival. If the telephone was erased,
 * the provider's id is not stored, because WhatsApp makes that id from the telephone.
 */
const ANOTAR = statement<{ id: string; estado: string; en: Date; proveedor_id: string }>(
  'mensajes.anotar',
  `with p as (
     ${susGuias('id = :id::uuid')}
   ), m as (
     update mensaje set
       estado = case when :estado = 'leido' or mensaje.estado = 'leido' then 'leido'
         when :estado = 'entregado' or mensaje.estado = 'entregado' then 'entregado' else 'enviado' end,
       entregado_en = case when :estado in ('entregado', 'leido') then least(entregado_en, :en::timestamptz)
         else entregado_en end,
       leido_en = case when :estado = 'leido' then least(leido_en, :en::timestamptz) else leido_en end,
       proveedor_id = case when telefono is not null then coalesce(proveedor_id, :proveedor_id) end
     from p where ${deSuGuia('mensaje')} and mensaje.id = :id and mensaje.estado in ('enviado', 'entregado', 'leido')
     returning mensaje.*
   )
   update guia set ubicacion_extra = ${SEGUN_PROVEEDOR('guia.ubicacion_extra')}
   from m where m.tipo = 'solicitud_ubicacion' and guia.comercio_id = m.comercio_id and guia.modo = m.modo
     and guia.id = m.guia_id and guia.ubicacion_extra ? 'solicitud' and ${ES_LA_ULTIMA}`,
  { alcance: 'parte' },
)

/** Records the provider's status of a sent message. The state only advances, in any order of arrival. */
export const anotar = (
  { db }: DepsDeMensajes,
  { id, comercio_id }: Suyo,
  estado: string,
  en: Date,
  proveedor_id: string,
) => db.de(comercio_id).consultar(ANOTAR, { id, estado, en, proveedor_id })

const VENCIDOS = statement<{ ahora: Date; cuantas: number }, Suyo>(
  'mensajes.vencidos',
  `select id, comercio_id from mensaje where abierta and vence_en <= :ahora order by vence_en limit :cuantas`,
  { alcance: 'parte' },
)

/**
 * Brings forward messages that were never sent and that were created in the future. Each message keeps the wait between
 * its creation and its due instant. A message that cannot be sent keeps waiting.
 */
const ADELANTAR = statement<{ ahora: Date }>(
  'mensajes.adelantar',
  `update mensaje set proximo_en = :ahora::timestamptz + (proximo_en - creado_en)
   where estado = 'pendiente' and proximo_en > :ahora and creado_en > :ahora and intentos = 0
     and not ${esSinSalida('modo', 'canal')}`,
  { alcance: 'parte' },
)

/** Brings forward messages that were scheduled before the clock was set back. */
export const adelantarMensajes = ({ db, reloj }: Pick<DepsDeMensajes, 'db' | 'reloj'>) =>
  inEach(db, ({ consultar }) => consultar(ADELANTAR, { ahora: reloj() }))

/** Returns the open requests that have expired, as jobs. */
export const solicitudesVencidas = async (
  { db, reloj }: Pick<DepsDeMensajes, 'db' | 'reloj'>,
  cuantas: number,
): Promise<JobInsert[]> =>
  (await askThoseThere(db, ({ consultar }) => consultar(VENCIDOS, { ahora: reloj(), cuantas }))).map(toJob)

const VENCER = statement<{ ids: readonly string[]; ahora: Date; finales: readonly Estado[] }, EntregaHecha>(
  'mensajes.vencer',
  `with p as (
     ${susGuias('id = any(:ids::uuid[])')}
   ), m as (
     update mensaje set abierta = false from p
     where ${deSuGuia('mensaje')} and mensaje.id = any(:ids::uuid[]) and abierta and vence_en <= :ahora returning mensaje.*
   ), q as (
     select distinct comercio_id, modo, guia_id from m where not exists (
       select from mensaje o where o.comercio_id = m.comercio_id and o.modo = m.modo and o.guia_id = m.guia_id
         and o.tipo = 'solicitud_ubicacion' and o.abierta and (o.vence_en is null or o.vence_en > :ahora))
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = greatest(guia.actualizado_en, :ahora), ubicacion_estado = 'vencida' from q
     where guia.comercio_id = q.comercio_id and guia.modo = q.modo and guia.id = q.guia_id
       and guia.ubicacion_estado = 'solicitada' and not guia.estado = any(:finales::text[])
     returning guia.*
   ), ${anunciar('ubicacion.vencida')}`,
  { alcance: 'parte' },
)

/** Closes expired requests. A guide without another open request gets the location state `vencida`. */
export async function vencerSolicitudes(
  { db, reloj, avisarTrabajo }: DepsDeMensajes,
  mensajes: readonly Suyo[],
): Promise<void> {
  const ahora = reloj()
  const entregas = await askByMerchant(db, mensajes, ({ consultar }, suyos) =>
    consultar(VENCER, { ids: idsDe(suyos), ahora, finales: MAQUINA_DE_ESTADOS.finales }),
  )
  if (entregas.length > 0) avisarTrabajo(entregas)
}
