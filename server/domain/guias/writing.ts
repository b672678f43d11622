import { type Db, inTransaction, statement } from '../../data/db.ts'
import { codeLetterOf, partKeyOf, queryByComercio } from '../../data/partQueries.ts'
import { type GroupOwner, type GroupRequest, Groups } from '../../data/queue/groups.ts'
import type { CanalDeMensaje, Modo } from '../../generated/contract/types/index.ts'
import { constraintOf, Problema, translateError } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { readMapLink } from '../../platform/maps/links.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { inSpan } from '../../platform/tracing.ts'
import { buildCreationEvento, insertWebhookAvisos, type RecentEvento } from '../eventos/evento.ts'
import { KEY_COLUMNS, type RequestKey, SAVE_KEYS } from '../idempotencia/idempotencia.ts'
import { type StoredAdvertencia, warnOfEnd } from '../records/advertencias.ts'
import { SHAPE_IN_SQL } from '../records/bodyShape.ts'
import {
  buildNewGuiaRow,
  fotoSql,
  type GuiaData,
  type GuiaRow,
  NEW_GUIA_COLUMNS,
  RECORDSET,
} from '../records/guiaFields.ts'
import { dueAtCreationSql } from '../records/locationRequest.ts'
import { isSameMetadata } from '../records/metadatos.ts'
import { digestsOf, findDifferences } from './digests.ts'

/** Result for one guide: created, already existing with the same content, or rejected. */
export type GuiaVerdict = { row: GuiaRow; repetida: boolean } | { problema: Problema }

/** Key of a request whose guides have no reference. The key is stored in the statement that writes the guides. */
export interface KeyOfGuides {
  row: RequestKey['row']
  /** Returns the stored identifier of the request's effect, from the code of each guide; undefined for a rejected one. */
  identificador: (codeOf: (datos: GuiaData) => string | undefined) => string
}

/** Creates guides; concurrent calls share statements. */
export interface GuideWriter {
  /**
   * Creates guides. A faulty guide does not fail the others. Returns the results in the order of `datos`.
   * @param key creates the guides only if no other request has the key; otherwise each result is a problem
   */
  create(
    comercioId: string,
    modo: Modo,
    datos: readonly GuiaData[],
    key?: KeyOfGuides | undefined,
  ): Promise<GuiaVerdict[]>
  /** Returns the elements of `datos` whose `external_ref` already belongs to a guide. */
  readRepeated(comercioId: string, modo: Modo, datos: readonly GuiaData[]): Promise<ReadonlySet<GuiaData>>
}

/** Maximum guides per statement, and maximum concurrent statements per queue (measured: higher values gain nothing). */
const GROUP_SIZE = 100
const MAX_EXCHANGES = 2

const MENSAJES_AND_LINKS = `, m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select comercio_id, modo, id, 1, x.mensaje_id, x.guia, x.ubicacion_extra #>> '{solicitud,canal}',
       'solicitud_ubicacion', x.telefono, 'pendiente',
       ${dueAtCreationSql('modo', "x.ubicacion_extra #>> '{solicitud,canal}'", 'x.creado_en')}, x.creado_en
     from g join x using (comercio_id, modo, id) where x.mensaje_id is not null
   ), c as (
     insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
     select comercio_id, modo, id, x.enlace_corto_id, x.maps_url, x.creado_en
     from g join x using (comercio_id, modo, id) where x.enlace_corto_id is not null
   )`

/**
 * SQL of the statement that creates a group of guides. Guides, index rows, events and webhook deliveries commit
 * together or not at all. With `tasksSql`, so do messages and short links to follow. `ON CONFLICT` names only the
 * reference: a collision of codes raises an error and is never taken for a replay. Rows are inserted in a fixed order,
 * so that two groups with common references wait for each other instead of deadlocking.
 * @param trace SQL of the trace of the guide's event
 * @param cte SQL of a common table expression that stores keys
 * @param whereClause condition of the rows whose key was stored
 */
const buildInsertSql = (
  tasksSql: string,
  trace = 'null',
  { cte, whereClause } = { cte: '', whereClause: '' },
) => `with x as materialized (
     select * from json_to_recordset(:guias::json) as x(${RECORDSET}, mensaje_id uuid, enlace_corto_id uuid, traza text${cte && ', clave int'})
   )${cte}, g as (
     insert into guia as n (${NEW_GUIA_COLUMNS.join(', ')}, estado, estado_en, secuencia, actualizado_en)
     select ${NEW_GUIA_COLUMNS.join(', ')}, 'aceptado', creado_en, 1, creado_en
     from x ${whereClause} order by comercio_id, modo, external_ref, id
     on conflict (comercio_id, modo, external_ref) do nothing
     returning n.comercio_id, n.modo, n.id, n.guia, n.external_ref, n.creado_en, n.advertencias, n.ubicacion_estado,
       n.ubicacion_origen, n.ubicacion_lat, n.ubicacion_lng, n.ubicacion_extra
   ), i as (
     insert into guia_indice (guia, comercio_id, modo, id) select guia, comercio_id, modo, id from g
   ), e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, foto, forma,
       ocurrido_en, registrado_en, traza)
     select comercio_id, modo, id, 1, guia, external_ref, 'guia.aceptado', 'aceptado', ${fotoSql('g', { intentos: '0', decision: 'null' })}, ${SHAPE_IN_SQL},
       creado_en, creado_en, ${trace} from g
     returning n.comercio_id, n.modo, n.guia_id, n.secuencia, n.guia, n.tipo, n.registrado_en
   ), d as (${insertWebhookAvisos('e')})${tasksSql}
   select g.id, d.webhooks from g
   left join (select guia_id, array_agg(webhook) as webhooks from d group by guia_id) d on d.guia_id = g.id`

const INSERT = statement<{ guias: string }, InsertedGuia>('guias.insert', 'part', buildInsertSql(''))
const INSERT_WITH_TASKS = statement<{ guias: string }, InsertedGuia>(
  'guias.insertWithTasks',
  'part',
  buildInsertSql(MENSAJES_AND_LINKS),
)

// Separate statements for guides whose creation is traced. The statements for untraced creations are therefore cheaper.
const TRACE_OF_X = '(select x.traza from x where x.id = g.id)'
const INSERT_TRACED = statement<{ guias: string }, InsertedGuia>(
  'guias.insertTraced',
  'part',
  buildInsertSql('', TRACE_OF_X),
)
const INSERT_TRACED_WITH_TASKS = statement<{ guias: string }, InsertedGuia>(
  'guias.insertTracedWithTasks',
  'part',
  buildInsertSql(MENSAJES_AND_LINKS, TRACE_OF_X),
)

/**
 * Inserts guides of which some have a key. Stores the keys first, in a fixed order, and then only the guides whose key
 * was stored. A key that another transaction is storing is awaited.
 */
const INSERT_WITH_KEYS = statement<{ guias: string; claves: string }, InsertedGuia>(
  'guias.insertWithKeys',
  'part',
  buildInsertSql(MENSAJES_AND_LINKS, TRACE_OF_X, {
    cte: `, y as materialized (
     select * from json_to_recordset(:claves::json) as y(n int, ${KEY_COLUMNS})
   ), k as (${SAVE_KEYS} returning c.identificador)`,
    whereClause: 'where x.clave is null or x.clave in (select y.n from y join k using (identificador))',
  }),
)

const EXISTING = statement<
  { comercios: readonly string[]; modos: readonly Modo[]; external_refs: readonly (string | null)[] },
  GuiaRow
>(
  'guias.existing',
  'part',
  `select g.* from unnest(:comercios::uuid[], :modos::text[], :external_refs::text[]) x(comercio_id, modo, external_ref)
   join guia g on g.comercio_id = x.comercio_id and g.modo = x.modo and g.external_ref = x.external_ref`,
)

interface InsertedGuia {
  id: string
  /** Webhook endpoints that receive the guide's event; null if none. */
  webhooks: string[] | null
}

/** Owner of a creation request: one merchant in one mode. */
interface CreationOwner extends GroupOwner {
  comercioId: string
  modo: Modo
  /** `traceparent` of the span that creates the guides; undefined if it is not traced. */
  traza?: string | undefined
  key: KeyOfGuides | undefined
}

/** New guide, with the id of its message or of its short link, if any. */
type NewGuia = GuiaRow & {
  mensaje_id?: string
  enlace_corto_id?: string
  traza?: string | undefined
  /** Position in its group of the request whose key the guide has; undefined without a key. */
  clave?: number
}

interface WriterDeps {
  db: Db
  /**
   * Database whose sessions have a `lock_timeout`. Used for groups that other merchants may wait for, so that one
   * merchant's lock does not block them.
   */
  impatientDb: Db
  log: Log
  secretos: Secrets
  newId: () => { id: string; creado_en: Date }
  /** @param firstCharacter first character of the code; random if omitted */
  newCode: (firstCharacter?: string) => string
  notifyJobs: () => void
  /** Passes events that were just committed to the webhook sender. */
  dispatch: (recentEventos: readonly RecentEvento[]) => void
  /** Returns the channel through which recipients are asked for the location, by mode. */
  channelOf: (modo: Modo) => CanalDeMensaje
}

/**
 * Creates the writer of new guides. Concurrent requests, also of different merchants, share one statement per group.
 */
export function createGuideWriter(deps: WriterDeps): GuideWriter {
  const groups = new Groups<CreationOwner, GuiaData, GuiaVerdict>({
    max: GROUP_SIZE,
    concurrency: MAX_EXCHANGES,
    groupKey: ({ comercioId }) => partKeyOf(deps.db, comercioId),
    perform: (requests, isAlone) => insertOrSplit(deps, requests, isAlone),
    isSingleOwnerError: (error) => isDataError(error) || isLockError(error),
  })
  return {
    create: (comercioId, modo, datos, key) =>
      inSpan('event', { attributes: { 'guias.tipo': 'guia.aceptado' } }, (span) =>
        groups.request({ clave: `${comercioId}:${modo}`, comercioId, modo, traza: span?.traceparent, key }, datos),
      ),
    async readRepeated(comercio_id, modo, datos) {
      const references = datos.map(({ external_ref }) => ({ comercio_id, modo, external_ref }))
      const existentes = await readExisting(deps.db.asRole('guias_api', [comercio_id]), references)
      return new Set(datos.filter((_guiaData, i) => existentes.has(keyOf(references[i]!))))
    },
  }
}

type CreationGroup = readonly GroupRequest<CreationOwner, GuiaData>[]

/**
 * Inserts a group. If a data error fails a group of a single merchant, inserts its guides one by one, so that only the
 * faulty guide fails.
 */
async function insertOrSplit(deps: WriterDeps, requests: CreationGroup, isAlone: boolean): Promise<GuiaVerdict[]> {
  try {
    return await insertGroup(deps, requests, isAlone)
  } catch (error) {
    if (!isAlone || !isDataError(error)) throw error
    const guias = requests.flatMap(({ dueno, datos }) => datos.map((guiaData) => ({ dueno, datos: [guiaData] })))
    if (guias.length === 1) return [{ problema: translateError(error) }]
    if (requests.some(({ dueno }) => dueno.key)) return insertWithKeys(deps, requests, error)
    deps.log.warn({ err: error, guias: guias.length }, 'a group of creations failed; writing row by row')
    const verdicts: GuiaVerdict[] = []
    for (const item of guias) verdicts.push(...(await insertOrSplit(deps, [item], true)))
    return verdicts
  }
}

async function insertGroup(deps: WriterDeps, requests: CreationGroup, isAlone: boolean): Promise<GuiaVerdict[]> {
  const comercios = [...new Set(requests.map(({ dueno }) => dueno.comercioId))]
  const db = (isAlone ? deps.db : deps.impatientDb).asRole('guias_api', comercios).forComercio(comercios[0]!)
  const newCode = deps.newCode.bind(undefined, await codeLetterOf(db))
  const newGuias = requests.flatMap(({ dueno, datos }) =>
    datos.map((guiaData) => buildNewGuia(deps, dueno, guiaData, newCode())),
  )
  const keys = keyRowsOf(requests, newGuias)
  const desde = performance.now()
  const inserted = await executeInsert(newCode, newGuias, db, keys)
  const webhooksOf = new Map(inserted.map(({ id, webhooks }) => [id, webhooks]))
  const creadas = newGuias.filter(({ id }) => webhooksOf.has(id))
  const repetidas = newGuias.filter(({ id, clave }) => !webhooksOf.has(id) && clave === undefined)
  if (creadas.some(hasTasks)) deps.notifyJobs()
  const recentEventos = creadas.flatMap((guia): RecentEvento[] => {
    const webhooks = webhooksOf.get(guia.id)
    return webhooks ? [{ guia, evento: buildCreationEvento(guia, guia.traza ?? null), webhooks, desde }] : []
  })
  if (recentEventos.length > 0) deps.dispatch(recentEventos)
  const existentes =
    repetidas.length > 0 ? await readExisting(deps.db.asRole('guias_api', comercios), repetidas) : undefined
  const datos = requests.flatMap(({ datos }) => datos)
  if (creadas.length === newGuias.length) return newGuias.map((row) => ({ row, repetida: false }))
  return newGuias.map((newGuia, i) => {
    if (webhooksOf.has(newGuia.id)) return { row: newGuia, repetida: false }
    if (newGuia.clave !== undefined) return { problema: keyTaken() }
    return repeatCreation(deps.secretos, existentes!.get(keyOf(newGuia)), datos[i]!)
  })
}

/**
 * Makes the problem of a guide whose key another request has. The caller answers with the guide of that request; this
 * problem is sent only if the key was erased meanwhile.
 */
const keyTaken = () =>
  new Problema(
    'idempotencia_en_conflicto',
    'Otra solicitud con esta Idempotency-Key acaba de terminar. Repita la solicitud.',
  )

/** Rows of the keys of a group, built from the guides' codes; undefined if no request has a key. */
type KeyRows = (() => object[]) | undefined

/** Marks the guides that have a key, and returns the function that builds the keys' rows. */
function keyRowsOf(requests: CreationGroup, newGuias: readonly NewGuia[]): KeyRows {
  if (!requests.some(({ dueno }) => dueno.key)) return undefined
  const withKey: (() => object)[] = []
  let from = 0
  for (const [n, { dueno, datos }] of requests.entries()) {
    const requestGuias = newGuias.slice(from, from + datos.length)
    from += datos.length
    const { key } = dueno
    if (!key) continue
    for (const newGuia of requestGuias) newGuia.clave = n
    withKey.push(() => {
      const codes = new Map(datos.map((guiaData, i) => [guiaData, requestGuias[i]!.guia]))
      return { ...key.row, n, identificador: key.identificador((guiaData) => codes.get(guiaData)) }
    })
  }
  return () => withKey.map((item) => item())
}

/** Error that rolls back a trial. */
class RolledBack extends Error {}

/**
 * Writes the requests of one merchant one by one after `error`. A request with a key is written as a whole, because its
 * key commits with all of its guides. Trials that are rolled back find the guides that fail by themselves.
 */
async function insertWithKeys(deps: WriterDeps, requests: CreationGroup, error: unknown): Promise<GuiaVerdict[]> {
  const verdicts: GuiaVerdict[] = []
  for (const { dueno, datos } of requests) {
    const fallidas = new Map<GuiaData, Problema>()
    for (const guiaData of datos) {
      const problema = await tryWrite(deps, { ...dueno, key: undefined }, guiaData)
      if (problema) fallidas.set(guiaData, problema)
    }
    const validGuias = datos.filter((guiaData) => !fallidas.has(guiaData))
    if (validGuias.length === datos.length && requests.length === 1) throw error
    const written = validGuias.length > 0 ? await insertOrSplit(deps, [{ dueno, datos: validGuias }], true) : []
    verdicts.push(
      ...datos.map((guiaData) => (fallidas.has(guiaData) ? { problema: fallidas.get(guiaData)! } : written.shift()!)),
    )
  }
  return verdicts
}

/** Writes a guide and rolls back. Returns the problem of a guide that cannot be written. */
async function tryWrite(deps: WriterDeps, owner: CreationOwner, datos: GuiaData): Promise<Problema | undefined> {
  const db = deps.db.asRole('guias_api', [owner.comercioId]).forComercio(owner.comercioId)
  const newGuia = buildNewGuia(deps, owner, datos, deps.newCode(await codeLetterOf(db)))
  try {
    await inTransaction(db, async (query) => {
      await query(INSERT_WITH_TASKS, { guias: toJson([newGuia]) })
      throw new RolledBack()
    })
  } catch (error) {
    if (error instanceof RolledBack) return undefined
    if (isDataError(error)) return translateError(error)
    throw error
  }
}

const hasTasks = ({ mensaje_id, enlace_corto_id }: NewGuia) => mensaje_id !== undefined || enlace_corto_id !== undefined

/** Returns a new guide with the id of the message that asks for its location, or of the short link to follow. */
function buildNewGuia(
  { secretos, newId, channelOf }: WriterDeps,
  { comercioId, modo, traza }: CreationOwner,
  datos: GuiaData,
  guia: string,
) {
  const { id, creado_en } = newId()
  const huellas = datos.external_ref === null ? null : digestsOf(datos, secretos)
  const newGuia: NewGuia = buildNewGuiaRow(datos, { comercio_id: comercioId, modo, id, guia, huellas, creado_en })
  if (newGuia.ubicacion_estado === 'solicitada') {
    const solicitud = {
      numero: 1,
      canal: channelOf(modo),
      estado: 'pendiente',
      creado_en: creado_en.toISOString(),
    } as const
    newGuia.ubicacion_extra = { solicitud }
    newGuia.mensaje_id = newId().id
  } else if (newGuia.ubicacion_lat === null && isShortLink(newGuia.maps_url)) newGuia.enlace_corto_id = newId().id
  newGuia.traza = traza
  return newGuia
}

/**
 * Executes the insert statement. If a code is already taken (one in 10^16), nothing was written. New codes are then
 * drawn, up to 5 attempts in total.
 */
async function executeInsert(
  newCode: () => string,
  newGuias: readonly NewGuia[],
  db: Db,
  keys: KeyRows,
  intento = 1,
): Promise<InsertedGuia[]> {
  try {
    const guias = toJson(newGuias)
    return await (keys
      ? db.query(INSERT_WITH_KEYS, { guias, claves: JSON.stringify(keys()) })
      : db.query(statementFor(newGuias), { guias }))
  } catch (error) {
    if (!CODE_CONSTRAINTS.includes(constraintOf(error) ?? '') || intento === 5) throw error
    for (const newGuia of newGuias) newGuia.guia = newCode()
    return executeInsert(newCode, newGuias, db, keys, intento + 1)
  }
}

function statementFor(newGuias: readonly NewGuia[]) {
  const withTasks = newGuias.some(hasTasks)
  if (newGuias.some(({ traza }) => traza !== undefined)) return withTasks ? INSERT_TRACED_WITH_TASKS : INSERT_TRACED
  return withTasks ? INSERT_WITH_TASKS : INSERT
}

const CODE_CONSTRAINTS: readonly string[] = ['guia_indice_pkey', 'guia_indice_guia_key']

/**
 * Returns the JSON of new guides for the statement. Nulls become undefined, which JSON omits, so that PostgreSQL does
 * not read nulls for nothing.
 */
const toJson = (newGuias: readonly NewGuia[]) => JSON.stringify(newGuias.map(toInsertedMembers))

/**
 * Returns the members of a new guide that the statement reads. A literal gives all results one shape, which costs a third
 * of a loop over {@link NEW_GUIA_COLUMNS}; a missing column does not compile.
 */
const toInsertedMembers = (newGuia: NewGuia) =>
  ({
    comercio_id: newGuia.comercio_id,
    modo: newGuia.modo,
    id: newGuia.id,
    guia: newGuia.guia,
    external_ref: newGuia.external_ref ?? undefined,
    huellas: newGuia.huellas ?? undefined,
    telefono: newGuia.telefono ?? undefined,
    destinatario: newGuia.destinatario ?? undefined,
    departamento: newGuia.departamento,
    municipio: newGuia.municipio,
    direccion: newGuia.direccion ?? undefined,
    indicaciones: newGuia.indicaciones ?? undefined,
    contenido: newGuia.contenido ?? undefined,
    lat: newGuia.lat ?? undefined,
    lng: newGuia.lng ?? undefined,
    maps_url: newGuia.maps_url ?? undefined,
    recogida: newGuia.recogida,
    metadatos: newGuia.metadatos ?? undefined,
    ubicacion_estado: newGuia.ubicacion_estado,
    ubicacion_origen: newGuia.ubicacion_origen ?? undefined,
    ubicacion_lat: newGuia.ubicacion_lat ?? undefined,
    ubicacion_lng: newGuia.ubicacion_lng ?? undefined,
    ubicacion_extra: newGuia.ubicacion_extra ?? undefined,
    advertencias: newGuia.advertencias,
    creado_en: newGuia.creado_en.toISOString(),
    mensaje_id: newGuia.mensaje_id,
    enlace_corto_id: newGuia.enlace_corto_id,
    traza: newGuia.traza,
    clave: newGuia.clave,
  }) satisfies Record<(typeof NEW_GUIA_COLUMNS)[number] | 'mensaje_id' | 'enlace_corto_id' | 'traza' | 'clave', unknown>

/** Key by which a merchant identifies a guide. */
type GuiaReference = Pick<GuiaRow, 'comercio_id' | 'modo' | 'external_ref'>

const keyOf = ({ comercio_id, modo, external_ref }: GuiaReference) => `${comercio_id} ${modo} ${external_ref}`

async function readExisting(db: Db, repetidas: readonly GuiaReference[]): Promise<Map<string, GuiaRow>> {
  const rows = await queryByComercio(db, repetidas, ({ query }, shardReferences) =>
    query(EXISTING, {
      comercios: shardReferences.map((item) => item.comercio_id),
      modos: shardReferences.map(({ modo }) => modo),
      external_refs: shardReferences.map(({ external_ref }) => external_ref),
    }),
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}

function repeatCreation(secrets: Secrets, existing: GuiaRow | undefined, datos: GuiaData): GuiaVerdict {
  if (!existing) throw new Error('the conflicting guide row no longer exists')
  const errores = findDifferences(existing.huellas, datos, secrets)
  if (errores.length === 0) return { row: warnOfRepetition(existing, datos), repetida: true }
  return {
    problema: new Problema(
      'external_ref_en_conflicto',
      `Ya creó la guía ${existing.guia} con external_ref ${existing.external_ref} y otros datos. Si es otro envío, use otra referencia.`,
      { errores, guia: existing.guia },
    ),
  }
}

const DIFFERENT_METADATA: StoredAdvertencia = { codigo: 'metadatos_distintos', campo: '/metadatos' }

/**
 * Returns an existing guide for the answer to a repeated request. Adds a warning if nothing will be delivered, and one if
 * the request has other metadata. The warnings are not stored. Erased metadata cannot be compared, and a request without
 * metadata asks for none.
 */
function warnOfRepetition(existing: GuiaRow, { metadatos }: GuiaData): GuiaRow {
  const row = warnOfEnd(existing, '/external_ref')
  const metadataDiffers =
    metadatos !== null && !existing.datos_borrados_en && !isSameMetadata(metadatos, existing.metadatos)
  return metadataDiffers ? { ...row, advertencias: [...row.advertencias, DIFFERENT_METADATA] } : row
}

/**
 * Reports whether a row caused the error: SQLSTATE class 22 (data exception) or 23 (integrity constraint violation). A
 * retry with the same row would fail again.
 */
const isDataError = (error: unknown) => /^2[23]/.test(codeOf(error))

/** Reports whether a statement exceeded `lock_timeout` (SQLSTATE 55P03). */
const isLockError = (error: unknown) => codeOf(error) === '55P03'

const codeOf = (error: unknown) => String((error as { code?: unknown }).code ?? '')

/** Reports whether an admitted link is a short link, whose location is known only after following it. */
const isShortLink = (link: string | null) => link !== null && readMapLink(link).tipo === 'corto'
