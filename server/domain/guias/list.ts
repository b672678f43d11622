import type { HandlerInput } from '../../api/contract/handler.ts'
import type { Cursors } from '../../api/lists/cursor.ts'
import { paginateBounded, type RowsUpTo } from '../../api/lists/page.ts'
import { type Db, dynamicStatement } from '../../data/db.ts'
import type { EstadoDeDecision, EstadoDeUbicacion } from '../../generated/contract/types/index.ts'
import { smallestId } from '../../platform/codes/codes.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow } from '../records/guiaFields.ts'
import { normalizeMetadata, presentMetadata } from '../records/metadatos.ts'

type QueryOf<O extends 'listarGuias' | 'buscarGuias'> = NonNullable<HandlerInput<O>['query']>

/**
 * Filters of a list of guides; a guide must match all of them. They are the contract's, except those that are read
 * first: `telefono` is E.164, as {@link readPhoneFilter} returns it.
 */
export interface GuiaFilters
  extends QueryOf<'listarGuias'>,
    Omit<QueryOf<'buscarGuias'>, 'comercio' | 'pais' | 'asignada'> {
  comercioId?: string
  /** True for guides with an assignment, false for the others. */
  asignada?: boolean
}

type GuiaListRow = GuiaInJson & Pick<GuiaRow, 'id' | 'custodio'> & { comercio: string }

/**
 * Returns a page of guides, newest first. The id is a UUIDv7 of the creation instant. One keyset on the id therefore
 * serves the order, the cursor and both date filters, at the same cost at any depth. Each mode and each state has its
 * own index range, and the ranges are merged. In the list of one merchant, each unconfirmed location has one as well. A
 * rare state is therefore found without scanning the others. Other filters check only the next {@link MAX_GUIAS_READ}
 * guides. A page may then be short, and says that it is partial. The state filter also works this way if the request
 * filters by telephone or by open decisions. The location filter does so in these cases, and if the request filters by
 * state.
 */
export function findGuiaPage<Item>(
  { db, cursors }: { db: Pick<Db, 'query'>; cursors: Cursors },
  caller: { operacion: string; dueno: string },
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
    { ...caller, filters },
    { ...(limite ? { limite } : {}), ...(cursor ? { cursor } : {}) },
    {
      read: (after, count) => read(db, filters, after?.[0] as string | undefined, count),
      positionOf: ({ id }) => [id],
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
const inDecision = (estados: readonly EstadoDeDecision[]) =>
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

/** SQL condition that the guide `x` has an assignment. */
const IS_ASSIGNED = `exists (
  select from asignacion a where a.comercio_id = x.comercio_id and a.modo = x.modo and a.guia_id = x.id)`

/** Maximum guides that a page reads to find those that match filters without an index. */
const MAX_GUIAS_READ = 2000

type NormalizedFilters = { [F in Exclude<keyof GuiaFilters, 'limite' | 'cursor'>]?: GuiaFilters[F] | undefined }

type ListValues = Record<string, unknown> & { comercio_id: string }

const LIST_COLUMNS = `${GUIA_COLUMNS}, g.id, g.custodio, c.comercio`

/** Returns the parts of the list's statement for these filters: what an index serves, what it does not, and the order. */
function planList(filters: NormalizedFilters, beforeId: string | undefined) {
  const { comercioId, modo, external_ref, telefono, creado_desde, creado_hasta, estado, ...rest } = filters
  const { ubicacion, decision, municipio, asignada, metadatos = {}, actualizado_desde, ...others } = rest
  // Does not compile if the contract has a filter that is not read here.
  others satisfies Record<string, never>
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
    'id < :before': beforeId,
  })
  if (isOfAllMerchants) indexed.conditions.push(OF_ALL_MERCHANTS)
  if (openDecisions) indexed.conditions.push(inDecision(openDecisions))
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
    'municipio = :municipio': municipio,
    [`:asignada::boolean = ${IS_ASSIGNED}`]: asignada,
    'actualizado_en >= :actualizado_desde::timestamptz': actualizado_desde && readInstant(actualizado_desde),
    ...Object.fromEntries(
      Object.values(metadatos).map((text, i) => [`metadatos ->> :clave_${i}::text = :texto_${i}`, text]),
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

async function read(
  db: Pick<Db, 'query'>,
  filters: NormalizedFilters,
  beforeId: string | undefined,
  limite: number,
): Promise<RowsUpTo<GuiaListRow>> {
  const list = planList(filters, beforeId)
  const { filtered, order, orderColumns, isPrepared, plan } = list
  const { comercioId, metadatos = {} } = filters
  const reach = comercioId === undefined ? 'central' : 'merchant'
  // The statement over all merchants has no parameter `comercio_id`.
  const values: ListValues = { ...list.values, comercio_id: comercioId ?? '', limite }
  if (filtered.conditions.length === 0) {
    const rows = await db.query(
      dynamicStatement<ListValues, GuiaListRow>(
        reach,
        `select ${LIST_COLUMNS} from ${newestOf(list, '*', ':limite')} g join comercio c on c.id = g.comercio_id order by g.id desc`,
        isPrepared,
        { plan },
      ),
      values,
    )
    return { rows, hasta: undefined }
  }
  // The page stops at its limit, so it reads fewer guides if many match. Only a page that is not full needs the position
  // of the last guide read, from the same snapshot.
  const rows = await db.query(
    dynamicStatement<ListValues, GuiaListRow & { hasta: string | null }>(
      reach,
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
  // An empty page has one row without a guide, which contains only the position.
  return { rows: rows.filter(({ id }) => id !== null), hasta: hasta === null ? undefined : [hasta] }
}

/** Returns the conditions whose value is defined, and the values by parameter name. */
function toConditions(conditions: Readonly<Record<string, unknown>>) {
  const definedConditions = Object.entries(conditions).filter(([, value]) => value !== undefined)
  return {
    conditions: definedConditions.map(([text]) => text),
    values: Object.fromEntries(definedConditions.map(([text, value]) => [/:([a-z]\w*)/.exec(text)![1]!, value])),
  }
}

const numbered = (name: string, values: readonly string[]) =>
  Object.fromEntries(values.map((value, i) => [`${name}_${i}`, value]))

/** Digits without `+` at the beginning of a telephone; a query string turns a raw `+` into a space. */
const WITHOUT_PLUS = /^\s*\(?\d/

/**
 * Reads the telephone that filters a list of guides, as people write it.
 * @param country country of a telephone without `+`
 * @param remedy text for a telephone that has neither `+` nor a country, in Spanish
 * @returns E.164; undefined without a telephone
 * @throws Problema 400
 */
export function readPhoneFilter(
  text: string | undefined,
  country: string | null | undefined,
  remedy: string,
): string | undefined {
  if (text === undefined) return undefined
  const telefono = readTelephone(text, country)
  if (!('error' in telefono)) return telefono.e164
  const mensaje = !country && WITHOUT_PLUS.test(text) ? remedy : telefono.error
  throw problemOfFaults('parametro_invalido', [{ campo: 'telefono', codigo: 'formato_invalido', mensaje }])
}
