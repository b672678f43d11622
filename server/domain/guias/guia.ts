import type { Cursors } from '../../api/lists/cursor.ts'
import { type Pagination, paginateBounded, type RowsUpTo } from '../../api/lists/page.ts'
import { type Db, dynamicStatement, statement } from '../../data/db.ts'
import { whereIs } from '../../data/owners.ts'
import type {
  Advertencia,
  CanalDeMensaje,
  Estado,
  EstadoDeDecision,
  EstadoDeUbicacion,
  Guia,
  GuiaDeAviso,
  Metadatos,
  Modo,
  Ubicacion,
} from '../../generated/contract/types/index.ts'
import { faultOfCode } from '../../platform/codes/codeFault.ts'
import { normalizeGuideCode, smallestId } from '../../platform/codes/codes.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { iso, readInstant } from '../../platform/time/instant.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import { presentDecision } from '../decisiones/decision.ts'
import { isFinalState } from '../estados/estados.ts'
import { presentAdvertencias, type StoredAdvertencia } from './advertencias.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow, type StoredRecogida } from './fields.ts'
import { normalizeMetadata, presentMetadata } from './metadatos.ts'

export type { GuiaInJson, GuiaRow } from './fields.ts'
export { GUIA_COLUMNS } from './fields.ts'

/** Settings on which the answers with a guide depend. */
interface GuiaSettings {
  readonly publicUrl: string
  readonly timeZone: string | undefined
}

/** Returns the URL of a guide's public tracking page. */
export const rastreoUrl = ({ publicUrl }: Pick<GuiaSettings, 'publicUrl'>, guia: string) => `${publicUrl}/r/${guia}`

/**
 * Returns a row of `guia` as the contract's current guide, including what follows from the state of its location
 * request.
 */
export const present = (settings: GuiaSettings, row: GuiaRow | GuiaInJson): Guia =>
  Object.assign(presentCurrent(row), {
    zona_horaria: timeZoneOf(row, settings.timeZone),
    url_rastreo: rastreoUrl(settings, row.guia),
  })

/** Returns the current guide like {@link present}, without what only answers have. */
export const presentCurrent = (row: GuiaRow | GuiaInJson): GuiaDeAviso => presentStored(withDerived(row))

/**
 * Returns a row of `guia` as the contract's guide, from stored data only. A webhook body is rebuilt from the snapshot
 * (`foto`) of its event. The body must stay the same, even if a later version derives something else.
 */
export function presentStored(row: GuiaRow | GuiaInJson): GuiaDeAviso {
  return {
    guia: row.guia,
    estado: row.estado,
    modo: row.modo,
    external_ref: row.external_ref,
    telefono: row.telefono,
    destinatario: row.destinatario,
    departamento: row.departamento,
    municipio: row.municipio,
    direccion: row.direccion,
    indicaciones: row.indicaciones,
    contenido: row.contenido,
    lat: row.lat,
    lng: row.lng,
    maps_url: row.maps_url,
    recogida: presentRecogida(row.recogida),
    metadatos: presentMetadata(row.metadatos),
    ubicacion: presentUbicacion(row),
    intentos: row.intentos,
    decision: presentDecision(row.decision),
    advertencias: presentAdvertencias(row),
    secuencia: row.secuencia,
    creado_en: iso(row.creado_en),
    actualizado_en: iso(row.actualizado_en),
    datos_borrados_en: row.datos_borrados_en && iso(row.datos_borrados_en),
  }
}

/** Returns the 409 for a text about a guide whose personal data were erased. Nothing would ever erase the text. */
export const dataErasedProblem = () =>
  new Problema(
    'datos_borrados',
    'Los datos personales de la guía ya se borraron, y no admite notas nuevas. Anote lo que haga falta donde lleva al comercio.',
  )

/**
 * Reports whether a location request cannot be sent. The mailbox is for test guides, so a live request waits there
 * until the service has messaging (`mensajeria/resume.ts`).
 */
export const isUnsendable = (modo: Modo, canal: CanalDeMensaje) => modo === 'live' && canal === 'buzon'
/** SQL condition of {@link isUnsendable}. */
export const isUnsendableSql = (modo: string, canal: string) => `(${modo} = 'live' and ${canal} = 'buzon')`
/**
 * SQL of the instant at which a new request is due. A request that cannot be sent is due in the year 9999. Its row lies
 * at the end of the index that the feeder reads, so no round selects it.
 */
export const dueAtCreationSql = (modo: string, canal: string, ahora: string) =>
  `case when ${isUnsendableSql(modo, canal)} then '9999-12-31T00:00:00Z'::timestamptz else ${ahora} end`

/** Reports whether the guide still needs the answer to a location request. */
const awaitsUbicacion = ({ estado, ubicacion_estado }: Pick<GuiaInJson, 'estado' | 'ubicacion_estado'>) =>
  ubicacion_estado !== 'confirmada' && !isFinalState(estado)

/**
 * Returns a request's state as clients see it. No worker processes a request that cannot be sent, so its row stays
 * `pendiente`. The result is `descartado` as soon as the guide does not need the answer.
 */
export const requestEstadoOf = <E extends string>(
  guia: Pick<GuiaInJson, 'modo' | 'estado' | 'ubicacion_estado'>,
  { canal, estado }: { canal: CanalDeMensaje; estado: E },
): E | 'descartado' =>
  estado === 'pendiente' && isUnsendable(guia.modo, canal) && !awaitsUbicacion(guia) ? 'descartado' : estado

const WITHOUT_MENSAJERIA: StoredAdvertencia = { codigo: 'sin_mensajeria', campo: '/ubicacion' }

/**
 * Returns the row with its request's state as clients see it. Adds the warning `sin_mensajeria` if the guide waits for
 * an answer to a request that was never sent.
 */
function withDerived<F extends GuiaRow | GuiaInJson>(row: F): F {
  const { solicitud } = row.ubicacion_extra ?? {}
  if (!solicitud || !isUnsendable(row.modo, solicitud.canal)) return row
  const estado = requestEstadoOf(row, solicitud)
  const nobodyAsks = estado === 'pendiente' && awaitsUbicacion(row)
  return {
    ...row,
    ubicacion_extra: { ...row.ubicacion_extra, solicitud: { ...solicitud, estado } },
    advertencias: nobodyAsks ? [...row.advertencias, WITHOUT_MENSAJERIA] : row.advertencias,
  }
}

/**
 * Returns a guide's warnings: the stored warnings, and the warning that follows from the state of its location request.
 */
export const advertenciasOf = (row: GuiaRow | GuiaInJson): Advertencia[] => presentAdvertencias(withDerived(row))

/**
 * Returns a pickup with its members in a fixed order. jsonb has its own order, and a rebuilt body must be identical.
 */
const presentRecogida = ({
  nombre,
  lat,
  lng,
  maps_url,
  contacto = null,
  telefono = null,
  direccion = null,
  indicaciones = null,
}: StoredRecogida): Guia['recogida'] => ({ nombre, lat, lng, maps_url, contacto, telefono, direccion, indicaciones })

/** Returns the location of a guide's row in the contract's form. */
function presentUbicacion(row: GuiaRow | GuiaInJson): Ubicacion {
  const { enlace, precision_m, referencia, distancia_km, confirmado_en, solicitud } = row.ubicacion_extra ?? {}
  const confirmada = row.ubicacion_estado === 'confirmada'
  return {
    estado: row.ubicacion_estado,
    origen: row.ubicacion_origen,
    lat: row.ubicacion_lat,
    lng: row.ubicacion_lng,
    maps_url: enlace ?? (row.ubicacion_origen === 'maps_url' ? row.maps_url : null),
    precision_m: precision_m ?? null,
    referencia: referencia ?? null,
    distancia_km: distancia_km ?? null,
    confirmado_en: confirmada ? (confirmado_en ?? iso(row.creado_en)) : null,
    solicitud: solicitud
      ? {
          canal: solicitud.canal,
          estado: solicitud.estado,
          numero: solicitud.numero,
          creado_en: iso(solicitud.creado_en),
          enviado_en: isoOrNull(solicitud.enviado_en),
          entregado_en: isoOrNull(solicitud.entregado_en),
          leido_en: isoOrNull(solicitud.leido_en),
          vence_en: isoOrNull(solicitud.vence_en),
          motivo: solicitud.motivo ?? null,
        }
      : null,
  }
}

const isoOrNull = (texto: string | undefined) => (texto === undefined ? null : iso(texto))

/** Guides that a caller may access: those of one merchant in one mode, or all guides (for example for operators). */
export type GuiaScope = { comercioId: string; modo: Modo } | 'todos'

/** {@link GuiaScope} as statement parameters; null means every merchant and mode. */
export interface ScopeColumns {
  comercio_id: string | null
  modo: Modo | null
}

/** Converts a {@link GuiaScope} into statement parameters. */
export const toScopeColumns = (ambito: GuiaScope): ScopeColumns =>
  ambito === 'todos' ? { comercio_id: null, modo: null } : { comercio_id: ambito.comercioId, modo: ambito.modo }

const FIND_GUIA = statement<{ guia: string } & ScopeColumns, GuiaRow & { comercio: string }>(
  'guias.buscar',
  `select g.*, c.comercio from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   where i.guia = :guia and (:comercio_id::uuid is null or (i.comercio_id = :comercio_id and i.modo = :modo))`,
)

/**
 * Throws the problem of an unknown guide. Codes without a guide and codes of other merchants get the same answer.
 * @throws Problema 404
 */
export function throwUnknownGuia(ambito: GuiaScope): never {
  const donde = ambito === 'todos' ? '' : ' en el modo de esta llave'
  throw new Problema('guia_desconocida', `No hay ninguna guía con ese identificador${donde}.`)
}

/**
 * Returns the canonical form of a guide's code that a person typed.
 * @param ambito guides of the caller; a merchant learns how to search by its own reference
 * @throws Problema 404 if the text cannot be a code
 */
export function requireGuiaCode(codigo: string, ambito: GuiaScope = 'todos'): string {
  const guia = normalizeGuideCode(codigo)
  if (guia !== undefined) return guia
  const byReference = ambito === 'todos' || codigo.length > MAX_REFERENCE ? '' : ` ${searchByReference(codigo)}`
  throw new Problema('guia_desconocida', `${explainGuiaCode(codigo)}${byReference}`)
}

/** Maximum length of a merchant's reference, in characters. */
const MAX_REFERENCE = 128

const searchByReference = (texto: string): string =>
  `Si es su número de pedido, búsquelo en la lista de guías con el filtro external_ref, «${texto}».`

/**
 * Returns the canonical form of a code that filters a list. A text that cannot be a code would give an empty page, which
 * looks like a guide without events.
 * @throws Problema 400
 */
export function readGuideFilter(codigo: string): string {
  const guia = normalizeGuideCode(codigo)
  if (guia !== undefined) return guia
  const mensaje = `no es el código de una guía. ${explainGuiaCode(codigo)} ${searchByReference(codigo)}`
  throw problemOfFaults('parametro_invalido', [{ campo: 'guia', codigo: 'formato_invalido', mensaje }])
}

/** Explains a text that cannot be a guide's code. */
export const explainGuiaCode = (codigo: string): string =>
  `Ese identificador no puede ser de una guía. ${
    faultOfCode(codigo) ??
    'Su último carácter, el de verificación, no cuadra: tiene una letra o un número cambiado. Cópielo otra vez.'
  }`

/**
 * Finds a guide and its merchant by the guide's code, as a person typed it.
 * @throws Problema 404
 */
export async function findGuia(db: Db, ambito: GuiaScope, codigo: string): Promise<GuiaRow & { comercio: string }> {
  const guia = requireGuiaCode(codigo, ambito)
  const donde = ambito === 'todos' ? await whereIs(db, guia) : db
  const [row] = (await donde?.query(FIND_GUIA, { guia, ...toScopeColumns(ambito) })) ?? []
  return row ?? throwUnknownGuia(ambito)
}

const READ_GUIAS = statement<{ guias: readonly string[]; comercio_id: string; modo: Modo }, GuiaRow>(
  'guias.readSeveral',
  `select g.* from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   where i.guia = any(:guias::text[]) and i.comercio_id = :comercio_id and i.modo = :modo`,
)

/** Returns a merchant's guides by their codes; unknown codes are skipped. */
export async function readGuides(
  { query }: Db,
  { comercioId: comercio_id, modo }: Exclude<GuiaScope, 'todos'>,
  guias: readonly string[],
): Promise<Map<string, GuiaRow>> {
  const rows = await query(READ_GUIAS, { guias, comercio_id, modo })
  return new Map(rows.map((row) => [row.guia, row]))
}

/** Filters of a list of guides; a guide must match all of them. */
export interface GuiaFilters extends Pagination {
  comercioId?: string
  modo?: Modo
  estado?: readonly Estado[]
  external_ref?: string
  /** E.164, as {@link readPhoneFilter} returns it. */
  telefono?: string
  ubicacion?: readonly EstadoDeUbicacion[]
  decision?: readonly EstadoDeDecision[]
  metadatos?: Metadatos
  creado_desde?: string
  creado_hasta?: string
  actualizado_desde?: string
}

type GuiaListRow = GuiaInJson & Pick<GuiaRow, 'id' | 'custodio'> & { comercio: string }

/**
 * Returns a page of guides, newest first. The id is a UUIDv7 of the creation instant. One keyset on the id therefore
 * serves the order, the cursor and both date filters, at the same cost at any depth. Each mode, each state, and each
 * state of a merchant's unconfirmed locations is read from its own index range, and the ranges are merged. A rare state
 * is therefore found without scanning the others. A filter without an index selects from the next {@link MAX_GUIAS_READ}
 * guides, so a page may be short; the page then says that it is partial. Beside a telephone or open decisions,
 * filters by state and by location select in this way, too. So does a location beside a state.
 */
export function findGuiaPage<Item>(
  { db, cursors }: { db: Pick<Db, 'query'>; cursors: Cursors },
  quien: { operacion: string; dueno: string },
  { limite, cursor, ...requestedFilters }: GuiaFilters,
  present: (row: GuiaListRow) => Item,
) {
  const metadatos = normalizeMetadata(requestedFilters.metadatos)
  const filters = {
    ...requestedFilters,
    estado: withoutRepeats(requestedFilters.estado),
    external_ref: requestedFilters.external_ref?.normalize('NFC'),
    ubicacion: withoutRepeats(requestedFilters.ubicacion),
    decision: withoutRepeats(requestedFilters.decision),
    metadatos: metadatos ? presentMetadata(metadatos) : undefined,
  }
  return paginateBounded(
    cursors,
    { ...quien, filters },
    { ...(limite ? { limite } : {}), ...(cursor ? { cursor } : {}) },
    {
      leer: (despues, count) => leer(db, filters, despues?.[0] as string | undefined, count),
      posicion: ({ id }) => [id],
      present,
    },
  )
}

const withoutRepeats = <T>(items: readonly T[] | undefined) => items && [...new Set(items)].sort()

/**
 * Maximum filters for which the list uses a prepared statement. With more filters each request is planned anew (0.1 ms
 * more), because all combinations would make thousands of statements.
 */
const MAX_PREPARED_FILTERS = 1

/** States of a decision that a partial index of guides covers (`guia_decision_idx`). */
const OPEN_DECISION_STATES = ['pendiente', 'tomada'] as const satisfies readonly EstadoDeDecision[]
const isOpen = (estado: EstadoDeDecision): estado is (typeof OPEN_DECISION_STATES)[number] =>
  (OPEN_DECISION_STATES as readonly EstadoDeDecision[]).includes(estado)

/**
 * SQL condition that a decision is in one of these states. The states are literals, because the planner compares them
 * with the condition of the partial index.
 */
const enDecision = (estados: readonly EstadoDeDecision[]) =>
  `decision ->> 'estado' in (${OPEN_DECISION_STATES.filter((openState) => estados.includes(openState))
    .map((openState) => `'${openState}'`)
    .join(', ')})`

/** SQL conditions of each unconfirmed location; they are literals for the same reason (`guia_ubicacion_idx`). */
const UNCONFIRMED_CONDITIONS: Partial<Record<EstadoDeUbicacion, string>> = {
  solicitada: " and ubicacion_estado = 'solicitada'",
  vencida: " and ubicacion_estado = 'vencida'",
  fallida: " and ubicacion_estado = 'fallida'",
}

/**
 * SQL condition that every guide meets. Only a statement with it uses the indexes over all merchants (`guia_todas_idx`).
 * In a list of one merchant, PostgreSQL would otherwise read newer guides of all other merchants.
 */
export const OF_ALL_MERCHANTS = "guia <> ''"

/** Maximum guides that a page reads to find those that match filters without an index. */
const MAX_GUIAS_READ = 2000

type NormalizedFilters = { [F in Exclude<keyof GuiaFilters, 'limite' | 'cursor'>]?: GuiaFilters[F] | undefined }

const LIST_COLUMNS = `${GUIA_COLUMNS}, g.id, g.custodio, c.comercio`

/** Returns the parts of the list's statement for these filters: what an index serves, what it does not, and the order. */
function planList(filters: NormalizedFilters, beforeId: string | undefined) {
  const { comercioId, modo, external_ref, telefono, creado_desde, creado_hasta, estado } = filters
  const { ubicacion, decision, metadatos = {}, actualizado_desde } = filters
  // Guides with open decisions have an index, unless the index by telephone is used. Other decision states are
  // filtered.
  const openDecisions = telefono === undefined && decision?.every(isOpen) ? decision : undefined
  const isOfAllMerchants = comercioId === undefined
  const indexed = toConditions({
    'comercio_id = :comercio_id': comercioId,
    'modo = :modo': isOfAllMerchants && telefono !== undefined ? undefined : modo,
    'external_ref = :external_ref': external_ref,
    'telefono between :telefono and :telefono': telefono,
    'id >= :desde': creado_desde && smallestId(readInstant(creado_desde)!),
    'id < :hasta': creado_hasta && smallestId(readInstant(creado_hasta)!),
    'id < :antes_de': beforeId,
  })
  if (isOfAllMerchants) indexed.conditions.push(OF_ALL_MERCHANTS)
  if (openDecisions) indexed.conditions.push(enDecision(openDecisions))
  // Each mode, each state and each unconfirmed location has its own range of an index.
  const readsOneModeRange =
    modo !== undefined || telefono !== undefined || (isOfAllMerchants && external_ref !== undefined)
  const modeRanges = readsOneModeRange ? [''] : [" and modo = 'live'", " and modo = 'test'"]
  const hasStateRanges = telefono === undefined && !openDecisions
  const states = hasStateRanges ? estado : undefined
  const places = ubicacion?.map((place) => UNCONFIRMED_CONDITIONS[place])
  const placeRanges =
    hasStateRanges && !isOfAllMerchants && !estado && !places?.includes(undefined) ? places : undefined
  // Each state has its own parameter, so that the planner reads it from its own range of the index.
  const ranges = placeRanges ?? states?.map((_state, i) => ` and estado = :estado_${i}`) ?? ['']
  const filtered = toConditions({
    'modo = :modo': isOfAllMerchants && telefono !== undefined ? modo : undefined,
    'estado = any(:estados::text[])': states ? undefined : estado,
    'ubicacion_estado = any(:ubicacion::text[])': placeRanges ? undefined : ubicacion,
    "decision ->> 'estado' = any(:decision::text[])": openDecisions ? undefined : decision,
    'actualizado_en >= :actualizado_desde::timestamptz': actualizado_desde && readInstant(actualizado_desde),
    ...Object.fromEntries(
      Object.values(metadatos).map((texto, i) => [`metadatos ->> :clave_${i}::text = :texto_${i}`, texto]),
    ),
  })
  const given = [
    openDecisions,
    external_ref,
    telefono,
    creado_desde,
    creado_hasta,
    ...(estado ?? []),
    ...(placeRanges ?? []),
    ...Object.keys(filtered.values),
  ]
  return {
    indexed,
    filtered,
    ranges: modeRanges.flatMap((mode) => ranges.map((range) => `${mode}${range}`)),
    // The order by telephone makes only the index by telephone usable. Otherwise PostgreSQL might read far into the
    // index of the merchant's guides when the telephone's guides are old.
    order: telefono === undefined ? 'id desc' : 'telefono desc, id desc',
    orderColumns: telefono === undefined ? 'id' : 'telefono, id',
    values: { ...indexed.values, ...numbered('estado', states ?? []) },
    isPrepared: given.filter((value) => value !== undefined).length <= MAX_PREPARED_FILTERS,
    // The index of references has another order, but a reference matches few guides.
    plan: external_ref === undefined ? ('ordered' as const) : undefined,
  }
}
type ListPlan = ReturnType<typeof planList>

/** Returns a subquery with the newest guides of each range of the index, merged. */
function newestOf({ indexed, ranges, order }: ListPlan, columns: string, limit: string | number): string {
  const branches = ranges.map(
    (range) =>
      `(select ${columns} from guia where ${indexed.conditions.join(' and ')}${range} order by ${order} limit ${limit})`,
  )
  return branches.length === 1
    ? branches[0]!
    : `(select * from (${branches.join(' union all ')}) x order by ${order} limit ${limit})`
}

async function leer(
  db: Pick<Db, 'query'>,
  filters: NormalizedFilters,
  beforeId: string | undefined,
  limite: number,
): Promise<RowsUpTo<GuiaListRow>> {
  const list = planList(filters, beforeId)
  const { filtered, order, orderColumns, isPrepared, plan } = list
  const values = { ...list.values, limite }
  if (filtered.conditions.length === 0) {
    const rows = await db.query(
      dynamicStatement<Record<string, unknown>, GuiaListRow>(
        `select ${LIST_COLUMNS} from ${newestOf(list, '*', ':limite')} g join comercio c on c.id = g.comercio_id order by g.id desc`,
        isPrepared,
        { plan },
      ),
      values,
    )
    return { rows, hasta: undefined }
  }
  const { metadatos = {} } = filters
  // The page stops at its limit, so it reads fewer guides if many match. Only a page that is not full needs the position
  // of the last guide read, from the same snapshot.
  const rows = await db.query(
    dynamicStatement<Record<string, unknown>, GuiaListRow & { hasta: string | null }>(
      `with p as materialized (
         select * from ${newestOf(list, '*', MAX_GUIAS_READ)} x where ${filtered.conditions.join(' and ')} order by ${order} limit :limite
       ), h as (
         select case when (select count(*) from p) < :limite then
           (select id from ${newestOf(list, orderColumns, MAX_GUIAS_READ)} x order by ${order} offset ${MAX_GUIAS_READ - 1} limit 1) end as hasta
       )
       select ${LIST_COLUMNS}, h.hasta from h left join p g on true left join comercio c on c.id = g.comercio_id order by g.id desc`,
      isPrepared,
      { plan },
    ),
    {
      ...values,
      ...filtered.values,
      ...numbered('clave', Object.keys(metadatos)),
      ...numbered('texto', Object.values(metadatos)),
    },
  )
  const { hasta } = rows[0]!
  // A page without guides still has one row, with the position.
  return { rows: rows.filter(({ id }) => id !== null), hasta: hasta === null ? undefined : [hasta] }
}

/** Returns the conditions whose value is defined, and the values by parameter name. */
function toConditions(conditions: Readonly<Record<string, unknown>>) {
  const definedConditions = Object.entries(conditions).filter(([, valor]) => valor !== undefined)
  return {
    conditions: definedConditions.map(([texto]) => texto),
    values: Object.fromEntries(definedConditions.map(([texto, valor]) => [/:([a-z]\w*)/.exec(texto)![1]!, valor])),
  }
}

const numbered = (nombre: string, values: readonly string[]) =>
  Object.fromEntries(values.map((valor, i) => [`${nombre}_${i}`, valor]))

/** Digits without `+` at the beginning of a telephone; a query string turns a raw `+` into a space. */
const WITHOUT_PLUS = /^\s*\(?\d/

/**
 * Reads the telephone that filters a list of guides, as people write it.
 * @param pais country of a telephone without `+`
 * @param remedy text for a telephone that has neither `+` nor a country, in Spanish
 * @returns E.164; undefined without a telephone
 * @throws Problema 400
 */
export function readPhoneFilter(
  texto: string | undefined,
  pais: string | null | undefined,
  remedy: string,
): string | undefined {
  if (texto === undefined) return undefined
  const telefono = readTelephone(texto, pais)
  if (!('error' in telefono)) return telefono.e164
  const mensaje = !pais && WITHOUT_PLUS.test(texto) ? remedy : telefono.error
  throw problemOfFaults('parametro_invalido', [{ campo: 'telefono', codigo: 'formato_invalido', mensaje }])
}

/**
 * SQL condition: the link of the message `m` may open the guide `g`. The guide has the message's telephone, and no
 * correction replaced the telephone after the message: a link stays dead if a later correction brings the telephone back.
 */
export const IS_LIVE_LINK = `m.telefono = g.telefono and not exists (select from telefono_anterior t
       join evento e on e.comercio_id = t.comercio_id and e.modo = t.modo and e.guia_id = t.guia_id
         and e.secuencia = t.secuencia
       where t.comercio_id = m.comercio_id and t.modo = m.modo and t.guia_id = m.guia_id and t.telefono = m.telefono
         and e.registrado_en >= m.creado_en)`
