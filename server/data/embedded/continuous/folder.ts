// Folder of the continuous backup (`BACKUP_DIR`):
//
// - `bases/<end>-<segment>.respaldo`: copies of the cluster; the name tells the log segment with which a restore
//   continues
// - `log/`: the write-ahead log since the oldest copy (pieces.ts), and the histories of its timelines
// - `archivos/`: photos, signatures and PDFs, each one sealed (fileCopies.ts)
// - `llaves.respaldo`: the database's password and the present master keys
// - `estado.json`: the latest instant that can be restored

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { listPieces } from './pieces.ts'

const BASE = /^(\d{8}T\d{9}Z)-([0-9A-F]{24})\.respaldo$/

/** Copy of the cluster in the backup's folder. */
export interface BaseCopy {
  file: string
  /** Time when the copy was complete. This copy cannot restore any earlier state. */
  end: Date
  /** Name of the first log segment that a restore of this copy needs. */
  segment: string
}

/** Period that a backup can restore. */
export interface BackupStatus {
  /**
   * PostgreSQL's identifier of the cluster (`system_identifier`). A restored cluster keeps the identifier of the
   * original.
   */
  sistema: string
  /** Time since which the stored log is complete. */
  sin_huecos_desde: string
  /** Latest instant whose changes are all in the folder. */
  al_dia?: string
}

/** Paths of a backup's parts, below its folder. */
export const placesIn = (folder: string) => ({
  bases: join(folder, 'bases'),
  log: join(folder, 'log'),
  files: join(folder, 'archivos'),
  keys: join(folder, 'llaves.respaldo'),
  status: join(folder, 'estado.json'),
})

/** Creates the folder, and removes files that an earlier process did not finish. */
export function prepareFolder(folder: string): void {
  const { bases, log, files } = placesIn(folder)
  for (const one of [folder, bases, log, files]) {
    mkdirSync(one, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(one)) if (name.endsWith('.parcial')) rmSync(join(one, name), { force: true })
  }
}

/** Returns the instant in the form of a copy's name: `20261126T091500123Z`. */
const inName = (instant: Date) => instant.toISOString().replace(/[-:.]/g, '')
const fromName = (name: string) =>
  new Date(name.replace(/^(....)(..)(..)T(..)(..)(..)(...)Z$/, '$1-$2-$3T$4:$5:$6.$7Z'))

/** Returns the file name of a copy that was complete at `end` and whose restore starts with `segment`. */
export const baseFile = (folder: string, end: Date, segment: string) =>
  join(placesIn(folder).bases, `${inName(end)}-${segment}.respaldo`)

/** Lists the copies of the cluster, oldest first. */
export function listBases(folder: string): BaseCopy[] {
  const { bases } = placesIn(folder)
  return readdirSync(bases)
    .sort()
    .flatMap((name) => {
      const parts = BASE.exec(name)
      return parts ? [{ file: join(bases, name), end: fromName(parts[1]!), segment: parts[2]! }] : []
    })
}

/** Position of a segment without its timeline. As texts, these sort in the order of the log. */
export const placeOfSegment = (segment: string) => segment.slice(8)

/** Number of a segment in the log; the next segment has the next number. */
export const numberOfSegment = (segment: string) =>
  BigInt(`0x${segment.slice(8, 16)}`) * 256n + BigInt(`0x${segment.slice(16)}`)

/**
 * Removes copies that no restore to `since` or later needs, and the log before the oldest copy that stays.
 * @returns the time of the oldest copy that stays; undefined if there is no copy
 */
export async function pruneBases(folder: string, since: Date): Promise<Date | undefined> {
  const databases = listBases(folder)
  while (databases.length > 1 && databases[1]!.end <= since) await rm(databases.shift()!.file)
  const [oldest] = databases
  if (!oldest) return undefined
  const { log } = placesIn(folder)
  for (const [segment, names] of listPieces(log))
    if (placeOfSegment(segment) < placeOfSegment(oldest.segment))
      for (const name of names) await rm(join(log, name), { force: true })
  return oldest.end
}

/** Reads the period that the backup can restore; undefined if the folder has no backup. */
export function readStatus(folder: string): BackupStatus | undefined {
  try {
    return JSON.parse(readFileSync(placesIn(folder).status, 'utf8')) as BackupStatus
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export async function writeStatus(folder: string, status: BackupStatus): Promise<void> {
  const { status: file } = placesIn(folder)
  await writeFile(`${file}.parcial`, `${JSON.stringify(status)}\n`, { mode: 0o600, flush: true })
  await rename(`${file}.parcial`, file)
}
