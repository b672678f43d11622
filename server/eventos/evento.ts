import type { evento } from '../contrato/generado/prisma/client.ts'
import type { Estado, Evento, Modo, Motivo, QuienReparte, TipoDeEvento } from '../contrato/generado/tipos/index.ts'
import { DESCRIPCIONES_DE_ESTADO, DESCRIPCIONES_DE_EVENTO } from '../contrato/generado/vocabulario.ts'
import { conTextos, type Db, type EnJson, type Fila, sentencia } from '../db.ts'
import { Problema } from '../errores.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { iso } from '../tiempo/instante.ts'
import type { AvisarTrabajo } from '../webhooks/webhook.ts'

type DatosDeEvento = {
  [Dato in
    | 'estado_reportado'
    | 'numero_intento'
    | 'requiere_accion'
    | 'forzado'
    | 'tardio'
    | 'repartidor']: NonNullable<Evento[Dato]>
}

/** A row of `evento`; columns carry the contract's names. */
export type FilaEvento = Fila<
  evento,
  {
    modo: Modo
    tipo: TipoDeEvento
    estado: Estado
    estado_anterior: Estado | null
    motivo: Motivo | null
    /** The members that only some types of event have. */
    datos: Partial<DatosDeEvento> | null
    foto: Foto
  }
>

/** An event that was just committed, its guide as the event left it, and the endpoints that it goes to. */
export interface EventoRecien {
  guia: FilaGuia
  evento: FilaEvento
  webhooks: readonly string[]
  /** When its writing began, in milliseconds of the process's clock: whoever read after that may have seen it already. */
  desde: number
}

/** An event without the picture of its guide: all that the contract shows of it. */
export type EventoSinFoto = Omit<FilaEvento, 'foto'>

/** The columns of what the contract shows of an event. */
export const MOSTRADAS_DE_EVENTO = [
  ...(['guia', 'external_ref', 'secuencia', 'tipo', 'estado', 'estado_anterior', 'descripcion', 'motivo'] as const),
  ...(['lat', 'lng', 'datos', 'ocurrido_en', 'registrado_en'] as const),
] as const

/** What the contract shows of an event, its instants as texts. */
export type EventoLeido = EnJson<Pick<FilaEvento, (typeof MOSTRADAS_DE_EVENTO)[number]>>

/** SQL of the columns of {@link EventoLeido}. */
export const COLUMNAS_DE_EVENTO = conTextos(MOSTRADAS_DE_EVENTO)

/** The picture of a guide right after an event: what of it changes, and the event itself doesn't say. */
export type Foto = Pick<
  FilaGuia,
  | 'intentos'
  | 'advertencias'
  | 'ubicacion_estado'
  | 'ubicacion_origen'
  | 'ubicacion_lat'
  | 'ubicacion_lng'
  | 'ubicacion_extra'
>

/** The picture of a guide as SQL, of a row of `guia` (or, with its attempts named apart, of one about to be). */
export const foto = (g: string, intentos = `${g}.intentos`) =>
  `jsonb_build_object('intentos', ${intentos}, 'advertencias', ${g}.advertencias, 'ubicacion_estado', ${g}.ubicacion_estado,
    'ubicacion_origen', ${g}.ubicacion_origen, 'ubicacion_lat', ${g}.ubicacion_lat, 'ubicacion_lng', ${g}.ubicacion_lng,
    'ubicacion_extra', ${g}.ubicacion_extra)`

/**
 * The outbox as SQL: inserts, for the events of `e` (a CTE with `returning *` of an insert into `evento`), one delivery per
 * endpoint that wants them. It stands as a CTE in the statement that writes the events, so that both commit or neither does.
 * A paused endpoint's deliveries wait; a disabled one gets none (its merchant recovers them).
 * @param ahora the clock: an event's own date is ahead of it where its guide's is
 */
export const insertarEntregasDeWebhook = (e: string, ahora = `${e}.registrado_en`) => `
  insert into webhook_entrega as n (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, creado_en)
  select w.comercio_id, w.modo, w.webhook, e.guia_id, e.secuencia, 'evt_' || e.guia || '_' || e.secuencia, e.tipo,
    'pendiente', 'automatica', ${ahora}, e.registrado_en
  from ${e} e join webhook w on w.comercio_id = e.comercio_id and w.modo = e.modo
  where w.estado in ('activo', 'pausado') and ${quiere('w', 'e')}
  returning n.comercio_id, n.modo, n.webhook, n.guia_id`

/** The condition, as SQL, that an endpoint's types, wildcards included, name an event's. */
export const quiere = (w: string, e: string) =>
  `${w}.tipos && array['*', split_part(${e}.tipo, '.', 1) || '.*', ${e}.tipo]`

/** The guide as it was right after the event, whatever has become of it since. */
export const trasEvento = (guia: FilaGuia, evento: FilaEvento): FilaGuia => ({
  ...guia,
  ...evento.foto,
  estado: evento.estado,
  secuencia: evento.secuencia,
  actualizado_en: evento.registrado_en,
})

const DESCRIPCIONES: Readonly<Record<string, string>> = {
  ...DESCRIPCIONES_DE_EVENTO,
  ...Object.fromEntries(Object.entries(DESCRIPCIONES_DE_ESTADO).map(([estado, texto]) => [`guia.${estado}`, texto])),
}

/** An event as the contract has it; the guide and its sequence are its identity, so they make its public id. */
export function presentarEvento(fila: EventoSinFoto | EventoLeido): Evento {
  return {
    id: `evt_${fila.guia}_${fila.secuencia}`,
    tipo: fila.tipo,
    guia: fila.guia,
    external_ref: fila.external_ref,
    estado: fila.estado,
    estado_anterior: fila.estado_anterior,
    secuencia: fila.secuencia,
    descripcion: fila.descripcion ?? DESCRIPCIONES[fila.tipo] ?? fila.tipo,
    motivo: fila.motivo,
    lat: fila.lat,
    lng: fila.lng,
    ocurrido_en: iso(fila.ocurrido_en),
    registrado_en: iso(fila.registrado_en),
    estado_reportado: fila.datos?.estado_reportado ?? null,
    numero_intento: fila.datos?.numero_intento ?? null,
    requiere_accion: fila.datos?.requiere_accion ?? null,
    forzado: fila.datos?.forzado ?? null,
    tardio: fila.tipo === 'guia.escaneo_tardio' || fila.datos?.tardio === true,
    repartidor: fila.datos?.repartidor ?? null,
  }
}

/** The first event of a guide, as the statement that creates the guide writes it. */
export function eventoDeCreacion(guia: FilaGuia): FilaEvento {
  const { creado_en, intentos, advertencias, ubicacion_estado, ubicacion_origen } = guia
  const { ubicacion_lat, ubicacion_lng, ubicacion_extra } = guia
  const lugar = { ubicacion_estado, ubicacion_origen, ubicacion_lat, ubicacion_lng, ubicacion_extra }
  return {
    ...{ ...deGuia(guia), secuencia: 1, guia: guia.guia, tipo: 'guia.aceptado', estado: 'aceptado' },
    ...{
      external_ref: guia.external_ref,
      estado_anterior: null,
      descripcion: null,
      motivo: null,
      lat: null,
      lng: null,
      datos: null,
      autor: null,
      custodio: null,
    },
    ...{ idempotencia: null, huella: null, foto: { intentos, advertencias, ...lugar } },
    ...{ ocurrido_en: creado_en, registrado_en: creado_en },
  }
}

/** The columns by which a guide's events are found. */
export const deGuia = ({ comercio_id, modo, id }: Pick<FilaGuia, 'comercio_id' | 'modo' | 'id'>) => ({
  comercio_id,
  modo,
  guia_id: id,
})

const POR_SECUENCIA = sentencia<Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id' | 'secuencia'>, FilaEvento>(
  'eventos.porSecuencia',
  `select * from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and secuencia = :secuencia`,
)

/** The guide's event with that sequence. */
export async function buscarEvento(db: Db, guia: FilaGuia, secuencia: number): Promise<FilaEvento | undefined> {
  const [fila] = await db.consultar(POR_SECUENCIA, { ...deGuia(guia), secuencia })
  return fila
}

/** A new event, and what it makes of its guide. */
export interface Paso {
  tipo: TipoDeEvento
  /** The guide's state after the event; undefined if it stays. */
  estado?: Estado
  /** When what the event tells happened. */
  ocurrido_en: Date
  registrado_en: Date
  descripcion?: string | null
  motivo?: Motivo | null
  lat?: number | null
  lng?: number | null
  datos?: FilaEvento['datos']
  autor?: string | null
  idempotencia?: string | null
  huella?: string | null
  /** The courier who did it, or to whom the operator gave the parcel, by the name that he has now. */
  repartidor?: QuienReparte | undefined
  /** The courier who has the parcel from now on, if the event changes that. */
  custodio?: string
  /** The number of failed attempts, if the event changes it. */
  intentos?: number
  /** The place, if the event changes it; then whoever was asked for it is asked no longer. */
  ubicacion?: Lugar
  /** A short link whose place is to be looked up. */
  enlaceCorto?: { id: string; maps_url: string } | undefined
}

/** Everything that a guide says of its place. */
export type Lugar = Pick<
  FilaGuia,
  'ubicacion_estado' | 'ubicacion_origen' | 'ubicacion_lat' | 'ubicacion_lng' | 'ubicacion_extra' | 'advertencias'
>

/**
 * The parameters of a step: its event's columns, what the guide was and what becomes of it; a place of nulls stays as
 * it is.
 */
type ParametrosDePaso = Omit<EventoSinFoto, 'guia' | 'external_ref'> & {
  intentos: number
  ubicacion_estado: Lugar['ubicacion_estado'] | null
  ubicacion_origen: Lugar['ubicacion_origen']
  ubicacion_lat: number | null
  ubicacion_lng: number | null
  ubicacion_extra: Lugar['ubicacion_extra']
  /** The warnings as JSON, because node-postgres makes a list an array of PostgreSQL's. */
  advertencias: string | null
  enlace_corto_id: string | null
  maps_url: string | null
  ahora: Date
}

/** One guarded step: the guide as it was read goes on to its next sequence and writes its event, or nothing happens. */
const PASO = sentencia<ParametrosDePaso, FilaGuia & { webhooks: string[] | null }>(
  'eventos.paso',
  `with g as (
     update guia set secuencia = secuencia + 1, actualizado_en = :registrado_en::timestamptz, intentos = :intentos,
       estado = :estado, estado_en = case when estado = :estado then estado_en else :ocurrido_en::timestamptz end,
       ubicacion_estado = coalesce(:ubicacion_estado::text, ubicacion_estado),
       ubicacion_origen = case when :ubicacion_estado::text is null then ubicacion_origen else :ubicacion_origen end,
       ubicacion_lat = case when :ubicacion_estado::text is null then ubicacion_lat else :ubicacion_lat::float8 end,
       ubicacion_lng = case when :ubicacion_estado::text is null then ubicacion_lng else :ubicacion_lng::float8 end,
       ubicacion_extra = case when :ubicacion_estado::text is null then ubicacion_extra else :ubicacion_extra::jsonb end,
       advertencias = coalesce(:advertencias::jsonb, advertencias), custodio = coalesce(:custodio, custodio)
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and secuencia = :secuencia
     returning *
   ), e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, estado_anterior,
       descripcion, motivo, lat, lng, datos, autor, custodio, idempotencia, huella, foto, ocurrido_en, registrado_en)
     select comercio_id, modo, id, secuencia, guia, external_ref, :tipo, :estado, :estado_anterior, :descripcion, :motivo,
       :lat::float8, :lng::float8, :datos::jsonb, :autor, :custodio, :idempotencia, :huella, ${foto('g')},
       :ocurrido_en::timestamptz, :registrado_en::timestamptz from g
     returning n.*
   ), m as (
     update mensaje set abierta = false from g where :ubicacion_estado::text is not null
       and mensaje.comercio_id = g.comercio_id and mensaje.modo = g.modo and mensaje.guia_id = g.id and mensaje.abierta
   ), k as (
     insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
     select comercio_id, modo, id, :enlace_corto_id::uuid, :maps_url, :ahora::timestamptz
     from g where :enlace_corto_id::uuid is not null
     on conflict (comercio_id, modo, guia_id) do update set id = excluded.id, maps_url = excluded.maps_url, intentos = 0,
       proximo_en = excluded.proximo_en
   ), d as (${insertarEntregasDeWebhook('e', ':ahora::timestamptz')})
   select g.*, (select array_agg(webhook) from d) as webhooks from g`,
)

/**
 * Takes a step from the guide as it was read; undefined, and nothing written, when somebody else moved it meanwhile.
 */
export async function darPaso(
  { db, avisarTrabajo }: { db: Pick<Db, 'consultar'>; avisarTrabajo: AvisarTrabajo },
  guia: FilaGuia,
  paso: Paso,
): Promise<{ guia: FilaGuia; evento: EventoSinFoto } | undefined> {
  const evento = eventoDe(guia, paso)
  const { ubicacion, enlaceCorto } = paso
  const [movida] = await db.consultar(PASO, {
    ...evento,
    ahora: paso.registrado_en,
    intentos: paso.intentos ?? guia.intentos,
    ubicacion_estado: ubicacion?.ubicacion_estado ?? null,
    ubicacion_origen: ubicacion?.ubicacion_origen ?? null,
    ubicacion_lat: ubicacion?.ubicacion_lat ?? null,
    ubicacion_lng: ubicacion?.ubicacion_lng ?? null,
    ubicacion_extra: ubicacion?.ubicacion_extra ?? null,
    advertencias: ubicacion ? JSON.stringify(ubicacion.advertencias) : null,
    enlace_corto_id: enlaceCorto?.id ?? null,
    maps_url: enlaceCorto?.maps_url ?? null,
  })
  if (!movida) return undefined
  if (enlaceCorto) avisarTrabajo()
  const { comercio_id, modo } = guia
  if (movida.webhooks) avisarTrabajo(movida.webhooks.map((webhook) => ({ comercio_id, modo, webhook })))
  return {
    guia: movida,
    evento: { ...evento, guia: guia.guia, external_ref: guia.external_ref, secuencia: movida.secuencia },
  }
}

/** When something of a guide is registered: never before what was registered last, whatever clock that was dated by. */
const registroDe = (guia: FilaGuia, ahora: Date) => (ahora < guia.actualizado_en ? guia.actualizado_en : ahora)

/** The event of a step, still with the sequence that the guide has before it. */
const eventoDe = (guia: FilaGuia, paso: Paso): Omit<EventoSinFoto, 'guia' | 'external_ref'> => ({
  ...deGuia(guia),
  secuencia: guia.secuencia,
  tipo: paso.tipo,
  estado: paso.estado ?? guia.estado,
  estado_anterior: guia.estado,
  descripcion: paso.descripcion ?? null,
  motivo: paso.motivo ?? null,
  lat: paso.lat ?? null,
  lng: paso.lng ?? null,
  datos: paso.repartidor ? { ...paso.datos, repartidor: paso.repartidor } : (paso.datos ?? null),
  autor: paso.autor ?? null,
  custodio: paso.custodio ?? null,
  idempotencia: paso.idempotencia ?? null,
  huella: paso.huella ?? null,
  // What happens as it is registered happens then.
  ocurrido_en: paso.ocurrido_en === paso.registrado_en ? registroDe(guia, paso.registrado_en) : paso.ocurrido_en,
  registrado_en: registroDe(guia, paso.registrado_en),
})

/**
 * Reads a guide, decides and steps, up to three times: when somebody else moved the guide in between (`intentar` gives
 * undefined), all starts anew from what the guide is now.
 * @throws Problema 409 `carrera_perdida`
 */
export async function sinCarrera<T>(intentar: () => Promise<T | undefined>): Promise<T> {
  for (let intento = 0; intento < 3; intento++) {
    const hecho = await intentar()
    if (hecho !== undefined) return hecho
  }
  throw new Problema(
    'carrera_perdida',
    'Otras solicitudes cambian la guía al mismo tiempo. Repita la solicitud; es seguro.',
  )
}
