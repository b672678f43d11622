import { existsSync, readdirSync } from 'node:fs'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readArchive } from '../../../platform/backup/archive.ts'
import type { Passphrase } from '../../../platform/backup/seal.ts'
import { HOUR_MS } from '../../../platform/time/units.ts'
import { makeEmpty, writeEntries } from '../backup.ts'
import { acquirePostgres } from '../embedded.ts'
import { claimForPostgres, EmbeddedPostgresError } from '../installation.ts'
import { copiedFiles } from './fileCopies.ts'
import { type BaseCopy, listBases, numberOfSegment, placeOfSegment, placesIn, readStatus } from './folder.ts'
import { listPieces, readSegment } from './pieces.ts'
import { SEGMENT } from './walStream.ts'

/** Maximum time to replay the log since the copy, in milliseconds. */
const REPLAY = 6 * HOUR_MS
/** PostgreSQL's message when the recovery target lies after the end of the log. */
const TOO_LATE = 'recovery ended before configured recovery target was reached'

/**
 * Restores a continuous backup into a new DATA_DIR. Restores all stored files, also those later than `until`: the
 * service later deletes files that the database does not name.
 * @param until instant to restore; undefined: the end of the backup
 * @throws EmbeddedPostgresError if the backup does not reach the instant, or has a gap
 */
export async function restoreContinuous(
  folder: string,
  passphrase: Passphrase,
  dataDir: string,
  until?: Date,
): Promise<void> {
  const status = existsSync(folder) ? readStatus(folder) : undefined
  if (!status) throw new EmbeddedPostgresError(`${folder} no es la carpeta de un respaldo continuo (BACKUP_DIR).`)
  if (until && until > new Date(status.al_dia ?? 0))
    throw new EmbeddedPostgresError(
      `--hasta: el respaldo llega hasta ${status.al_dia ?? 'ningún instante todavía'}. Sin --hasta se restaura todo.`,
    )
  const base = baseFor(folder, until)
  const { log, keys, files } = placesIn(folder)
  makeEmpty(dataDir)
  await writeEntries(dataDir, readArchive(base.file, passphrase))
  await writeEntries(dataDir, readArchive(keys, passphrase))
  await writeEntries(dataDir, copiedFiles(files, passphrase))
  const gap = await writeLog(log, passphrase, join(dataDir, 'pgdata', 'pg_wal'), base)
  const whyGap = `Al respaldo le falta una parte después de ${gap}: elija un instante anterior, o uno posterior a ${status.sin_huecos_desde}.`
  if (gap !== undefined && until === undefined) throw new EmbeddedPostgresError(whyGap)
  await writeFile(join(dataDir, 'pgdata', 'recovery.signal'), '', { mode: 0o600 })
  claimForPostgres(dataDir)
  try {
    await replay(dataDir, until)
  } catch (cause) {
    if (!(cause instanceof EmbeddedPostgresError && cause.message.includes(TOO_LATE))) throw cause
    if (gap !== undefined) throw new EmbeddedPostgresError(whyGap, { cause })
    // The log ends before the instant, so nothing was written in between. The end of the log is the same state.
    await replay(dataDir, undefined)
  }
}

function baseFor(folder: string, until: Date | undefined): BaseCopy {
  const databases = listBases(folder)
  const base = databases.findLast(({ end }) => until === undefined || end <= until)
  if (base) return base
  const from = databases[0] ? `: empieza el ${databases[0].end.toISOString()}` : ''
  throw new EmbeddedPostgresError(`--hasta: el respaldo de ${folder} no llega tan atrás${from}.`)
}

/**
 * Writes the log since a copy into the folder where PostgreSQL looks for it, up to the first gap.
 * @returns name of the first missing segment; undefined if there is no gap
 */
async function writeLog(
  log: string,
  passphrase: Passphrase,
  destination: string,
  base: BaseCopy,
): Promise<string | undefined> {
  await mkdir(destination, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(log).filter((one) => one.endsWith('.history.respaldo')))
    if (!existsSync(join(destination, name.replace('.respaldo', ''))))
      await writeEntries(destination, readArchive(join(log, name), passphrase))
  const pieces = listPieces(log)
  const needed = [...pieces.keys()].filter((segment) => placeOfSegment(segment) >= placeOfSegment(base.segment))
  for (const [i, segment] of needed.entries()) {
    const bytes = await readSegment(log, pieces.get(segment)!, passphrase)
    // The copy may already contain the segment, including bytes that the pieces do not have yet.
    const path = join(destination, segment)
    const file = await open(path, existsSync(path) ? 'r+' : 'w', 0o600)
    await file.write(bytes, 0, bytes.length, 0)
    await file.truncate(Number(SEGMENT))
    await file.close()
    const next = needed[i + 1]
    if (next?.slice(0, 8) !== segment.slice(0, 8)) continue
    const follows = numberOfSegment(next) === numberOfSegment(segment) + 1n
    if (!follows || bytes.length < Number(SEGMENT)) return segment
  }
  return undefined
}

/** Starts PostgreSQL, which replays the log up to an instant, or to its end if no instant is given. */
async function replay(dataDir: string, until: Date | undefined): Promise<void> {
  const settings = ['restore_command=exit 1', 'hot_standby=off', 'recovery_target_action=promote']
  if (until) settings.push(`recovery_target_time=${until.toISOString().replace('Z', '+00')}`)
  const { release } = await acquirePostgres({
    dataDir,
    exclusive: false,
    timeout: REPLAY,
    flags: settings.flatMap((one) => ['-c', one]),
  })
  await release()
}
