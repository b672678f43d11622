import type { OperationId } from '../../api/contract/contract.ts'
import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { clave_idempotencia } from '../../generated/contract/prisma/client.ts'
import type { Modo } from '../../generated/contract/types/index.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { Problema } from '../../platform/errors.ts'
import { digest, type Secrets } from '../../platform/secrets.ts'
import { DAY_MS } from '../../platform/time/units.ts'

/** Returns the content of a request as one text, independent of the order of its members. */
export const requestContent = (solicitud: object): string =>
  JSON.stringify(solicitud, (_key, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )

/**
 * Returns the digest of a content, prefixed with the id of the key that made it. With this id, a repeated request still
 * matches after a change of the master key.
 */
export function contentDigest(secrets: Secrets, content: string): string {
  const currentSubkey = secrets.current('huellas')
  return `${currentSubkey.kid}:${digest(currentSubkey, content)}`
}

/** Returns true if the digest belongs to exactly this content. */
export function isSameContent(secrets: Secrets, huella: string | null, content: string): boolean {
  const [kid = '', storedDigest] = huella?.split(':') ?? []
  const subkey = secrets.de('huellas', kid)
  return subkey !== undefined && digest(subkey, content) === storedDigest
}

/** Row of `clave_idempotencia`. */
type KeyRow = RowOf<clave_idempotencia, { modo: Modo }>
type Key = Pick<KeyRow, 'comercio_id' | 'modo' | 'operacion' | 'idempotencia'>
type RememberedKey = Pick<KeyRow, 'huella' | 'identificador'>

/** Returns the parameters of a path with a guide's code in its canonical form, because any spelling means the same guide. */
function withCanonicalCode(path: unknown): unknown {
  const { guia, ...otherParams } = (path ?? {}) as { guia?: string }
  return guia === undefined ? path : { ...otherParams, guia: normalizeGuideCode(guia) ?? guia }
}

/** Time in milliseconds that a key is kept. Afterwards the key is free. */
export const KEY_LIFETIME_MS = DAY_MS

const FIND = statement<Key & { desde: Date }, RememberedKey>(
  'idempotencia.find',
  'merchant',
  `select huella, identificador from clave_idempotencia where comercio_id = :comercio_id and modo = :modo
     and operacion = :operacion and idempotencia = :idempotencia and creado_en > :desde`,
)

/** SQL of the columns of a key with their types, for `json_to_recordset`. */
export const KEY_COLUMNS =
  'comercio_id uuid, modo text, operacion text, idempotencia text, huella text, identificador text, creado_en timestamptz'

/** SQL of the columns that a key takes over from an expired one. */
const REPLACE = `on conflict (comercio_id, modo, operacion, idempotencia) do update
     set huella = excluded.huella, identificador = excluded.identificador, creado_en = excluded.creado_en`

/**
 * SQL that stores the keys `y`, whose columns are {@link KEY_COLUMNS}, as {@link REMEMBER} does. Of equal keys, stores that of
 * the lowest `n`.
 */
export const SAVE_KEYS = `insert into clave_idempotencia as c (comercio_id, modo, operacion, idempotencia, huella, identificador, creado_en)
     select distinct on (comercio_id, modo, operacion, idempotencia) comercio_id, modo, operacion, idempotencia, huella,
       identificador, creado_en from y order by comercio_id, modo, operacion, idempotencia, n
     ${REPLACE} where c.creado_en <= excluded.creado_en - interval '${KEY_LIFETIME_MS} milliseconds'`

/**
 * Stores a key, or takes over the row of an expired key. Waits for another transaction with the same key, and returns
 * no row if that transaction stored the key.
 */
const REMEMBER = statement<KeyRow & { desde: Date }>(
  'idempotencia.remember',
  'merchant',
  `insert into clave_idempotencia as c (comercio_id, modo, operacion, idempotencia, huella, identificador, creado_en)
   values (:comercio_id, :modo, :operacion, :idempotencia, :huella, :identificador, :creado_en)
   ${REPLACE} where c.creado_en <= :desde
   returning 1`,
)

/** Dependencies of keys. Guides store keys, so that the domain's own dependencies cannot be named here. */
interface KeyDeps {
  db: Pick<Db, 'query'>
  clock: () => Date
  secretos: Secrets
}

/** Headers of a request, by their names in lower case. */
interface Headers {
  'idempotency-key'?: string | undefined
}

/** Input of an operation that takes `Idempotency-Key`. */
interface OperationInput {
  identity: { comercioId: string; modo: Modo }
  headers: Headers | undefined
  path?: unknown
  body?: object | undefined
}

/**
 * Returns the key of a request, as the contract has validated it; undefined without a key. A string of a structured
 * field (RFC 9651) is the same key without its quotes and escapes.
 */
export function readKey(headers: Headers | undefined): string | undefined {
  const givenKey = headers?.['idempotency-key']
  return givenKey?.startsWith('"') ? givenKey.slice(1, -1).replace(/\\(.)/g, '$1') : givenKey
}

/** Key of a request, with the row that stores it together with the identifier of the request's effect. */
export interface RequestKey {
  row: Omit<KeyRow, 'identificador'>
  /** Rows of this key that are as old as this time, or older, are free. */
  desde: Date
  /**
   * Returns the identifier that an equal request stored; undefined if none did in the last 24 hours.
   * @throws Problema 409 if the key belongs to another request
   */
  anterior: () => Promise<string | undefined>
}

/** Reads the key of a request; undefined without a key. */
export function requestKey(
  { db, clock, secretos }: KeyDeps,
  operacion: OperationId,
  { identity, headers, path, body = {} }: OperationInput,
): RequestKey | undefined {
  const idempotencia = readKey(headers)
  if (idempotencia === undefined) return undefined
  const creado_en = clock()
  const desde = new Date(creado_en.getTime() - KEY_LIFETIME_MS)
  const key: Key = { comercio_id: identity.comercioId, modo: identity.modo, operacion, idempotencia }
  const content = requestContent({ path: withCanonicalCode(path), body })
  return {
    row: { ...key, huella: contentDigest(secretos, content), creado_en },
    desde,
    async anterior() {
      const [previous] = await db.query(FIND, { ...key, desde })
      if (previous && !isSameContent(secretos, previous.huella, content))
        throw keyConflict(
          idempotencia,
          'ya se usó en esta operación con otros datos. Si es otra cosa, use una clave nueva; si es la misma, envíela como la primera vez.',
        )
      return previous?.identificador
    },
  }
}

/**
 * Stores the key of the request in the transaction of its effect. Does nothing for a request without a key.
 * @param identifier identifier of the result, from which the answer to a repetition is built
 * @throws if an equal request has stored the key meanwhile; the transaction then rolls back
 */
export type Remember = (query: Query, identifier: string) => Promise<void>

/** Error: another transaction has stored the key, so the transaction of this request must roll back. */
class KeyTakenError extends Error {}

interface OnceSteps<T> {
  /** Does what the request asks for. Calls `remember` in the transaction of the effect, after its other statements. */
  perform: (remember: Remember) => Promise<T>
  /** Reads the result of the first request; undefined if it no longer exists. */
  reread: (identifier: string) => Promise<T | undefined>
}

/** Result of a request, and the header that marks a repetition. */
interface OnceResult<T> {
  result: T
  headers: { 'Idempotent-Replayed'?: 'true' }
}

/**
 * Executes a request at most once for each key. The key and the effect commit in one transaction, so a process that
 * dies leaves both or neither. A request that fails does not use up its key.
 * @throws Problema 409 if the key belongs to another request, or if the result no longer exists
 */
export async function doOnce<T>(
  deps: KeyDeps,
  operation: OperationId,
  solicitud: OperationInput,
  { perform, reread }: OnceSteps<T>,
): Promise<OnceResult<T>> {
  const key = requestKey(deps, operation, solicitud)
  if (!key) return { result: await perform(async () => {}), headers: {} }

  async function answerRepetition({ row, anterior }: RequestKey): Promise<OnceResult<T> | undefined> {
    const identifier = await anterior()
    if (identifier === undefined) return undefined
    const result = await reread(identifier)
    if (result === undefined)
      throw keyConflict(
        row.idempotencia,
        'ya hizo lo que se pidió, y lo que creó ya no existe. Para hacerlo otra vez, use una clave nueva.',
      )
    return { result, headers: { 'Idempotent-Replayed': 'true' } }
  }

  const repetida = await answerRepetition(key)
  if (repetida) return repetida
  try {
    const result = await perform(async (query, identificador) => {
      const row = { ...key.row, identificador, desde: key.desde }
      if ((await query(REMEMBER, row)).length === 0) throw new KeyTakenError('the key is taken')
    })
    return { result, headers: {} }
  } catch (error) {
    // If an equal request runs at the same time, the operation may fail with its own conflict, such as a repeated
    // address.
    const repeated =
      error instanceof Problema || error instanceof KeyTakenError ? await answerRepetition(key) : undefined
    if (repeated) return repeated
    throw error
  }
}

/** Makes the problem of a key that belongs to something else. `why` also says what to do. */
export const keyConflict = (idempotencia: string, why: string) =>
  new Problema('idempotencia_en_conflicto', `La Idempotency-Key ${idempotencia} ${why}`)
