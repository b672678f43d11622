// Disaster drill for backups. Restores a copy of the installation from a backup, and runs it with a continuous backup
// of its own. Then destroys the copy and restores it again. Finally compares the result with the destroyed copy.

import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { readStatus } from '../../server/data/embedded/continuous/folder.ts'
import { keepContinuousBackup } from '../../server/data/embedded/continuous/keep.ts'
import { acquirePostgres } from '../../server/data/embedded/embedded.ts'
import { readPostmaster } from '../../server/data/embedded/postmaster.ts'
import { verifyChains } from '../../server/domain/bitacora/verificar.ts'
import type { OperacionDeps } from '../../server/domain/deps.ts'
import { Passphrase } from '../../server/platform/backup/seal.ts'
import { createLog } from '../../server/platform/log.ts'
import type { ConsoleEnvironment } from './command.ts'
import { withDeps } from './deps.ts'

/** Numbers of rows in an installation's tables. */
export interface RowCounts {
  guias: number
  eventos: number
  lineas: number
}

const COUNT_ROWS = `select (select count(*)::int from guia where creado_en <= $1) as guias,
  (select count(*)::int from evento where registrado_en <= $1) as eventos,
  (select count(*)::int from bitacora where creado_en <= $1) as lineas`

/** Counts the rows that existed at an instant. */
export const countRows = async ({ db }: OperacionDeps, until = new Date('9999-01-01')): Promise<RowCounts> =>
  (await db.pool.query<RowCounts>(COUNT_ROWS, [until])).rows[0]!

/** Result of a drill. */
export interface Prueba extends RowCounts {
  archivos: number
  eslabones: number
  /** Path of the backup that was tested. */
  respaldo: string
  /** Age of the backup in seconds, compared with the installation. */
  atraso_s: number
  /** Seconds of work before the disaster that were lost (RPO). */
  perdida_s: number
  /** Seconds from the disaster until the restored database answers and its files are in place (RTO). */
  restauracion_s: number
  /** Differences between the restored data and the original, in Spanish. */
  faltas: string[]
}

/** Functions of the backup commands that a drill uses. */
interface BackupFunctions {
  /** Folder of the installation's continuous backup. Undefined: the drill makes a backup of its own. */
  continuo: string | undefined
  backUp: (file: string) => Promise<void>
  restore: (file: string, folder: string, key?: Passphrase) => Promise<RowCounts>
}

/** Time for which the copy works before its disaster, in milliseconds. */
const WORK_MS = 5_000

/** Maximum time until the copy's continuous backup is complete, in milliseconds. */
const BACKUP_DEADLINE_MS = 600_000

const seconds = (from: number, until: number) => Math.round((until - from) / 10) / 100

/**
 * Restores a backup into a temporary copy, destroys the copy while it works, restores it again, and compares the two.
 */
export async function drillBackup(
  env: ConsoleEnvironment,
  { continuo, backUp, restore }: BackupFunctions,
): Promise<Prueba> {
  const folder = mkdtempSync(join(tmpdir(), 'guias-simulacro-'))
  chmodSync(folder, 0o711) // PostgreSQL's user must be able to pass through this folder.
  const [file, copy, backup, restored] = ['guias.respaldo', 'copia', 'respaldo', 'restaurada'].map((fileName) =>
    join(folder, fileName),
  ) as [string, string, string, string]
  const inCopy = (dataDir: string) => ({ ...env, BACKUP_DIR: '', DATA_DIR: dataDir })
  try {
    const instant = new Date((continuo && readStatus(continuo)?.al_dia) || Date.now())
    if (!continuo) await backUp(file)
    await restore(continuo ?? file, copy)
    const atraso_s = seconds(instant.getTime(), Date.now())
    const [liveCounts, copiedCounts] = [
      await withDeps(env, false, (deps) => countRows(deps, instant)),
      await withDeps(inCopy(copy), false, (deps) => countRows(deps, instant)),
    ]
    const key = new Passphrase(randomBytes(24).toString('base64url'))
    const { ultima, lostAt, huellas } = await destroy(copy, backup, key)
    await restore(backup, restored, key)
    const listo = Date.now()
    return await withDeps(inCopy(restored), true, async (deps) => {
      const { eslabones, faltas } = await verifyChains(deps, { desde: new Date(0), hasta: new Date('9999-01-01') })
      const archivoFindings = await findChangedArchivos(deps)
      return {
        ...(await countRows(deps)),
        archivos: archivoFindings.archivos,
        eslabones,
        respaldo: continuo ?? 'uno hecho ahora',
        atraso_s,
        perdida_s: seconds(await timeOfLastRow(deps, ultima), lostAt),
        restauracion_s: seconds(lostAt, listo),
        faltas: [
          ...(Object.keys(liveCounts) as (keyof RowCounts)[])
            .filter((countName) => copiedCounts[countName] < liveCounts[countName])
            .map(
              (countName) => `${countName}: el respaldo tiene ${copiedCounts[countName]} de ${liveCounts[countName]}`,
            ),
          ...findChangedTables(huellas, await readTableDigests(deps.db.pool)),
          ...faltas,
          ...archivoFindings.faltas,
        ],
      }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

/**
 * Runs the copy with a continuous backup, and then destroys it: kills PostgreSQL, and removes its folder.
 * @returns fingerprints of its tables, the instant of the disaster, and the instant of the last committed row
 */
async function destroy(dataDir: string, folder: string, passphrase: Passphrase) {
  const { superuserUrl: url, pgdata, release } = await acquirePostgres({ dataDir, exclusive: true })
  const files = { files: join(dataDir, 'archivos'), log: createLog('silent') }
  const { abandon } = await keepContinuousBackup({ folder, passphrase, days: 1, dataDir, url, ...files })
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // The disaster ends this connection; an unhandled error would end the process.
  await client.connect()
  for (const deadline = Date.now() + BACKUP_DEADLINE_MS; !readStatus(folder)?.al_dia; await sleep(100))
    if (Date.now() > deadline) throw new Error('The continuous backup of the copy is not ready after ten minutes.')
  const huellas = await readTableDigests(client)
  await client.query('create table simulacro (creado_en timestamptz not null); grant select on simulacro to public')
  let ultima = 0
  for (const deadline = Date.now() + WORK_MS; Date.now() < deadline; await sleep(10)) {
    const { rows } = await client.query<{ ms: string }>(
      'insert into simulacro values (clock_timestamp()) returning extract(epoch from creado_en) * 1000 as ms',
    )
    ultima = Number(rows[0]!.ms)
  }
  const lostAt = Date.now()
  const abandonment = abandon()
  process.kill(readPostmaster(pgdata)!.pid, 'SIGKILL')
  await abandonment
  await release()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
  return { huellas, lostAt, ultima }
}

/**
 * Returns the instant of the last restored row of the drill's table, in milliseconds. If the table itself was lost,
 * returns the instant at which the drill's work began.
 */
async function timeOfLastRow({ db }: OperacionDeps, last: number): Promise<number> {
  const { rows } = await db.pool.query<{ exists: boolean }>(
    `select to_regclass('public.simulacro') is not null as exists`,
  )
  if (!rows[0]!.exists) return last - WORK_MS
  const { rows: restoredRows } = await db.pool.query<{ ms: string | null }>(
    'select extract(epoch from max(creado_en)) * 1000 as ms from simulacro',
  )
  return Number(restoredRows[0]!.ms ?? last - WORK_MS)
}

type TableDigests = Record<string, string>

/** Returns a fingerprint of the rows of each table. */
async function readTableDigests(client: Pick<pg.Client, 'query'>): Promise<TableDigests> {
  const { rows } = await client.query<{ table: string; query: string }>(
    `select relname as table, format(
       'select count(*) || '' '' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) as huella from public.%I t',
       relname) as query
     from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'simulacro' order by 1`,
  )
  const digests: TableDigests = {}
  for (const { table, query } of rows) digests[table] = (await client.query<{ huella: string }>(query)).rows[0]!.huella
  return digests
}

const findChangedTables = (before: TableDigests, after: TableDigests) =>
  Object.keys(before)
    .filter((table) => before[table] !== after[table])
    .map((table) => `tabla ${table}: cambió al restaurar`)

/** Returns the names of files that are missing, or whose contents differ from the digests in the database. */
async function findChangedArchivos({ db, store }: OperacionDeps): Promise<{ archivos: number; faltas: string[] }> {
  const { rows: archivoRows } = await db.pool.query<{ archivo: string; sha256: Uint8Array }>(
    'select archivo, sha256 from archivo order by archivo',
  )
  const faltas: string[] = []
  for (const { archivo, sha256 } of archivoRows) {
    const digest = createHash('sha256')
    try {
      for await (const chunk of await store.read(archivo)) digest.update(chunk)
      if (!digest.digest().equals(sha256)) faltas.push(`archivo ${archivo}: cambió`)
    } catch {
      faltas.push(`archivo ${archivo}: falta`)
    }
  }
  return { archivos: archivoRows.length, faltas }
}
