import { createHmac, randomBytes } from 'node:crypto'
import { readByDigest } from '../../data/byDigest.ts'
import { type Db, type Query, statement } from '../../data/db.ts'
import type { repartidor, sesion_repartidor } from '../../generated/contract/prisma/client.ts'
import type { QuienReparte, Repartidor, RepartidorConCodigo, Sesion } from '../../generated/contract/types/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { normalizeBase32 } from '../../platform/codes/guideCode.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import type { Secrets, SubKey } from '../../platform/secrets.ts'
import { HOUR_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'

/** Returns a courier in the contract's form, without the code. */
export const presentRepartidor = (row: repartidor): Repartidor => ({
  repartidor: row.repartidor,
  nombre: row.nombre,
  telefono: row.telefono,
  activo: row.codigo_hash !== null,
  creado_en: row.creado_en.toISOString(),
})

/** Returns the public part of a courier. */
export const presentRepartidorName = ({ repartidor, nombre }: QuienReparte): QuienReparte => ({ repartidor, nombre })

/**
 * Length of a code in base32 characters (50 bits). A code is short to type and unlike a guide's code. 50 bits suffice
 * because sign-ins are rate-limited and the digest is keyed.
 */
const LENGTH = 10

const digest = ({ clave }: SubKey, code: string) => new Uint8Array(createHmac('sha256', clave).update(code).digest())

/** Generates a courier's code and the digest to store. */
export function newRepartidorCode(secrets: Secrets) {
  const code = randomBase32(LENGTH, randomBytes)
  return {
    codigo: `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`,
    codigo_hash: digest(secrets.current('repartidores'), code),
  }
}

/** Returns the digests under which a typed code may be stored: one per master key, the current key's first. */
export const repartidorCodeDigests = (secrets: Secrets, typedCode: string) =>
  secrets.todas('repartidores').map((subkey) => digest(subkey, normalizeBase32(typedCode)))

const IS_CODE_IN_USE = statement<{ huellas: readonly Uint8Array[] }, { in_use: boolean }>(
  'repartidores.isCodeInUse',
  'central',
  'select exists (select from repartidor where codigo_hash = any(:huellas::bytea[])) as in_use',
)

/** Reports whether a courier with that code exists. */
export async function isCodeInUse({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, code: string): Promise<boolean> {
  const [row] = await db.query(IS_CODE_IN_USE, { huellas: repartidorCodeDigests(secretos, code) })
  return row!.in_use
}

/** Returns the courier with that public identifier; null if unknown. */
export const findRepartidor = (db: Db, code: string): Promise<repartidor | null> =>
  db.prisma.repartidor.findUnique({ where: { repartidor: code } })

/**
 * Returns the courier with that public identifier.
 * @throws Problema 404
 */
export const requireRepartidor = async (db: Db, code: string): Promise<repartidor> =>
  (await findRepartidor(db, code)) ?? explainUnknown()

/**
 * Returns the active courier that the member `repartidor` of a request names.
 * @throws Problema 422
 */
export async function requireActiveRepartidor(db: Db, code: string): Promise<repartidor> {
  const row = await findRepartidor(db, code)
  if (row?.codigo_hash) return row
  const mensaje = 'no es ningún repartidor activo; compárelo con GET /operaciones/v1/repartidores'
  throw problemOfFaults('validacion', [{ campo: '/repartidor', codigo: 'valor_no_admitido', mensaje }])
}

const REPARTIDOR_NAMES = statement<{ repartidores: readonly string[] }, QuienReparte>(
  'repartidores.repartidorNames',
  'central',
  'select repartidor, nombre from repartidor where repartidor = any(:repartidores::text[])',
)

/** Returns the couriers with these public identifiers, by identifier, with their current names. */
export async function readRepartidorNames(db: Db, codes: readonly string[]): Promise<Map<string, QuienReparte>> {
  if (codes.length === 0) return new Map()
  const rows = await db.query(REPARTIDOR_NAMES, { repartidores: [...new Set(codes)] })
  return new Map(rows.map((row) => [row.repartidor, row]))
}

const SAVE = statement<
  Pick<repartidor, 'id' | 'repartidor' | 'nombre' | 'telefono' | 'codigo_hash' | 'creado_en'>,
  repartidor
>(
  'repartidores.save',
  'central',
  `insert into repartidor (id, repartidor, nombre, telefono, codigo_hash, creado_en)
   values (:id, :repartidor, :nombre, :telefono, :codigo_hash, :creado_en) returning *`,
)

const MARK = statement<{ huellas: readonly Uint8Array[] }>(
  'repartidores.mark',
  'central',
  'update repartidor set demostracion = true where codigo_hash = any(:huellas::bytea[]) and not demostracion',
)

/** Marks the courier with that code as a demonstration courier. A new code removes the mark. */
export const markDemoCode = ({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, code: string) =>
  db.query(MARK, { huellas: repartidorCodeDigests(secretos, code) })

/** Creates a courier. The result is the only place that ever contains the code itself. */
export async function saveRepartidor(
  { db, newId, secretos }: Pick<Deps, 'newId' | 'secretos'> & { db: Pick<Db, 'query'> },
  { nombre, telefono = null }: { nombre: string; telefono?: string | null },
): Promise<RepartidorConCodigo> {
  const { codigo, codigo_hash } = newRepartidorCode(secretos)
  const nuevo = { ...newId(), repartidor: `rep_${randomBase32(12)}`, nombre, telefono, codigo_hash }
  const [row] = await db.query(SAVE, nuevo)
  return { ...presentRepartidor(row!), codigo }
}

const SET_CODE = statement<Pick<repartidor, 'repartidor' | 'codigo_hash'>, repartidor>(
  'repartidores.setCode',
  'central',
  `update repartidor set codigo_hash = :codigo_hash::bytea, version = version + 1, demostracion = false
   where repartidor = :repartidor returning *`,
)

/**
 * Replaces a courier's code with another code or with none. The version increases, which ends the sessions of the old
 * code at once.
 * @throws Problema 404
 */
export async function setRepartidorCode(
  query: Query,
  de: Pick<repartidor, 'repartidor' | 'codigo_hash'>,
): Promise<repartidor> {
  const [row] = await query(SET_CODE, de)
  return row ?? explainUnknown()
}

function explainUnknown(): never {
  throw new Problema('repartidor_desconocido', 'No hay ningún repartidor con ese identificador.')
}

/** Session of a token, with its courier. */
export type SesionRow = Pick<sesion_repartidor, 'hash' | 'repartidor_id' | 'vence_en'> &
  Pick<repartidor, 'repartidor' | 'nombre' | 'demostracion'>

/** Duration of a session in milliseconds: 12 hours, a working day. */
export const SESION_DURATION_MS = 12 * HOUR_MS

/**
 * SQL that selects sessions, except those whose code was renewed or removed. The rows of the excluded sessions stay in
 * the table.
 */
const SELECT_SESION = `select s.hash, s.repartidor_id, s.vence_en, r.repartidor, r.nombre, r.demostracion from sesion_repartidor s
   join repartidor r on r.id = s.repartidor_id and r.version = s.version`

const FIND = statement<{ hash: Buffer }, SesionRow>('sesiones.find', 'central', `${SELECT_SESION} where s.hash = :hash`)

const FIND_MANY = statement<{ hashes: readonly Buffer[] }, SesionRow>(
  'sesiones.findMany',
  'central',
  `${SELECT_SESION} where s.hash = any(:hashes::bytea[])`,
)

/** Returns the sessions whose tokens have these digests, by digest, including expired sessions. */
export const findRepartidorSesiones = (db: Db, digests: readonly string[]) => readByDigest(db, FIND, FIND_MANY, digests)

/** Returns a session in the contract's form. */
export const presentRepartidorSesion = ({
  repartidor,
  nombre,
  vence_en,
}: Omit<SesionRow, 'hash' | 'repartidor_id' | 'demostracion'>): Sesion => ({
  repartidor,
  nombre,
  vence_en: vence_en.toISOString(),
})

const PURGE = statement<{ now: Date }>(
  'sesiones.purge',
  'central',
  'delete from sesion_repartidor where vence_en <= :now',
)

/** Deletes expired sessions. */
export async function purgeRepartidorSesiones({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  await db.query(PURGE, { now: clock() })
}
