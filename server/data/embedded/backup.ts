// Backup of the embedded PostgreSQL while it runs, and its restore. The installation has neither pg_basebackup nor tar,
// so the files are copied between pg_backup_start and pg_backup_stop
// (https://www.postgresql.org/docs/18/continuous-archiving.html, «Making a base backup using the low level API»).

import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { type ArchiveEntry, contentsOf, textContents } from '../../platform/backup/archive.ts'
import { claimForPostgres, EmbeddedPostgresError } from './installation.ts'

/** Folder of the cluster within an archive. */
const PGDATA = 'pgdata/'
/** Folders that are copied empty: they must exist, but their contents must not be restored. */
const EMPTIED_FOLDERS = new Set([
  'pg_wal',
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])
const FOREIGN_FILES =
  /^(?:postmaster\.(?:pid|opts)|backup_label(?:\.old)?|tablespace_map|pg_internal\.init.*|pgsql_tmp.*)$/

const WAL_SEGMENT = /^[0-9A-F]{24}$/
/** Pattern of a timeline's history file. A cluster that was restored before has one. */
const TIMELINE_HISTORY = /^[0-9A-F]{8}\.history$/

/**
 * Reads a file piece by piece. Yields nothing if PostgreSQL removes the file meanwhile, and fewer bytes if PostgreSQL
 * shortens it.
 */
async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  try {
    yield* contentsOf(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function* copied(pgdata: string, folder = ''): Generator<ArchiveEntry> {
  for (const dirent of fs.readdirSync(join(pgdata, folder), { withFileTypes: true })) {
    if (FOREIGN_FILES.test(dirent.name)) continue
    const path = folder ? `${folder}/${dirent.name}` : dirent.name
    if (dirent.isDirectory()) {
      yield { path: PGDATA + path }
      if (!EMPTIED_FOLDERS.has(path)) yield* copied(pgdata, path)
    } else if (dirent.isFile()) yield { path: PGDATA + path, contenido: bytesOf(join(pgdata, path)) }
  }
}

/** Yields the database's password and the service's own master keys, which a restored DATA_DIR needs. */
export function* keysOf(dataDir: string): Generator<ArchiveEntry> {
  const { clave } = JSON.parse(fs.readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { clave: string }
  yield { path: 'postgres.json', contenido: textContents(`${JSON.stringify({ clave }, null, 2)}\n`) }
  const own = join(dataDir, 'master_keys')
  if (fs.existsSync(own)) yield { path: 'master_keys', contenido: bytesOf(own) }
}

/**
 * Copies the running cluster as entries of an archive. The copy is the cluster as it is when the copying ends.
 * @param url address of the database for the superuser
 * @returns name of the segment of the log with which the copy begins
 */
export async function* backupCluster(url: string): AsyncGenerator<ArchiveEntry, string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {}) // A lost connection also rejects the running query, which reports the error.
  await client.connect()
  try {
    const { rows } = await client.query<{ pgdata: string }>(`select current_setting('data_directory') as pgdata`)
    const { pgdata } = rows[0]!
    // The temporary replication slot keeps the write-ahead log since the start of the copy. PostgreSQL drops the slot
    // when this connection ends.
    await client.query(`select pg_create_physical_replication_slot($1, true, true)`, [`respaldo_${process.pid}`])
    const backupStart = await client.query<{ lsn: string }>(`select pg_backup_start('guias', true) as lsn`)
    yield* copied(pgdata)
    yield { path: `${PGDATA}pg_wal/archive_status` }
    const backupEnd = await client.query<{ etiqueta: string; firstSegment: string; ultimo: string }>(
      `select labelfile as etiqueta, pg_walfile_name($1::pg_lsn) as "firstSegment", pg_walfile_name(lsn) as ultimo
       from pg_backup_stop(wait_for_archive => false)`,
      [backupStart.rows[0]!.lsn],
    )
    const { etiqueta, firstSegment, ultimo } = backupEnd.rows[0]!
    const registro = fs
      .readdirSync(join(pgdata, 'pg_wal'))
      .filter(
        (fileName) =>
          TIMELINE_HISTORY.test(fileName) ||
          (WAL_SEGMENT.test(fileName) && fileName >= firstSegment && fileName <= ultimo),
      )
    for (const fileName of registro.sort())
      yield { path: `${PGDATA}pg_wal/${fileName}`, contenido: bytesOf(join(pgdata, 'pg_wal', fileName)) }
    yield { path: `${PGDATA}backup_label`, contenido: textContents(etiqueta) }
    return firstSegment
  } finally {
    await client.end()
  }
}

/** Path of an entry below a folder, checked: an archive must not write elsewhere. */
function placeOf(folder: string, path: string): string {
  const segments = path.split('/')
  if (segments.some((part) => !/^[\w.-]+$/.test(part) || part === '..' || part === '.'))
    throw new EmbeddedPostgresError(`El respaldo tiene una ruta que no vale: ${path.slice(0, 100)}.`)
  return join(folder, ...segments)
}

/**
 * Makes the folder for a new DATA_DIR.
 * @throws EmbeddedPostgresError if the folder is not empty
 */
export function makeEmpty(dataDir: string): void {
  if (fs.existsSync(dataDir) && fs.readdirSync(dataDir).length > 0)
    throw new EmbeddedPostgresError(`${dataDir} no está vacía: restaure en otra carpeta, o aparte la que hay.`)
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 })
}

/** Writes the entries of an archive below a folder. */
export async function writeEntries(dataDir: string, entries: AsyncIterable<ArchiveEntry>): Promise<void> {
  for await (const { path, contenido } of entries) {
    const destino = placeOf(dataDir, path)
    fs.mkdirSync(contenido ? dirname(destino) : destino, { recursive: true, mode: 0o700 })
    if (contenido) await pipeline(contenido, fs.createWriteStream(destino, { flags: 'wx', mode: 0o600 }))
  }
}

/**
 * Writes the entries of a whole backup into a new DATA_DIR. The next start replays the log that the backup contains.
 * @throws EmbeddedPostgresError if the folder is not empty
 */
export async function restoreInto(dataDir: string, entries: AsyncIterable<ArchiveEntry>): Promise<void> {
  makeEmpty(dataDir)
  await writeEntries(dataDir, entries)
  claimForPostgres(dataDir)
}
