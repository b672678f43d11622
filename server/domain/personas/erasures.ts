import { type Db, statement } from '../../data/db.ts'
import { inTurn } from '../../data/turns.ts'
import { Problema } from '../../platform/errors.ts'
import { FileStoreError, storeBusy } from '../../platform/files/store.ts'
import { seal, unseal } from '../../platform/sealing.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import { type Actor, CONSOLE_ACTOR } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { type Erasure, eraseGuia, eraseTelefono } from './eraseTelefono.ts'
import type { GuiaQuery, PersonQuery } from './persona.ts'

// Requests to erase personal data are also kept in the file storage, sealed and numbered without gaps. A database that
// was restored from a backup may have missed some of them. The process carries them out again before it serves
// requests.

/** Days for which a request is kept: longer than the maximum age of backups (docs/operacion/backing-up.md). */
const RETENTION_DAYS = 62
/** Maximum requests that one run of the job deletes. */
const MAX_REQUESTS_PER_RUN = 100

const LAST = statement<object, { numero: number }>(
  'olvidos.last',
  'central',
  'select coalesce(max(numero), 0) as numero from olvido',
)
const DONE = statement<{ numero: number; now: Date }>(
  'olvidos.done',
  'central',
  'insert into olvido (numero, hecho_en) values (:numero, :now)',
)
const OLD = statement<{ before: Date }, { numero: number }>(
  'olvidos.old',
  'central',
  `select numero from olvido where guardado and hecho_en < :before order by hecho_en limit ${MAX_REQUESTS_PER_RUN}`,
)
const DELETED = statement<{ numbers: readonly number[] }>(
  'olvidos.deleted',
  'central',
  'update olvido set guardado = false where numero = any(:numbers::int[])',
)

type ErasureLogDeps = Pick<Deps, 'db' | 'clock' | 'secretos' | 'bitacora' | 'store' | 'log'>

/** Erases what a request names: a telephone number, or one guide. */
const erase = (deps: ErasureLogDeps, actor: Actor, request: PersonQuery | GuiaQuery): Promise<Erasure> =>
  'guia' in request ? eraseGuia(deps, actor, request) : eraseTelefono(deps, actor, request)

const keyOf = (number: number) => `olvido_${String(number).padStart(9, '0')}`
const readLatest = async ({ query }: Db) => (await query(LAST))[0]!.numero

/**
 * Erases the stored data of a telephone number like {@link eraseTelefono}, or of a guide like {@link eraseGuia}. Also
 * records the request in the file storage, so that it is repeated if the database is restored from an older backup.
 * @throws Problema 503 if the file storage is unavailable; nothing is then erased
 */
export const erasePersonaData = (
  deps: ErasureLogDeps,
  actor: Actor,
  request: PersonQuery | GuiaQuery,
): Promise<Erasure> =>
  inTurn(deps.db, 'olvidos', async () => {
    const { db, secretos, store, clock } = deps
    await repeatPending(deps)
    const numero = (await readLatest(db)) + 1
    const sealedRequest = seal(secretos, 'olvidos', keyOf(numero), Buffer.from(JSON.stringify(request)))
    await store.save(keyOf(numero), sealedRequest, 'application/octet-stream')
    const erasure = await erase(deps, actor, request)
    await db.query(DONE, { numero, now: clock() })
    return erasure
  })

/**
 * Carries out the erasures that the file storage has recorded and this database has not, because it was restored to an
 * earlier instant. Processes wait for each other only if there is one.
 * @returns number of erasures
 */
export const repeatErasures = async (deps: ErasureLogDeps): Promise<number> => {
  const { db, store } = deps
  const hasPending = await store.exists(keyOf((await readLatest(db)) + 1))
  return hasPending ? inTurn(db, 'olvidos', () => repeatPending(deps)) : 0
}

async function repeatPending(deps: ErasureLogDeps): Promise<number> {
  const { db, secretos, store, clock, log } = deps
  const last = await readLatest(db)
  let numero = last + 1
  for (; await store.exists(keyOf(numero)); numero++) {
    const sealedRequest = Buffer.concat(await (await store.read(keyOf(numero))).toArray())
    const request: PersonQuery | GuiaQuery = JSON.parse(unsealRequest(secretos, keyOf(numero), sealedRequest))
    await erase(deps, CONSOLE_ACTOR, request)
    await db.query(DONE, { numero, now: clock() })
  }
  const repeatedCount = numero - 1 - last
  if (repeatedCount > 0)
    log.warn({ olvidos: repeatedCount }, 'erasures carried out again: the database had been restored')
  return repeatedCount
}

function unsealRequest(secrets: Deps['secretos'], key: string, sealedRequest: Buffer): string {
  try {
    return unseal(secrets, 'olvidos', key, sealedRequest).toString()
  } catch (cause) {
    throw new FileStoreError(
      `La base se restauró a un momento anterior, y el borrado ${key} que falta repetir no se puede leer: ${(cause as Error).message}. Ponga en MASTER_KEYS también la clave con la que se guardó.`,
      { cause },
    )
  }
}

/**
 * Runs {@link repeatErasures} before a process serves requests. If the storage is unavailable, the hourly job does it
 * later.
 * @param isStoreAvailable false if the storage has just failed to answer; then it is not asked again, which could take
 *   seconds
 */
export async function repeatBeforeServing(deps: ErasureLogDeps, isStoreAvailable: boolean): Promise<void> {
  try {
    if (!isStoreAvailable) throw storeBusy(new Error('the storage did not answer the check at start'))
    await repeatErasures(deps)
  } catch (err) {
    if (!(err instanceof Problema)) throw err
    deps.log.error(
      { err },
      'nobody knows whether erasures have to be carried out again: the file storage is unavailable',
    )
  }
}

/**
 * Carries out what {@link repeatErasures} could not do at start, and deletes requests that are older than any backup.
 */
export async function maintainErasures(deps: ErasureLogDeps): Promise<void> {
  await repeatErasures(deps)
  const { db, store, clock } = deps
  const oldErasures = await db.query(OLD, { before: new Date(clock().getTime() - RETENTION_DAYS * DAY_MS) })
  const numbers = oldErasures.map(({ numero }) => numero)
  for (const number of numbers) await store.remove(keyOf(number))
  if (numbers.length > 0) await db.query(DELETED, { numbers })
}
