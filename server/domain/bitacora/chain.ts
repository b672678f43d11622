import { createHash } from 'node:crypto'
import { type Db, isDistributed, type Statement, statement } from '../../data/db.ts'
import { VISIBLE_TO_FEED } from '../../data/eventOrder.ts'
import { queryReachableParts } from '../../data/partQueries.ts'
import type { eslabon } from '../../generated/contract/prisma/client.ts'

/** Name of a record whose lines form hash chains: the audit record or the events. */
export type ChainedTable = 'bitacora' | 'evento'

/**
 * Hash chain over the lines of a record. Normally each record has one chain. On Citus, several databases hold the
 * merchants' rows, and their transaction numbers cannot be compared. There the events of each merchant and mode have
 * their own chain.
 */
export interface Chain {
  de: ChainedTable
  /** Name of the chain in table `eslabon`. */
  registro: string
  comercio_id: string | null
  modo: string | null
}

const ONE_OF_EACH: readonly Chain[] = [
  { de: 'bitacora', registro: 'bitacora', comercio_id: null, modo: null },
  { de: 'evento', registro: 'evento', comercio_id: null, modo: null },
]

/**
 * Reads each merchant and mode that has events, with the transaction number of its last event. Walks the index from one
 * pair to the next instead of reading every event.
 */
const OF_COMERCIOS = statement<object, { comercio_id: string; modo: string; ultimo: string }>(
  'bitacora.ofComercios',
  'part',
  `with recursive c as (
     (select comercio_id, modo from evento order by comercio_id, modo limit 1)
     union all
     select s.* from c cross join lateral (select e.comercio_id, e.modo from evento e
       where (e.comercio_id, e.modo) > (c.comercio_id, c.modo) order by e.comercio_id, e.modo limit 1) s
   )
   select c.comercio_id, c.modo, u.xid::text as ultimo from c cross join lateral (select e.xid from evento e
     where e.comercio_id = c.comercio_id and e.modo = c.modo order by e.xid desc limit 1) u`,
)
/** Reads the transaction number at which each chain ends. */
const CHAINED = statement<{ records: readonly string[] }, { registro: string; xid: string }>(
  'bitacora.chained',
  'central',
  `select r.registro, e.xid::text as xid from unnest(:records::text[]) r (registro) cross join lateral (
     select e.xid from eslabon e where e.registro = r.registro order by e.numero desc limit 1) e`,
)

/**
 * Reads the chains of all databases that hold merchants' rows. Omits the chains in databases that do not answer.
 * @param includesQuiet true includes the chains of merchants without new events
 */
export async function readChains(db: Db, includesQuiet: boolean): Promise<readonly Chain[]> {
  if (!isDistributed(db)) return ONE_OF_EACH
  const comercioChains = (await queryReachableParts(db, ({ query }) => query(OF_COMERCIOS))).map(
    ({ comercio_id, modo, ultimo }) => ({ comercio_id, modo, ultimo, registro: `evento ${comercio_id} ${modo}` }),
  )
  const records = comercioChains.map(({ registro }) => registro)
  const chainedXids = new Map((await db.query(CHAINED, { records })).map(({ registro, xid }) => [registro, xid]))
  return [
    ONE_OF_EACH[0]!,
    ...comercioChains
      .filter(({ registro, ultimo }) => includesQuiet || BigInt(ultimo) > BigInt(chainedXids.get(registro) ?? -1))
      .map(({ registro, comercio_id, modo }) => ({ de: 'evento' as const, registro, comercio_id, modo })),
  ]
}

/** Maximum number of lines per link. */
const MAX_LINES_PER_LINK = 1_000
/** Number of bytes that a link stores: `KEY_BYTES` for each line's key, `DIGEST_BYTES` for each line's digest. */
export const KEY_BYTES = 20
export const DIGEST_BYTES = 8

/**
 * Properties of each record. `todas`: a condition true for all lines. `order`: the order of lines within a transaction.
 * `clave`: the key of a line. `writtenAt`: the time of writing. `columns`: the columns that the digest covers. For an
 * event the digest covers only columns that never change. It excludes texts of people, places and contact data, because
 * retention erases them later. Salted digests of these values would need one more column for each event. They would
 * prove nothing more, because the proof of delivery already signs what was delivered.
 */
const LINES = {
  bitacora: {
    todas: 'true',
    order: 'id',
    clave: 'uuid_send(id) || int4send(0)',
    writtenAt: 'creado_en',
    columns: `xid::text, id, linea, comercio_id, modo, accion, quien_tipo, quien, llave, sobre_tipo, sobre, campos, antes,
      despues, id_solicitud, red, creado_en`,
  },
  evento: {
    // The condition is true for every event. It only lets PostgreSQL use the partial index `evento_cadena_idx`.
    todas: 'secuencia > 0',
    order: 'guia_id, secuencia',
    clave: 'uuid_send(guia_id) || int4send(secuencia)',
    writtenAt: 'registrado_en',
    columns: `xid::text, comercio_id, modo, guia_id, secuencia, guia, tipo, estado, estado_anterior, motivo, autor,
      custodio, ocurrido_en, registrado_en`,
  },
} as const

/** Selection of a chain's lines: a whole record, or the events of one merchant and mode. */
type LineSelection = ChainedTable | 'comercioEvento'
const SELECTIONS: Readonly<Record<LineSelection, { de: ChainedTable; condition: string }>> = {
  bitacora: { de: 'bitacora', condition: LINES.bitacora.todas },
  evento: { de: 'evento', condition: LINES.evento.todas },
  comercioEvento: { de: 'evento', condition: 'comercio_id = :comercio_id and modo = :modo' },
}
const selectionOf = ({ de, comercio_id }: Chain): LineSelection => (comercio_id === null ? de : 'comercioEvento')

/** Returns the database that holds the lines of a chain. */
export const partOfChain = (db: Db, { comercio_id }: Chain): Db =>
  comercio_id === null ? db : db.forComercio(comercio_id)

/** Position of a line in the order of its record. */
interface LinePosition {
  xid: string
  id: string
  /** Sequence number of an event; not used for lines of `bitacora`. */
  secuencia: number
}

/** Returns the SQL row value of a position in the order of a record. The parameter names start with `prefix`. */
const positionSql = (de: ChainedTable, prefix = '') => {
  const [xid, id, secuencia] = ['xid', 'id', 'secuencia'].map((name) => `:${prefix}${name}`)
  return de === 'evento' ? `(${xid}::text::xid8, ${id}::uuid, ${secuencia}::int)` : `(${xid}::text::xid8, ${id}::uuid)`
}

/**
 * Returns the SQL that reads keys and digests of the lines after a position, in the order of the event feed
 * (server/domain/eventos/stream.ts).
 */
const linesSql = (selection: LineSelection, until: string, limit: number) => {
  const { de, condition } = SELECTIONS[selection]
  const { order, clave, columns } = LINES[de]
  return `select xid, ${clave} as clave, sha256(convert_to(jsonb_build_array(${columns})::text, 'UTF8')) as huella
    from ${de} where ${condition} and xid >= :xid::text::xid8 and (xid, ${order}) > ${positionSql(de)} and ${until}
    order by xid, ${order} limit ${limit}`
}

/** SQL columns with the position of a link's last line. The next link starts after this position. */
const POSITION = `xid::text as xid, encode(substring(claves from length(claves) - 19 for 16), 'hex')::uuid as id,
  ('x' || encode(substring(claves from length(claves) - 3), 'hex'))::bit(32)::int as secuencia`
const START: LinePosition = { xid: '0', id: '00000000-0000-0000-0000-000000000000', secuencia: 0 }

type ChainLink = LinePosition & Pick<eslabon, 'numero' | 'hash' | 'creado_en'>

/** Reads the last link of a chain, or the link with the number `hasta`. */
const LAST = statement<{ registro: string; hasta: number | null }, ChainLink>(
  'bitacora.last',
  'central',
  `select numero, hash, creado_en, ${POSITION} from eslabon
   where registro = :registro and (:hasta::int is null or numero = :hasta) order by numero desc limit 1`,
)

interface NextLines {
  xid: string
  lineas: number
  claves: Buffer
  huellas: Buffer
  full_digests: Buffer
}
type LineCursor = Pick<Chain, 'comercio_id' | 'modo'> & LinePosition
/** Parameters of the statement that selects lines, by kind of selection. */
type SelectionParams<T extends LineSelection> = T extends 'bitacora'
  ? Omit<LinePosition, 'secuencia'>
  : T extends 'evento'
    ? LinePosition
    : LineCursor

const nextLinesSql = (
  selection: LineSelection,
) => `select (array_agg(xid order by xid desc))[1]::text as xid, count(*)::int as lineas,
     string_agg(clave, '' order by xid, clave) as claves,
     string_agg(substring(huella for ${DIGEST_BYTES}), '' order by xid, clave) as huellas,
     string_agg(huella, '' order by xid, clave) as full_digests
   from (${linesSql(selection, VISIBLE_TO_FEED, MAX_LINES_PER_LINK)}) l having count(*) > 0`

/**
 * Statements that read the lines of the next link. They read only lines committed before the oldest transaction in
 * progress.
 */
const NEXT_LINES: Record<LineSelection, Statement<LineCursor, NextLines>> = {
  bitacora: statement<SelectionParams<'bitacora'>, NextLines>(
    'bitacora.nextLines',
    'central',
    nextLinesSql('bitacora'),
  ),
  evento: statement<SelectionParams<'evento'>, NextLines>('bitacora.nextEvents', 'part', nextLinesSql('evento')),
  comercioEvento: statement<SelectionParams<'comercioEvento'>, NextLines>(
    'bitacora.nextOfOne',
    'part',
    nextLinesSql('comercioEvento'),
  ),
}

/** Inserts a link. Does nothing if another process has inserted the link with this number. */
const ADD = statement<Omit<NextLines, 'full_digests'> & Pick<eslabon, 'registro' | 'numero' | 'hash' | 'creado_en'>>(
  'bitacora.add',
  'central',
  `insert into eslabon (registro, numero, xid, lineas, claves, huellas, hash, creado_en)
   values (:registro, :numero, :xid::text::xid8, :lineas, :claves, :huellas, :hash, :creado_en)
   on conflict (registro, numero) do nothing`,
)

/**
 * Creates the next link of a chain, if the chain has new lines.
 * @returns true if the chain may have lines for another link
 */
export async function addLink(db: Db, chain: Chain, now: Date): Promise<boolean> {
  const { registro, comercio_id, modo } = chain
  const [last] = await db.query(LAST, { registro, hasta: null })
  const { xid, id, secuencia } = last ?? START
  const params = { comercio_id, modo, xid, id, secuencia }
  const [nextLines] = await partOfChain(db, chain).query(NEXT_LINES[selectionOf(chain)], params)
  if (!nextLines) return false
  const { full_digests, ...linkColumns } = nextLines
  await db.query(ADD, {
    registro,
    ...linkColumns,
    numero: (last?.numero ?? 0) + 1,
    hash: createHash('sha256')
      .update(last?.hash ?? '')
      .update(full_digests)
      .digest(),
    creado_en: last && last.creado_en > now ? last.creado_en : now,
  })
  return nextLines.lineas === MAX_LINES_PER_LINK
}

/** Current state of a line: its key and its digest. */
export interface ChainRow {
  clave: Buffer
  huella: Buffer
}

const currentLinesSql = (selection: LineSelection) => {
  const { de } = SELECTIONS[selection]
  return `select clave, huella from (${linesSql(selection, `(xid, ${LINES[de].order}) <= ${positionSql(de, 'fin_')}`, 2 * MAX_LINES_PER_LINK)}) x`
}

type Fin = { [C in keyof LinePosition as `fin_${C}`]: LinePosition[C] }
const READ: Record<LineSelection, Statement<LineCursor & Fin, ChainRow>> = {
  bitacora: statement<SelectionParams<'bitacora'> & Omit<Fin, 'fin_secuencia'>, ChainRow>(
    'bitacora.lines',
    'central',
    currentLinesSql('bitacora'),
  ),
  evento: statement<SelectionParams<'evento'> & Fin, ChainRow>(
    'bitacora.eventLines',
    'part',
    currentLinesSql('evento'),
  ),
  comercioEvento: statement<SelectionParams<'comercioEvento'> & Fin, ChainRow>(
    'bitacora.linesOfOne',
    'part',
    currentLinesSql('comercioEvento'),
  ),
}

/** Reads the lines that are now in the range of positions that a link covers. */
export async function readChainRows(db: Db, chain: Chain, number: number): Promise<ChainRow[]> {
  const { registro, comercio_id, modo } = chain
  const [before] = await db.query(LAST, { registro, hasta: number - 1 })
  const [currentLink] = await db.query(LAST, { registro, hasta: number })
  if (!currentLink) return []
  const { xid, id, secuencia } = before ?? START
  return partOfChain(db, chain).query(READ[selectionOf(chain)], {
    comercio_id,
    modo,
    xid,
    id,
    secuencia,
    fin_xid: currentLink.xid,
    fin_id: currentLink.id,
    fin_secuencia: currentLink.secuencia,
  })
}

/** SQL condition for a line with a transaction number that PostgreSQL has not assigned yet. */
const FUTURE = 'xid >= flujo_fin()'

/** Line that no link covers. `future`: its transaction number has not been assigned yet. */
interface UnchainedLine {
  clave: Buffer
  future: boolean
}

const unchainedSql = (selection: LineSelection) => {
  const { writtenAt } = LINES[SELECTIONS[selection].de]
  const linesQuery = linesSql(selection, `(${FUTURE} or ${writtenAt} < :before)`, 100)
  return `select clave, coalesce(${FUTURE}, false) as future from (${linesQuery}) x`
}

type Before = { before: Date }
const UNCHAINED: Record<LineSelection, Statement<LineCursor & Before, UnchainedLine>> = {
  bitacora: statement<SelectionParams<'bitacora'> & Before, UnchainedLine>(
    'bitacora.unlinked',
    'central',
    unchainedSql('bitacora'),
  ),
  evento: statement<SelectionParams<'evento'> & Before, UnchainedLine>(
    'bitacora.unlinkedEvents',
    'part',
    unchainedSql('evento'),
  ),
  comercioEvento: statement<SelectionParams<'comercioEvento'> & Before, UnchainedLine>(
    'bitacora.unlinkedOfOne',
    'part',
    unchainedSql('comercioEvento'),
  ),
}

/**
 * Reads up to 100 lines after the last link that are faults. `future`: lines that no link can ever cover. The others
 * were written before `before` and should have a link by now.
 */
export async function readUnchained(db: Db, chain: Chain, before: Date): Promise<UnchainedLine[]> {
  const { registro, comercio_id, modo } = chain
  const { xid, id, secuencia } = (await db.query(LAST, { registro, hasta: null }))[0] ?? START
  const params = { comercio_id, modo, xid, id, secuencia, before }
  return partOfChain(db, chain).query(UNCHAINED[selectionOf(chain)], params)
}
