import { type Db, statement } from '../../data/db.ts'
import { deleteOwners } from '../../data/owners.ts'
import { queryAllParts, runInEachPart } from '../../data/partQueries.ts'
import type { FileStore } from '../../platform/files/store.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'
import { isArchivoCode } from './archivo.ts'
import type { FileMetrics } from './metrics.ts'

/** Maximum number of rows or keys per batch. */
const MAX_PER_BATCH = 500
/** Age in milliseconds at which an unfinished upload counts as abandoned. An upload takes one minute at most. */
const ABANDONED_MS = HOUR_MS
/**
 * Time in milliseconds that an uploaded file waits for a proof that uses it. Clients are expected to use a file on the
 * same day.
 */
const UNUSED_MS = 7 * DAY_MS

/** Deletes the rows of files that no proof used in time, and marks these files for deletion in `archivo_indice`. */
const EXPIRE = statement<{ before: Date }>(
  'archivos.expire',
  'part',
  `with v as (
     select comercio_id, modo, guia_id, archivo from archivo where usado_en is null and creado_en < :before limit ${MAX_PER_BATCH}
   ), d as (
     delete from archivo a using v where a.comercio_id = v.comercio_id and a.modo = v.modo and a.guia_id = v.guia_id
       and a.archivo = v.archivo and a.usado_en is null
     returning a.archivo
   )
   update archivo_indice i set estado = 'borrando' from d where i.archivo = d.archivo`,
)
/**
 * Reads the codes of files marked for deletion. Literals let PostgreSQL use the partial index on rows that are not
 * `listo`, however large the table is.
 */
const TO_DELETE = statement<object, { archivo: string }>(
  'archivos.toDelete',
  'part',
  `select archivo from archivo_indice where estado = 'borrando' and creado_en > 'epoch' limit ${MAX_PER_BATCH}`,
)
const FORGET = statement<{ archivos: readonly string[] }>(
  'archivos.forget',
  'part',
  `delete from archivo_indice where archivo = any(:archivos::text[]) and estado = 'borrando'`,
)

/**
 * Minimum age in milliseconds of a file without a row before the sweeper deletes the file. This gives an operator time
 * to restore a database.
 */
const UNNAMED_MS = 7 * DAY_MS

const ABANDON = statement<{ before: Date }>(
  'archivos.abandon',
  'part',
  `update archivo_indice set estado = 'borrando' where estado = 'subiendo' and creado_en < :before`,
)

const KNOWN = statement<{ claves: readonly string[]; before: Date }, { clave: string; complete: boolean }>(
  'archivos.known',
  'part',
  `select archivo as clave, estado = 'listo' and creado_en < :before as complete from archivo_indice
   where archivo = any(:claves::text[])`,
)
const COUNT_COMPLETE = statement<{ before: Date }, { count: number }>(
  'archivos.countComplete',
  'part',
  `select count(*)::int as count from archivo_indice where estado = 'listo' and creado_en < :before`,
)

/**
 * Deletes the files that no row names or no proof uses. Deletes first their rows in `archivo`, then the files in the
 * storage, then their rows in `archivo_indice`.
 */
export async function sweepArchivos({
  db,
  store,
  clock,
  log,
}: Pick<Deps, 'db' | 'store' | 'clock' | 'log'>): Promise<void> {
  const ago = (ms: number) => new Date(clock().getTime() - ms)
  await runInEachPart(db, async (part) => {
    await part.query(EXPIRE, { before: ago(UNUSED_MS) })
    // An upload that finishes after this statement fails, because its reservation is marked for deletion.
    await part.query(ABANDON, { before: ago(ABANDONED_MS) })
    await deleteMarkedArchivos({ db: part, store, log })
  })
}

async function deleteMarkedArchivos({ db, store, log }: Pick<Deps, 'db' | 'store' | 'log'>): Promise<void> {
  for (let rowCount = MAX_PER_BATCH; rowCount === MAX_PER_BATCH; ) {
    const archivos = (await db.query(TO_DELETE)).map(({ archivo }) => archivo)
    const { deleted, failures } = await deleteFiles(store, archivos)
    if (deleted.length > 0) {
      await db.query(FORGET, { archivos: deleted })
      await deleteOwners(db, deleted)
      log.info({ archivos: deleted.length }, 'files swept')
    }
    // The failed files are still marked for deletion, so the next run tries them first.
    if (failures.length > 0) throw failures[0]
    rowCount = archivos.length
  }
}

/**
 * Number of failed deletions that ends a batch. One failed file does not delay the others; this many failures mean that
 * the storage is unavailable.
 */
const MAX_FAILURES = 10

async function deleteFiles(store: FileStore, archivos: readonly string[]) {
  const deleted: string[] = []
  const failures: unknown[] = []
  for (const archivo of archivos) {
    if (failures.length === MAX_FAILURES) break
    await store.remove(archivo).then(
      () => deleted.push(archivo),
      (error) => failures.push(error),
    )
  }
  return { deleted, failures }
}

const readKnown = (db: Db, claves: readonly string[], before: Date) =>
  queryAllParts(db, ({ query }) => query(KNOWN, { claves, before }))

/** Counts the complete files that the database has had since before an instant. */
const countComplete = async (db: Db, before: Date) =>
  (await queryAllParts(db, ({ query }) => query(COUNT_COMPLETE, { before }))).reduce((n, { count }) => n + count, 0)

/**
 * Deletes stored files that the database does not know, because the database was restored to an earlier state.
 * Checks the keys in pages. If a page has more unknown than known keys, deletes nothing more: the database is the wrong
 * one (another environment's, or an empty one). Reports how storage and rows differ.
 */
export async function sweepUnknownFiles({
  db,
  store,
  clock,
  log,
  metrics,
}: Pick<Deps, 'db' | 'store' | 'clock' | 'log'> & { metrics: Pick<FileMetrics, 'differences'> }): Promise<void> {
  const now = clock().getTime()
  const completeBefore = new Date(now - ABANDONED_MS)
  let [completeCount, filesWithoutRow] = [0, 0]
  let page: { clave: string; ago: number }[] = []
  const sweepPage = async () => {
    const known = await readKnown(
      db,
      page.map(({ clave }) => clave),
      completeBefore,
    )
    completeCount += known.filter(({ complete }) => complete).length
    const knownKeys = new Set(known.map(({ clave }) => clave))
    const unnamed = page.filter(({ clave }) => !knownKeys.has(clave))
    const stale = page.filter(({ ago }) => ago > UNNAMED_MS)
    const keys = unnamed.filter(({ ago }) => ago > UNNAMED_MS).map(({ clave }) => clave)
    const isForeignStore = keys.length > stale.length / 2
    // A younger file may belong to an upload whose row is not committed yet.
    filesWithoutRow += unnamed.filter(({ ago }) => ago > ABANDONED_MS).length - (isForeignStore ? 0 : keys.length)
    if (keys.length > 0) {
      const message = isForeignStore
        ? 'most files of the storage are unknown to this database: nothing deleted'
        : 'unknown files swept'
      log.warn({ archivos: keys.length, de: stale.length }, message)
    }
    if (!isForeignStore) for (const key of keys) await store.remove(key)
    page = []
    return !isForeignStore
  }
  for await (const { clave, modifiedAt } of store.list()) {
    if (isArchivoCode(clave)) page.push({ clave, ago: now - modifiedAt.getTime() })
    if (page.length === MAX_PER_BATCH && !(await sweepPage())) return metrics.differences({ filesWithoutRow })
  }
  await sweepPage()
  const missingFiles = Math.max(0, (await countComplete(db, completeBefore)) - completeCount)
  metrics.differences({ filesWithoutRow, missingFiles })
}
