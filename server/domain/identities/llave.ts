import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Identities } from '../../api/http/identity.ts'
import { normalizeRange, type RangeFault } from '../../api/http/network.ts'
import { pickColumns } from '../../data/columns.ts'
import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { llave } from '../../generated/contract/prisma/client.ts'
import type {
  Alcance,
  AlcanceDeOperacion,
  Llave,
  LlaveCreada,
  LlaveCualquiera,
  LlaveCualquieraCreada,
  LlaveDeOperador,
  LlaveDeOperadorCreada,
  Modo,
  Pais,
} from '../../generated/contract/types/index.ts'
import { ALCANCES, ALCANCES_DE_OPERACION } from '../../generated/contract/vocabulary.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time/units.ts'
import {
  AUDITED_LLAVE_FIELDS,
  INHERITED_LLAVE_FIELDS,
  type InheritedLlaveField,
  LLAVE_FIELDS,
  NEW_LLAVE_FIELDS,
  type NewLlaveField,
  type ShownLlaveField,
} from './llaveFields.ts'

/** Kind of a key: `oper` for an operator's key, else the mode of a merchant's key. */
export type LlaveType = Modo | 'oper'

/**
 * Columns of a key's row that depend on the owner. `ComercioLlave`: the owner is a merchant. `OperadorLlave`: the owner is an
 * operator.
 */
interface ComercioLlave {
  tipo: Modo
  comercio_id: string
  operador_id: null
  alcances: Alcance[]
}
interface OperadorLlave {
  tipo: 'oper'
  comercio_id: null
  operador_id: string
  alcances: AlcanceDeOperacion[]
}

/** Row of `llave`, with the public identifier of the key's owner: com_… here, op_… in `OperadorLlaveRow`. */
type ComercioLlaveRow = RowOf<llave, ComercioLlave> & { dueno: string }
type OperadorLlaveRow = RowOf<llave, OperadorLlave> & { dueno: string }
/** Row of `llave`, with the public identifier of the key's owner (com_… or op_…). */
export type LlaveRow = ComercioLlaveRow | OperadorLlaveRow

/** Row of a key with the columns of its owner that requests need. The settings of an operator are null. */
export type OwnedLlaveRow = LlaveRow & {
  nombre: string
  pais: Pais | null
  estricto: boolean | null
  ritmo_solicitudes: number | null
  ritmo_guias: number | null
}

const ID_LENGTH = 12
const SECRETO_LENGTH = 52
const CHECKSUM_LENGTH = 6
const SHAPE = new RegExp(
  `^guia_(live|test|oper)_([0-9A-HJKMNP-TV-Z]{${ID_LENGTH}})([0-9A-HJKMNP-TV-Z]{${SECRETO_LENGTH}})([0-9A-HJKMNP-TV-Z]{${CHECKSUM_LENGTH}})$`,
)

/**
 * Returns the checksum of a key's text. The checksum shows, without a database query, whether a key was copied whole.
 */
export const checksum = (text: string) =>
  randomBase32(CHECKSUM_LENGTH, (bytes) => hash('sha256', text, 'buffer').subarray(0, bytes))

const hashOf = (secret: string) => hash('sha256', secret, 'buffer')

/** Id, hash and text of a new key. */
interface NewLlave {
  id: string
  hash: Uint8Array<ArrayBuffer>
  llave: string
}

/**
 * Creates a new key: `guia_<tipo>_` + id (12) + secret (52 characters, 260 bits) + checksum (6). Also returns the hash
 * of the secret; the secret itself is not stored.
 */
export function newLlave(type: LlaveType): NewLlave {
  const id = randomBase32(ID_LENGTH, randomBytes)
  const secret = randomBase32(SECRETO_LENGTH, randomBytes)
  const body = `guia_${type}_${id}${secret}`
  return { id, hash: new Uint8Array(hashOf(secret)), llave: body + checksum(body) }
}

/** Parts of a presented key. */
interface PresentedLlave {
  tipo: LlaveType
  id: string
  secreto: string
}

/** Splits a presented key into its parts; undefined if the text cannot be a key. */
export function readLlave(text: string): PresentedLlave | undefined {
  const [, type, id, secreto, final] = SHAPE.exec(text) ?? []
  if (!type || !id || !secreto || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== final) return undefined
  return { tipo: type as LlaveType, id, secreto }
}

/** Reports whether a secret belongs to a key. Compares in constant time. */
const hasSecret = (row: Pick<LlaveRow, 'hash'>, secret: string) => timingSafeEqual(hashOf(secret), row.hash)

/** Reports whether a key is valid now, that is, neither revoked nor expired. */
export const isLlaveActive = ({ vence_en, revocado_en }: Pick<LlaveRow, 'vence_en' | 'revocado_en'>, now: Date) =>
  revocado_en === null && (vence_en === null || vence_en > now)

/**
 * SQL that selects keys with the columns of their owners. The revocation of an operator also revokes the operator's
 * keys.
 */
const SELECT_WITH_OWNER = `select ${Object.keys(LLAVE_FIELDS)
  .map((name) => (name === 'revocado_en' ? 'coalesce(l.revocado_en, o.revocado_en) as revocado_en' : `l.${name}`))
  .join(', ')},
     coalesce(c.comercio, o.operador) as dueno, coalesce(c.nombre, o.nombre) as nombre, c.pais, c.estricto,
     c.ritmo_solicitudes, c.ritmo_guias
   from llave l
   left join comercio c on c.id = l.comercio_id left join operador o on o.id = l.operador_id`

const FIND = statement<Pick<LlaveRow, 'id'>, OwnedLlaveRow>(
  'llaves.find',
  'central',
  `${SELECT_WITH_OWNER} where l.id = :id`,
)

/**
 * Separate from `FIND`, because PostgreSQL plans the statement anew for each list of ids. A single key avoids that
 * cost.
 */
const FIND_MANY = statement<{ ids: readonly string[] }, OwnedLlaveRow>(
  'llaves.findMany',
  'central',
  `${SELECT_WITH_OWNER} where l.id = any(:ids::text[])`,
)

/**
 * Returns the key with that id and its owner, even if the key is no longer valid; undefined if the key does not exist.
 */
export async function findLlave(db: Pick<Db, 'query'>, id: string): Promise<OwnedLlaveRow | undefined> {
  const [row] = await db.query(FIND, { id })
  return row
}

/** Returns the keys with those ids and their owners, by id, even if a key is no longer valid. */
export async function findLlaves(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, OwnedLlaveRow>> {
  const [id] = ids
  const rows = ids.length === 1 ? await db.query(FIND, { id: id! }) : await db.query(FIND_MANY, { ids })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Reports whether a presented key has the kind and the secret of a row. */
export const isPresentedLlave = (row: Pick<LlaveRow, 'tipo' | 'hash'>, { tipo, secreto }: PresentedLlave): boolean =>
  row.tipo === tipo && hasSecret(row, secreto)

const MARK = statement<{ ids: readonly string[] }>(
  'llaves.mark',
  'central',
  'update llave set demostracion = true where id = any(:ids::text[]) and not demostracion',
)

/** Marks keys as demonstration keys; texts that are not keys are skipped. */
export const markDemoLlaves = (db: Pick<Db, 'query'>, texts: readonly string[]) =>
  db.query(MARK, { ids: texts.flatMap((text) => readLlave(text)?.id ?? []) })

const PREFIX = 'llave_'
const PUBLIC_ID = new RegExp(`^${PREFIX}([0-9A-Z]{${ID_LENGTH}})$`)

const WEEK_MS = 7 * DAY_MS

/** Reports whether a valid key expires within seven days. */
export const expiresSoon = (vence_en: Date | null, now: Date) =>
  vence_en !== null && vence_en.getTime() - now.getTime() <= WEEK_MS

/**
 * Returns the key, a merchant's or an operator's, that a public id (`llave_…`) names.
 * @throws Problema 404
 */
export async function requireLlave(db: Pick<Db, 'query'>, publicId: string): Promise<OwnedLlaveRow> {
  const [, id] = PUBLIC_ID.exec(publicId) ?? []
  const row = id ? await findLlave(db, id) : undefined
  if (!row) throw new Problema('llave_desconocida', 'No hay ninguna llave con ese identificador.')
  return row
}

const presentCommon = (row: Pick<llave, ShownLlaveField>) => ({
  redes: row.redes,
  creado_en: row.creado_en.toISOString(),
  vence_en: row.vence_en?.toISOString() ?? null,
  revocado_en: row.revocado_en?.toISOString() ?? null,
  usado_en: row.usado_en?.toISOString() ?? null,
})

/** Returns a merchant's key in the form of the contract, without its hash. */
export const presentLlave = (row: Pick<ComercioLlaveRow, ShownLlaveField | 'dueno'>): Llave => ({
  id: PREFIX + row.id,
  comercio: row.dueno,
  modo: row.tipo,
  alcances: row.alcances,
  ...presentCommon(row),
})

/** Returns an operator's key in the form of the contract, without its hash. */
export const presentOperadorLlave = (row: Pick<OperadorLlaveRow, ShownLlaveField | 'dueno'>): LlaveDeOperador => ({
  id: PREFIX + row.id,
  operador: row.dueno,
  alcances: row.alcances,
  ...presentCommon(row),
})

/** Returns a key of either kind in the form of the contract, without its hash. */
export const presentAnyLlave = (row: LlaveRow): LlaveCualquiera =>
  row.tipo === 'oper' ? presentOperadorLlave(row) : presentLlave(row)

/** Options of a new key. The defaults are all scopes, no expiry and any network. */
interface LlaveOptions<A> {
  alcances?: readonly A[] | undefined
  vence_en?: Date | null
  /** Networks in canonical form; empty: any network. */
  redes?: string[]
}

const SAVE = statement<Pick<LlaveRow, NewLlaveField>>(
  'llaves.save',
  'central',
  `insert into llave (${NEW_LLAVE_FIELDS.join(', ')}) values (${NEW_LLAVE_FIELDS.map((name) => `:${name}`).join(', ')})`,
)

/**
 * Inserts a new key.
 * @returns the row, and the whole key, which is stored nowhere
 */
async function saveRow<F extends LlaveRow>(
  { query }: Pick<Db, 'query'>,
  creado_en: Date,
  de: Pick<F, InheritedLlaveField | 'dueno'>,
  { llave, ...created }: NewLlave = newLlave(de.tipo),
) {
  const row = { ...de, ...created, creado_en, revocado_en: null, usado_en: null, demostracion: false } as unknown as F
  await query(SAVE, row)
  return { row, llave }
}

/** Creates a merchant's key. The whole key appears only in this result. */
export async function saveLlave(
  db: Pick<Db, 'query'>,
  now: Date,
  de: LlaveOptions<Alcance> & { comercioId: string; comercio: string; modo: Modo },
): Promise<LlaveCreada> {
  const { row, llave } = await saveRow<ComercioLlaveRow>(db, now, {
    tipo: de.modo,
    comercio_id: de.comercioId,
    operador_id: null,
    dueno: de.comercio,
    alcances: [...(de.alcances ?? ALCANCES)],
    vence_en: de.vence_en ?? null,
    redes: de.redes ?? [],
  })
  return { ...presentLlave(row), llave }
}

/**
 * Creates an operator's key. The whole key appears only in this result.
 * @param created key that was made before; by default a new one
 */
export async function saveOperadorLlave(
  db: Pick<Db, 'query'>,
  now: Date,
  de: LlaveOptions<AlcanceDeOperacion> & { operadorId: string; operador: string },
  created?: NewLlave,
): Promise<LlaveDeOperadorCreada> {
  const llaveRow = {
    tipo: 'oper' as const,
    comercio_id: null,
    operador_id: de.operadorId,
    dueno: de.operador,
    alcances: [...(de.alcances ?? ALCANCES_DE_OPERACION)],
    vence_en: de.vence_en ?? null,
    redes: de.redes ?? [],
  }
  const { row, llave } = await saveRow<OperadorLlaveRow>(db, now, llaveRow, created)
  return { ...presentOperadorLlave(row), llave }
}

/** Creates a key with the owner, scopes, networks and expiry of an existing key. */
export async function saveReplacement(
  db: Pick<Db, 'query'>,
  now: Date,
  previousRow: LlaveRow,
): Promise<LlaveCualquieraCreada> {
  const de = pickColumns(previousRow, [...INHERITED_LLAVE_FIELDS, 'dueno'])
  const { row, llave } = await saveRow<LlaveRow>(db, now, de)
  return { ...presentAnyLlave(row), llave }
}

const EXPIRE = statement<{ id: string; vence_en: Date }>(
  'llaves.expire',
  'central',
  'update llave set vence_en = :vence_en where id = :id and (vence_en is null or vence_en > :vence_en)',
)

/** Lets a rotated key end after the overlap, unless it ends before. */
export async function expireLlave(
  query: Query,
  { id, vence_en }: Pick<LlaveRow, 'id' | 'vence_en'>,
  end: Date,
): Promise<{ vence_en: Date }> {
  await query(EXPIRE, { id, vence_en: end })
  return { vence_en: vence_en && vence_en < end ? vence_en : end }
}

/** Returns the end of the overlap of a rotated key and its successor. */
export const overlapEnd = (now: Date, hours: number) => new Date(now.getTime() + hours * HOUR_MS)

/** Returns the public identifier of a key. */
export const toPublicLlaveId = (id: string) => PREFIX + id

/** Returns the merchant and mode to which an audit line about a key belongs; empty for an operator's key. */
export const toBitacoraFields = ({ tipo, comercio_id }: Pick<LlaveRow, 'tipo' | 'comercio_id'>) =>
  tipo === 'oper' || comercio_id === null ? {} : { de: { comercio_id, modo: tipo } }
/** Returns the values of an audit line that say what a key may do. */
export const llavePowers = (llave: LlaveCualquiera) => pickColumns(llave, AUDITED_LLAVE_FIELDS)

/** Returns Prisma's conditions for the keys of an owner, newest first, after a position. */
export const newestLlaves = (
  de: { comercio_id: string } | { operador_id: string },
  after: readonly (string | number)[] | undefined,
) => {
  const [creado_en, id] = after ? [new Date(after[0]!), String(after[1])] : []
  return {
    where: after ? { ...de, OR: [{ creado_en: { lt: creado_en! } }, { creado_en: creado_en!, id: { lt: id! } }] } : de,
    orderBy: [{ creado_en: 'desc' as const }, { id: 'desc' as const }],
  }
}
/** Returns the position of a key in the list of {@link newestLlaves}. */
export const llavePosition = ({ creado_en, id }: Pick<llave, 'creado_en' | 'id'>) => [creado_en.getTime(), id]

/**
 * Parses the expiry of a new key from the request; null if the key never expires.
 * @throws Problema 422 if the expiry is not in the future
 */
export function parseExpiry(vence_en: string | undefined, now: Date): Date | null {
  const end = vence_en === undefined ? null : readInstant(vence_en)!
  if (!end || end > now) return end
  throw problemOfFaults('validacion', [
    { campo: '/vence_en', codigo: 'fuera_de_rango', mensaje: 'debe estar en el futuro; omítalo si la llave no vence' },
  ])
}

/**
 * Returns the networks of a new key in canonical form, each once.
 * @throws Problema 422 that names the texts that are not networks
 */
export const readNetworks = (networks: readonly string[] = []): string[] => {
  const ranges = networks.map(normalizeRange)
  const faults = ranges.flatMap((range, i) => ('fault' in range ? [networkFault(i, range.fault)] : []))
  if (faults.length > 0) throw problemOfFaults('validacion', faults)
  return [...new Set(ranges.flatMap((range) => ('red' in range ? [range.red] : [])))]
}

const MENSAJES: Readonly<Record<RangeFault, string>> = {
  not_a_network: 'no es una red: escriba una como 203.0.113.0/24 o 2001:db8::/48, o una dirección',
  ipv4_prefix:
    'es una dirección IPv4 escrita como IPv6 y su prefijo debe ser de 96 a 128: escriba la red como IPv4, por ejemplo 203.0.113.0/24',
}
const networkFault = (i: number, fault: RangeFault) => ({
  campo: `/redes/${i}`,
  codigo: 'formato_invalido' as const,
  mensaje: MENSAJES[fault],
})

/**
 * Requires that the caller's key has all scopes of the key whose text the caller is about to get. Otherwise the caller
 * could do more with that key than with its own. The console has all scopes.
 * @throws Problema 403 that names the missing scopes
 */
export function requireOwnAlcances(
  { alcances }: Pick<Identities['llaveDeOperacion'], 'alcances'>,
  requestedAlcances: readonly AlcanceDeOperacion[],
  remedy: string,
): void {
  const missingAlcances = requestedAlcances.filter((alcance) => !alcances.includes(alcance))
  if (missingAlcances.length === 0) return
  const missingText = `${missingAlcances.length === 1 ? 'el alcance' : 'los alcances'} ${LIST_FORMAT.format(missingAlcances)}`
  throw new Problema('alcance_insuficiente', `Esta llave no tiene ${missingText} y no puede darlos a otra. ${remedy}`)
}
const LIST_FORMAT = new Intl.ListFormat('es')

/**
 * SQL of the common table expression `administran`: the valid keys with scope `administrar`. It locks the keys in a
 * fixed order, so that of two concurrent revocations the second sees the first. A statement that revokes starts with
 * it. `duradera` is true for keys that neither expire nor are bound to networks.
 */
export const ADMINISTERING = `administran as (
  select l.id, l.operador_id, l.vence_en is null and l.redes = '{}' as duradera from llave l join operador o on o.id = l.operador_id
  where 'administrar' = any(l.alcances) and l.revocado_en is null and o.revocado_en is null
    and (l.vence_en is null or l.vence_en > :now)
  order by l.id for update)`

/**
 * SQL condition that a revocation leaves enough keys with scope `administrar`. At least one must remain. If a revoked
 * key neither expires nor is bound to networks, a remaining key must have the same properties. Otherwise a later expiry
 * or a move to another office could lock out all operators, which a revocation must not do.
 * @param condition SQL condition for the revoked keys
 */
export const anotherLlaveRemainsSql = (condition: string) => `(not exists (select from administran where ${condition})
  or exists (select from administran where not (${condition})
    and (duradera or not exists (select from administran where ${condition} and duradera))))`

/** Returns the problem for a request that would lock all operators out of their API. */
export const lastLlave = () =>
  new Problema(
    'ultima_llave',
    'Es la última llave vigente con el alcance administrar, o la última de ellas que ni vence ni está limitada a unas redes. Cree antes otra igual.',
  )
