// Continuous backup of the embedded PostgreSQL and its files, run by the process that owns the server. It receives the
// write-ahead log while PostgreSQL writes it. A disaster therefore loses about the last second, and any second can be
// restored.

import { existsSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type ArchiveEntry, readArchive, textContents, writeArchive } from '../../../platform/backup/archive.ts'
import type { Passphrase } from '../../../platform/backup/seal.ts'
import type { Log } from '../../../platform/log.ts'
import { DAY_MS, MINUTE_MS } from '../../../platform/time/units.ts'
import { type Lsn, readLsn } from '../../lsn.ts'
import { backupCluster, keysOf } from '../backup.ts'
import { EmbeddedPostgresError } from '../installation.ts'
import { withClient } from '../withClient.ts'
import { FileCopies } from './fileCopies.ts'
import {
  type BackupStatus,
  baseFile,
  listBases,
  placesIn,
  prepareFolder,
  pruneBases,
  readStatus,
  writeStatus,
} from './folder.ts'
import { WalInbox } from './inbox.ts'
import { WalPieces } from './pieces.ts'
import { BACKUP_SLOT } from './slot.ts'
import { receiveWal } from './walStream.ts'

/** Settings of a continuous backup. */
export interface ContinuousBackup {
  /** Folder of the backup, on another disk than the data. */
  folder: string
  passphrase: Passphrase
  /** Number of past days that can be restored. */
  days: number
  dataDir: string
  /** Address of the database for the superuser. */
  url: string
  /** Folder of the local file store; undefined if the files are in a bucket. */
  files: string | undefined
  log: Log
}

/** Interval between two scans of the files, and pause between a fault and the next attempt, in milliseconds. */
const ROUND = 5_000
/** Bound on a query, in milliseconds. */
const QUERY_TIMEOUT = MINUTE_MS
/** Pause after a failed copy of the cluster, in milliseconds. Each attempt reads the whole database. */
const PATIENCE = 300_000

/** Functions that stop a continuous backup. */
export interface Keeping {
  /** Copies what is not backed up yet, and stops. */
  stop(): Promise<void>
  /** Stops as a crash would: the log that waits in memory is lost. Used by the disaster drill. */
  abandon(): Promise<void>
}

/**
 * Starts a continuous backup. Later faults are logged, and the work is tried again.
 * @throws EmbeddedPostgresError if the folder cannot be used, or holds the backup of another database
 */
export async function keepContinuousBackup(settings: ContinuousBackup): Promise<Keeping> {
  const keeper = new Keeper(settings)
  await keeper.prepare()
  const ended = keeper.run()
  const end = (abandoned: boolean) => {
    keeper.end(abandoned)
    return ended
  }
  return { stop: () => end(false), abandon: () => end(true) }
}

class Keeper {
  readonly #settings: ContinuousBackup
  readonly #files: FileCopies | undefined
  readonly #stopping = new AbortController()
  #keysOfThen = 0
  #base: Promise<void> | undefined
  #baseAfter = 0
  #inbox: WalInbox | undefined
  #abandoned = false

  constructor(settings: ContinuousBackup) {
    this.#settings = settings
    const { folder, files, passphrase } = settings
    this.#files = files === undefined ? undefined : new FileCopies(files, placesIn(folder).files, passphrase)
  }

  end(abandoned: boolean): void {
    this.#abandoned = abandoned
    if (abandoned) this.#inbox?.discard()
    this.#stopping.abort()
  }

  async prepare(): Promise<void> {
    const { folder, passphrase } = this.#settings
    try {
      prepareFolder(folder)
    } catch (cause) {
      throw new EmbeddedPostgresError(
        `BACKUP_DIR: no se puede escribir en ${folder} (${(cause as Error).message}). Elija otra carpeta, o dele permiso.`,
        { cause },
      )
    }
    const { keys } = placesIn(folder)
    try {
      if (existsSync(keys)) for await (const { contenido } of readArchive(keys, passphrase)) await drain(contenido)
    } catch (cause) {
      throw new EmbeddedPostgresError(
        `BACKUP_KEY_FILE: no es la clave del respaldo que hay en ${folder}. Ponga la clave de antes, o use otra carpeta.`,
        { cause },
      )
    }
    const status = readStatus(folder)
    const sistema = await withClient({ connectionString: this.#settings.url, query_timeout: QUERY_TIMEOUT }, systemOf)
    if (status && status.sistema !== sistema)
      throw new EmbeddedPostgresError(
        `BACKUP_DIR: ${folder} tiene el respaldo de otra base. Si la suya se perdió, restáurela ` +
          `(npm run admin -- respaldo restaurar --archivo ${folder} …). Si no, use otra carpeta.`,
      )
    if (!status) await writeStatus(folder, { sistema, sin_huecos_desde: new Date().toISOString() })
  }

  async run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#receive()
      } catch (err) {
        if (!signal.aborted) this.#settings.log.warn({ err }, 'continuous backup failed')
      }
      await sleep(ROUND, undefined, { signal }).catch(() => {})
    }
    await this.#base
  }

  /** Receives the log until the connection is lost or this process stops. */
  async #receive(): Promise<void> {
    const { folder, url, passphrase } = this.#settings
    const { log } = placesIn(folder)
    await withClient({ connectionString: url, query_timeout: QUERY_TIMEOUT }, async (client) => {
      const { from, isNew } = await openSlot(client)
      if (isNew) await this.#note({ sin_huecos_desde: new Date().toISOString() })
      const inbox = new WalInbox()
      this.#inbox = inbox
      const stream = await receiveWal(url, BACKUP_SLOT, from, (lsn, bytes) => inbox.add(lsn, bytes))
      const writer = new WalPieces(log, passphrase, stream.timeline)
      const writing = inbox.writeTo(writer, stream)
      writing.catch(() => {}) // `Promise.race` below reports the error of this promise.
      try {
        if (stream.history) await writeHistory(log, passphrase, stream.history)
        await Promise.race([writing, this.#rounds(client, inbox), stream.ended])
      } finally {
        inbox.close()
        await writing.catch(() => {})
        await stream.close()
        await writer.close()
      }
    })
  }

  /**
   * Copies new files, changed keys and, once a day, the cluster, round after round. Records up to which instant the
   * backup is complete. The last round comes after the stop, when nothing is written any more.
   */
  async #rounds(client: pg.Client, inbox: WalInbox): Promise<void> {
    const { signal } = this.#stopping
    for (let last = false; !last && !this.#abandoned; ) {
      last = signal.aborted
      const now = new Date()
      const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_flush_lsn() as lsn')
      await this.#files?.update()
      await this.#updateKeys()
      const recent = this.#updateBase()
      if ((await inbox.reaches(readLsn(rows[0]!.lsn), ROUND)) && recent) await this.#note({ al_dia: now.toISOString() })
      if (!last) await sleep(ROUND, undefined, { signal }).catch(() => {})
    }
  }

  async #note(news: Partial<BackupStatus>): Promise<void> {
    const { folder } = this.#settings
    await writeStatus(folder, { ...readStatus(folder)!, ...news })
  }

  async #updateKeys(): Promise<void> {
    const { dataDir, folder, passphrase } = this.#settings
    const changed = Math.max(
      ...['postgres.json', 'master_keys'].map(
        (one) => statSync(join(dataDir, one), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      ),
    )
    if (changed === this.#keysOfThen) return
    await writeArchive(placesIn(folder).keys, passphrase, keysOf(dataDir))
    this.#keysOfThen = changed
  }

  /**
   * Starts a copy of the cluster if the newest copy is a day old, or if the log has a gap since that copy.
   * @returns true if a copy of the last two days can be restored together with the log
   */
  #updateBase(): boolean {
    const { folder, log } = this.#settings
    const newest = listBases(folder).at(-1)
    const age = newest ? Date.now() - newest.end.getTime() : Number.POSITIVE_INFINITY
    const whole = newest !== undefined && newest.end >= new Date(readStatus(folder)!.sin_huecos_desde)
    if ((age >= DAY_MS || !whole) && Date.now() >= this.#baseAfter)
      this.#base ??= this.#makeBase()
        .catch((err) => {
          this.#baseAfter = Date.now() + PATIENCE
          if (!this.#stopping.signal.aborted) log.warn({ err }, 'copy of the cluster failed')
        })
        .finally(() => {
          this.#base = undefined
        })
    return whole && age < 2 * DAY_MS
  }

  async #makeBase(): Promise<void> {
    const { folder, passphrase, url, days } = this.#settings
    const { signal } = this.#stopping
    const unfinished = join(placesIn(folder).bases, 'nueva.parcial')
    const copy = backupCluster(url)
    let segment = ''
    async function* entries(): AsyncGenerator<ArchiveEntry> {
      try {
        for (let one = await copy.next(); ; one = await copy.next()) {
          signal.throwIfAborted()
          if (one.done) {
            segment = one.value
            return
          }
          yield one.value
        }
      } finally {
        await copy.return('')
      }
    }
    await writeArchive(unfinished, passphrase, entries())
    await rename(unfinished, baseFile(folder, new Date(), segment))
    const oldest = await pruneBases(folder, new Date(Date.now() - days * DAY_MS))
    if (oldest) await this.#files?.prune(oldest)
  }
}

const drain = async (contents: ArchiveEntry['contenido']) => {
  if (contents) for await (const _ of contents);
}

async function systemOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>('select system_identifier::text as id from pg_control_system()')
  return rows[0]!.id
}

/**
 * Opens the replication slot. Creates a new one if there is none, or if PostgreSQL has already removed log that the
 * slot needed.
 */
async function openSlot(client: pg.Client): Promise<{ from: Lsn; isNew: boolean }> {
  const { rows } = await client.query<{ lsn: string; lost: boolean }>(
    `select restart_lsn::text as lsn, wal_status = 'lost' as lost from pg_replication_slots where slot_name = $1`,
    [BACKUP_SLOT],
  )
  if (rows[0] && !rows[0].lost) return { from: readLsn(rows[0].lsn), isNew: false }
  if (rows[0]) await client.query('select pg_drop_replication_slot($1)', [BACKUP_SLOT])
  const made = await client.query<{ lsn: string }>(
    'select lsn::text from pg_create_physical_replication_slot($1, true)',
    [BACKUP_SLOT],
  )
  return { from: readLsn(made.rows[0]!.lsn), isNew: true }
}

async function writeHistory(
  folder: string,
  passphrase: Passphrase,
  { name, contents }: { name: string; contents: string },
) {
  const entry: ArchiveEntry = { path: name, contenido: textContents(contents) }
  await writeArchive(join(folder, `${name}.respaldo`), passphrase, [entry])
}
