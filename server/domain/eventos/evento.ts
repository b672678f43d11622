import { type Db, type InJson, inTransaction, type Query, type RowOf, statement, withTexts } from '../../data/db.ts'
import type { evento } from '../../generated/contract/prisma/client.ts'
import type { Estado, Evento, Modo, Motivo, QuienReparte, TipoDeEvento } from '../../generated/contract/types/index.ts'
import { DESCRIPCIONES_DE_ESTADO, DESCRIPCIONES_DE_EVENTO } from '../../generated/contract/vocabulary.ts'
import { Problema } from '../../platform/errors.ts'
import { iso } from '../../platform/time/instant.ts'
import { currentTrace, inSpan } from '../../platform/tracing.ts'
import { type DecisionDeGuia, presentDecision } from '../estados/decision.ts'
import { SHAPE_IN_SQL, STORED_SHAPE } from '../records/bodyShape.ts'
import type { CorrectableColumn } from '../records/correccionCipher.ts'
import {
  CAMPOS,
  CORRECTABLE_COLUMNS,
  type Foto,
  fotoOf,
  fotoSql,
  type GuiaRow,
  guiaKeyOf,
} from '../records/guiaFields.ts'
import type { NotifyJobs } from '../records/webhookKey.ts'

type EventoData = {
  [Member in
    | 'estado_reportado'
    | 'numero_intento'
    | 'requiere_accion'
    | 'forzado'
    | 'tardio'
    | 'repartidor'
    | 'campos'
    | 'decision']: NonNullable<Evento[Member]>
}

/** Row of `evento`. Its columns have the contract's names. */
export type EventoRow = RowOf<
  evento,
  {
    modo: Modo
    tipo: TipoDeEvento
    estado: Estado
    estado_anterior: Estado | null
    motivo: Motivo | null
    /**
     * Fields that only some event types have. Merchants do not see three of them: `rectifica`, the sequence of the event
     * that a `guia.rectificada` undoes; `asignado_por`, who had assigned the guide to the courier who takes it; and
     * `traspasado_por`, the courier who hands the parcel over in a `guia.traspasada`.
     */
    datos: (Partial<EventoData> & { rectifica?: number; asignado_por?: string; traspasado_por?: QuienReparte }) | null
    foto: Foto
  }
>

/**
 * Event that was just committed, with its guide right after the event and the codes of the endpoints that receive it.
 */
export interface RecentEvento {
  guia: GuiaRow
  evento: EventoRow
  webhooks: readonly string[]
  /**
   * Time when the write of the event began, in milliseconds of the process's clock. A read after this time may already
   * have returned the event.
   */
  desde: number
}

/** Event with everything that the contract shows of it, without what only webhook bodies need. */
export type EventoWithoutFoto = Omit<EventoRow, 'foto' | 'forma' | 'cambios' | 'traza'>

/** Columns of `evento` that the contract shows. */
export const SHOWN_EVENTO_COLUMNS = [
  ...(['guia', 'external_ref', 'secuencia', 'tipo', 'estado', 'estado_anterior', 'descripcion', 'motivo'] as const),
  ...(['lat', 'lng', 'datos', 'ocurrido_en', 'registrado_en'] as const),
] as const

/** Columns of an event that the contract shows, with timestamps as strings. */
export type EventoInJson = InJson<Pick<EventoRow, (typeof SHOWN_EVENTO_COLUMNS)[number]>>

/** SQL select list for {@link EventoInJson}. */
export const EVENTO_COLUMNS = withTexts(SHOWN_EVENTO_COLUMNS)

/**
 * SQL of the outbox: inserts one delivery for each event of `e` and each endpoint that subscribes to the event's type.
 * `e` names a CTE that inserts into `evento` with `returning *`. This SQL is another CTE of the same statement, so that
 * events and deliveries commit together or not at all. Deliveries of a paused endpoint wait. A disabled endpoint gets
 * no deliveries; its merchant can recover them later.
 * @param now SQL of the time when the writer read its clock; by default the events' own time
 */
export const insertWebhookAvisos = (e: string, now?: string) => `
  insert into webhook_aviso as n (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, creado_en)
  select w.comercio_id, w.modo, w.webhook, e.guia_id, e.secuencia, 'evt_' || e.guia || '_' || e.secuencia, e.tipo,
    'pendiente', 'automatica', ${now ? entregaDueAt(e, now) : `${e}.registrado_en`}, e.registrado_en
  from ${e} e join webhook w on w.comercio_id = e.comercio_id and w.modo = e.modo
  where w.estado in ('activo', 'pausado') and ${subscribesTo('w', 'e')}
  returning n.comercio_id, n.modo, n.webhook, n.guia_id`

/**
 * SQL of the time at which the deliveries of an event are due: the event's time, so that a guide's deliveries are due in
 * the order of its events. The writer may have read its clock before an earlier event, and then waited for the guide; a
 * statement waits for 7 seconds at most. An event whose time is further ahead follows a wrong clock, and is due at once.
 */
const entregaDueAt = (e: string, now: string) =>
  `case when ${e}.registrado_en < ${now} + interval '10 seconds' then ${e}.registrado_en else ${now} end`

/** SQL condition that the types of the endpoint `w` include the type of the event `e`, by name or by wildcard. */
export const subscribesTo = (w: string, e: string) =>
  `${w}.tipos && array['*', split_part(${e}.tipo, '.', 1) || '.*', ${e}.tipo]`

/** SQL condition that the event `e` has not been undone by a later event. */
export const IS_NOT_UNDONE = `not exists (select 1 from evento r where r.comercio_id = e.comercio_id
       and r.modo = e.modo and r.guia_id = e.guia_id and (r.datos ->> 'rectifica')::int = e.secuencia)`

/** Returns the guide as it was right after the event, without later changes. */
export const guiaAfterEvento = (guia: GuiaRow, evento: EventoRow): GuiaRow => ({
  ...guia,
  ...evento.foto,
  estado: evento.estado,
  secuencia: evento.secuencia,
  actualizado_en: evento.registrado_en,
})

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ...DESCRIPCIONES_DE_EVENTO,
  ...Object.fromEntries(Object.entries(DESCRIPCIONES_DE_ESTADO).map(([estado, text]) => [`guia.${estado}`, text])),
}

/**
 * Returns an event in the contract's form. The guide's code and the sequence identify the event, so they form its
 * public id.
 */
export function presentEvento(row: EventoWithoutFoto | EventoInJson): Evento {
  return {
    id: `evt_${row.guia}_${row.secuencia}`,
    tipo: row.tipo,
    guia: row.guia,
    external_ref: row.external_ref,
    estado: row.estado,
    estado_anterior: row.estado_anterior,
    secuencia: row.secuencia,
    descripcion: row.descripcion ?? DESCRIPTIONS[row.tipo] ?? row.tipo,
    motivo: row.motivo,
    lat: row.lat,
    lng: row.lng,
    ocurrido_en: iso(row.ocurrido_en),
    registrado_en: iso(row.registrado_en),
    estado_reportado: row.datos?.estado_reportado ?? null,
    numero_intento: row.datos?.numero_intento ?? null,
    requiere_accion: row.datos?.requiere_accion ?? null,
    forzado: row.datos?.forzado ?? null,
    tardio: row.tipo === 'guia.escaneo_tardio' || row.datos?.tardio === true,
    repartidor: row.datos?.repartidor ?? null,
    campos: row.datos?.campos ?? null,
    decision: presentDecision(row.datos?.decision ?? null),
  }
}

/**
 * Returns the first event of a guide, with the values that the statement that creates the guide inserts.
 * @param traza `traceparent` of the span that creates the guide
 */
export function buildCreationEvento(guia: GuiaRow, traza: string | null): EventoRow {
  const { creado_en } = guia
  return {
    ...guiaKeyOf(guia),
    secuencia: 1,
    guia: guia.guia,
    tipo: 'guia.aceptado',
    estado: 'aceptado',
    external_ref: guia.external_ref,
    estado_anterior: null,
    descripcion: null,
    motivo: null,
    lat: null,
    lng: null,
    datos: null,
    autor: null,
    custodio: null,
    idempotencia: null,
    huella: null,
    foto: fotoOf(guia),
    forma: STORED_SHAPE,
    cambios: null,
    ocurrido_en: creado_en,
    registrado_en: creado_en,
    traza,
  }
}

const BY_SECUENCIA = statement<Pick<EventoRow, 'comercio_id' | 'modo' | 'guia_id' | 'secuencia'>, EventoRow>(
  'eventos.bySecuencia',
  'merchant',
  `select * from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and secuencia = :secuencia`,
)

/** Returns the guide's event with this sequence, or undefined. */
export async function findEvento(db: Db, guia: GuiaRow, secuencia: number): Promise<EventoRow | undefined> {
  const [row] = await db.query(BY_SECUENCIA, { ...guiaKeyOf(guia), secuencia })
  return row
}

/** New event, with the changes that it makes to its guide. */
export interface GuiaStep {
  tipo: TipoDeEvento
  /** State of the guide after the event; undefined if the state does not change. */
  estado?: Estado
  /** Time when the reported fact happened. */
  ocurrido_en: Date
  registrado_en: Date
  descripcion?: string | null
  motivo?: Motivo | null
  lat?: number | null
  lng?: number | null
  datos?: EventoRow['datos']
  autor?: string | null
  idempotencia?: string | null
  huella?: string | null
  /**
   * Courier who performed the action, or who received the parcel from the operator, with the courier's current name.
   */
  repartidor?: QuienReparte | undefined
  /** Courier who has the parcel after the event; undefined if the event does not change the courier. */
  custodio?: string
  /** Number of failed attempts after the event; undefined if the event does not change the number. */
  intentos?: number
  /**
   * Location after the event; undefined if the event does not change the location. A confirmed location closes the
   * guide's open messages, which ask the recipient for the location. A corrected telephone closes those to the former one.
   */
  ubicacion?: GuiaUbicacion
  /** Short link from which a job looks up the location. */
  shortLink?: { id: string; maps_url: string } | undefined
  /** Corrected values of the guide; undefined if the event corrects nothing. */
  correccion?: CorreccionDeGuia
  /** Decision about the parcel after the event; undefined if the event does not change it. */
  decision?: DecisionDeGuia | undefined
  /** Values that the guide's columns had before the undone event; undefined unless this event undoes another one. */
  restored?: RestoredGuiaColumns
}

/** Columns of a guide that undoing an event restores. */
export type RestoredGuiaColumns = Pick<GuiaRow, 'custodio' | 'estado_en'>

/** Event, and events that follow from it in the same transaction. */
export interface StepWithConsequences extends GuiaStep {
  followUps?: readonly (GuiaStep & {
    /** Queues background work, right after the event was written. */
    write?: ((query: Query, guia: GuiaRow) => Promise<unknown>) | undefined
  })[]
}

/** Correction that an event applies to its guide. */
export interface CorreccionDeGuia {
  /** Values of all columns that a correction may change, changed or not. */
  values: Pick<GuiaRow, CorrectableColumn>
  /** Warnings of the guide after the correction. */
  advertencias: GuiaRow['advertencias']
  /** Old and new values, encrypted (`encryptChanges`). */
  cambios: Buffer
}

/** Columns of a guide that describe its location. */
export type GuiaUbicacion = Pick<
  GuiaRow,
  'ubicacion_estado' | 'ubicacion_origen' | 'ubicacion_lat' | 'ubicacion_lng' | 'ubicacion_extra' | 'advertencias'
>

/**
 * Parameters of {@link STEP}: columns of the new event, the guide's state before it, and the guide's new values. The
 * location does not change if `ubicacion_estado` is null.
 */
type StepParameters = Omit<EventoWithoutFoto, 'guia' | 'external_ref'> & {
  intentos: number
  ubicacion_estado: GuiaUbicacion['ubicacion_estado'] | null
  ubicacion_origen: GuiaUbicacion['ubicacion_origen']
  ubicacion_lat: number | null
  ubicacion_lng: number | null
  ubicacion_extra: GuiaUbicacion['ubicacion_extra']
  /** Null: the decision about the parcel does not change. */
  decision: GuiaRow['decision']
  decision_vence: Date | null
  /** Warnings as JSON text, because node-postgres converts a JavaScript array to a PostgreSQL array. */
  advertencias: string | null
  enlace_corto_id: string | null
  /** Short link whose location a job looks up. */
  enlace_corto: string | null
  now: Date
  datos_borrados_en: Date | null
  traza: EventoRow['traza']
}

type GuiaWithWebhooks = GuiaRow & { webhooks: string[] | null }

/**
 * SQL that writes a new event and its changes to the guide. If the guide still has the sequence that was read, and its
 * personal data were not erased meanwhile, increments the sequence and inserts the event. Otherwise writes nothing.
 * @param asignaciones more assignments to the guide's row, each with a comma before it
 * @param estado_en SQL of the time at which the guide's state began
 * @param custodio SQL of the courier who has the parcel
 * @param lugar SQL of the place where the event happened, latitude and longitude
 * @param cambios SQL of the event's encrypted values of a correction
 */
const buildStepSql = ({
  asignaciones = '',
  estado_en = 'case when estado = :estado then estado_en else :ocurrido_en::timestamptz end',
  custodio = 'coalesce(:custodio, custodio)',
  lugar = ':lat::float8, :lng::float8',
  cambios = 'null::bytea',
}) => `with g as (
     update guia set secuencia = secuencia + 1, actualizado_en = :registrado_en::timestamptz, intentos = :intentos,
       estado = :estado, estado_en = ${estado_en},
       ubicacion_estado = coalesce(:ubicacion_estado::text, ubicacion_estado),
       ubicacion_origen = case when :ubicacion_estado::text is null then ubicacion_origen else :ubicacion_origen end,
       ubicacion_lat = case when :ubicacion_estado::text is null then ubicacion_lat else :ubicacion_lat::float8 end,
       ubicacion_lng = case when :ubicacion_estado::text is null then ubicacion_lng else :ubicacion_lng::float8 end,
       ubicacion_extra = case when :ubicacion_estado::text is null then ubicacion_extra else :ubicacion_extra::jsonb end,
       decision = coalesce(:decision::jsonb, decision),
       decision_vence = case when :decision::jsonb is null then decision_vence else :decision_vence::timestamptz end,
       advertencias = coalesce(:advertencias::jsonb, advertencias), custodio = ${custodio}${asignaciones}
     where comercio_id = :comercio_id and modo = :modo and id = :guia_id and secuencia = :secuencia
       and datos_borrados_en is not distinct from :datos_borrados_en::timestamptz
     returning *
   ), e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, estado_anterior,
       descripcion, motivo, lat, lng, datos, autor, custodio, idempotencia, huella, foto, forma, cambios, ocurrido_en,
       registrado_en, traza)
     select comercio_id, modo, id, secuencia, guia, external_ref, :tipo, :estado, :estado_anterior, :descripcion, :motivo,
       ${lugar}, :datos::jsonb, :autor, :custodio, :idempotencia, :huella, ${fotoSql('g')},
       ${SHAPE_IN_SQL}, ${cambios}, :ocurrido_en::timestamptz, :registrado_en::timestamptz, :traza from g
     returning n.*
   ), m as (
     update mensaje set abierta = false from g where :ubicacion_estado::text is not null
       and mensaje.comercio_id = g.comercio_id and mensaje.modo = g.modo and mensaje.guia_id = g.id and mensaje.abierta
       and (g.ubicacion_estado = 'confirmada' or mensaje.telefono is distinct from g.telefono)
   ), k as (
     insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
     select comercio_id, modo, id, :enlace_corto_id::uuid, :enlace_corto, :now::timestamptz
     from g where :enlace_corto_id::uuid is not null
     on conflict (comercio_id, modo, guia_id) do update set id = excluded.id, maps_url = excluded.maps_url, intentos = 0,
       proximo_en = excluded.proximo_en
   ), d as (${insertWebhookAvisos('e', ':now::timestamptz')})
   select g.*, (select array_agg(webhook) from d) as webhooks from g`

const STEP = statement<StepParameters, GuiaWithWebhooks>('eventos.step', 'merchant', buildStepSql({}))

const RECTIFY = statement<
  StepParameters & { previous_custodio: GuiaRow['custodio']; previous_estado_en: Date },
  GuiaWithWebhooks
>(
  'eventos.rectify',
  'merchant',
  buildStepSql({ estado_en: ':previous_estado_en::timestamptz', custodio: ':previous_custodio' }),
)

const CORRECT = statement<
  StepParameters & Omit<CorreccionDeGuia['values'], 'recogida'> & { recogida: string; cambios: Buffer },
  GuiaWithWebhooks
>(
  'eventos.correct',
  'merchant',
  buildStepSql({
    asignaciones: `, ultima_correccion = secuencia + 1${CORRECTABLE_COLUMNS.map((column) => `, ${column} = :${column}::${CAMPOS[column].tipo}`).join('')}`,
    // A correction happens at no place. In this statement, `:lat` and `:lng` are the guide's new destination, so they
    // must not become the event's place.
    lugar: 'null, null',
    cambios: ':cambios::bytea',
  }),
)

/**
 * Writes a new event, and its changes to the guide, if the guide has not changed since it was read.
 * @returns the guide and the event; undefined, with nothing written, if another transaction changed the guide since the
 * read
 */
export const takeStep = (deps: StepDeps, guia: GuiaRow, step: GuiaStep): Promise<TakenStep | undefined> =>
  inSpan('event', { attributes: { 'guias.guia': guia.guia, 'guias.tipo': step.tipo } }, () =>
    writeEvento(deps, guia, step),
  )

interface StepDeps {
  db: Pick<Db, 'query'>
  notifyJobs: NotifyJobs
}

/** Guide right after an event, and the event. */
interface TakenStep {
  guia: GuiaRow
  evento: EventoWithoutFoto
}

async function writeEvento(
  { db, notifyJobs }: StepDeps,
  guia: GuiaRow,
  step: GuiaStep,
): Promise<TakenStep | undefined> {
  const evento = toEventoRow(guia, step)
  const { ubicacion, shortLink, correccion, decision, restored } = step
  const advertencias = correccion?.advertencias ?? ubicacion?.advertencias
  const parameters: StepParameters = {
    ...evento,
    now: step.registrado_en,
    datos_borrados_en: guia.datos_borrados_en,
    intentos: step.intentos ?? guia.intentos,
    ubicacion_estado: ubicacion?.ubicacion_estado ?? null,
    ubicacion_origen: ubicacion?.ubicacion_origen ?? null,
    ubicacion_lat: ubicacion?.ubicacion_lat ?? null,
    ubicacion_lng: ubicacion?.ubicacion_lng ?? null,
    ubicacion_extra: ubicacion?.ubicacion_extra ?? null,
    decision: decision?.valor ?? null,
    decision_vence: decision?.expiry ?? null,
    advertencias: advertencias ? JSON.stringify(advertencias) : null,
    enlace_corto_id: shortLink?.id ?? null,
    enlace_corto: shortLink?.maps_url ?? null,
    traza: currentTrace(),
  }
  const [changedGuia] = correccion
    ? await db.query(CORRECT, {
        ...parameters,
        ...correccion.values,
        recogida: JSON.stringify(correccion.values.recogida),
        cambios: correccion.cambios,
      })
    : restored
      ? await db.query(RECTIFY, {
          ...parameters,
          previous_custodio: restored.custodio,
          previous_estado_en: restored.estado_en,
        })
      : await db.query(STEP, parameters)
  if (!changedGuia) return undefined
  if (shortLink) notifyJobs()
  const { comercio_id, modo } = guia
  if (changedGuia.webhooks) notifyJobs(changedGuia.webhooks.map((webhook) => ({ comercio_id, modo, webhook })))
  return {
    guia: changedGuia,
    evento: { ...evento, guia: guia.guia, external_ref: guia.external_ref, secuencia: changedGuia.secuencia },
  }
}

/**
 * Writes an event like {@link takeStep}, then the events that follow from it, and runs `write`, all in one
 * transaction. Notifies workers after the commit.
 * @returns the guide after all events, and the first event; undefined, with nothing written, if another transaction
 * changed the guide since the read
 */
export async function takeStepAnd(
  { db, notifyJobs }: { db: Db; notifyJobs: NotifyJobs },
  guia: GuiaRow,
  { followUps = [], ...step }: StepWithConsequences,
  write: (query: Query, evento: EventoWithoutFoto) => Promise<unknown> = async () => {},
): ReturnType<typeof takeStep> {
  const avisos: Parameters<NotifyJobs>[] = []
  const result = await inTransaction(db.forComercio(guia.comercio_id), async (query) => {
    avisos.length = 0
    const collectAvisos: NotifyJobs = (...aviso) => avisos.push(aviso)
    const stepDeps = { db: { query }, notifyJobs: collectAvisos }
    const takenStep = await takeStep(stepDeps, guia, step)
    if (!takenStep) return undefined
    let currentGuia = takenStep.guia
    // This transaction holds the lock on the guide's row, so no other transaction can have changed it.
    for (const { write: writeJob, ...other } of followUps) {
      currentGuia = (await takeStep(stepDeps, currentGuia, other))!.guia
      if (!writeJob) continue
      await writeJob(query, currentGuia)
      collectAvisos()
    }
    await write(query, takenStep.evento)
    return { guia: currentGuia, evento: takenStep.evento }
  })
  for (const aviso of avisos) notifyJobs(...aviso)
  return result
}

/**
 * Returns the registration time of the guide's next event. It is never before the guide's last change, whose time may
 * come from another clock.
 */
const registrationTimeOf = (guia: GuiaRow, now: Date) => (now < guia.actualizado_en ? guia.actualizado_en : now)

/** Returns the row of a new event. Its `secuencia` is still the guide's sequence before the event. */
const toEventoRow = (guia: GuiaRow, step: GuiaStep): Omit<EventoWithoutFoto, 'guia' | 'external_ref'> => ({
  ...guiaKeyOf(guia),
  secuencia: guia.secuencia,
  tipo: step.tipo,
  estado: step.estado ?? guia.estado,
  estado_anterior: guia.estado,
  descripcion: step.descripcion ?? null,
  motivo: step.motivo ?? null,
  lat: step.lat ?? null,
  lng: step.lng ?? null,
  datos: step.repartidor ? { ...step.datos, repartidor: step.repartidor } : (step.datos ?? null),
  autor: step.autor ?? null,
  custodio: step.custodio ?? null,
  idempotencia: step.idempotencia ?? null,
  huella: step.huella ?? null,
  // The same Date in both fields means that the event happens now. Both fields then get the same corrected time.
  ocurrido_en:
    step.ocurrido_en === step.registrado_en ? registrationTimeOf(guia, step.registrado_en) : step.ocurrido_en,
  registrado_en: registrationTimeOf(guia, step.registrado_en),
})

/**
 * Calls `attempt` until it returns a value, at most three times. `attempt` reads a guide and writes an event. It
 * returns undefined if another transaction changed the guide since the read; the next call starts from the new state.
 * @throws Problema 409 `carrera_perdida` if all three calls return undefined
 */
export async function retryLostRaces<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let intento = 0; intento < 3; intento++) {
    const result = await attempt()
    if (result !== undefined) return result
  }
  throw new Problema(
    'carrera_perdida',
    'Otras solicitudes cambian la guía al mismo tiempo. Repita la solicitud; es seguro.',
  )
}
