import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { BACKUP_SLOT, dropBackupSlot } from '../data/embedded/continuous/slot.ts'
import { type EmbeddedPostgres, EmbeddedPostgresError } from '../data/embedded/embedded.ts'
import { Passphrase } from '../platform/backup/seal.ts'
import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import type { Teardown } from './teardown.ts'

/** Minimum length of the passphrase, in characters. */
export const SHORTEST_PASSPHRASE = 20

/** Reads a passphrase from its file; undefined if there is no file, or the passphrase is too short. */
export function readPassphrase(file: string): Passphrase | undefined {
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  return text.length >= SHORTEST_PASSPHRASE ? new Passphrase(text) : undefined
}

/**
 * Starts the continuous backup, if one is configured. Otherwise drops its replication slot, so that PostgreSQL does not
 * keep log for it.
 * @throws EmbeddedPostgresError if the operator must correct the configuration
 */
export async function openBackup(
  { backup, dataDir, storage }: Config,
  { superuserUrl: url, pgdata }: Pick<EmbeddedPostgres, 'superuserUrl' | 'pgdata'>,
  log: Log,
  teardown: Teardown,
): Promise<void> {
  if (!backup) {
    // The slot is looked for by its folder, because this costs no database connection at start.
    if (existsSync(join(pgdata, 'pg_replslot', BACKUP_SLOT))) await dropBackupSlot(url)
    return
  }
  const fromDataDir = relative(dataDir, backup.folder)
  if (!fromDataDir.startsWith('..') && !isAbsolute(fromDataDir))
    throw new EmbeddedPostgresError(
      `BACKUP_DIR: ${backup.folder} está dentro de DATA_DIR, y se perdería con ella. Elija una carpeta de otro disco.`,
    )
  const passphrase = readPassphrase(backup.keyFile)
  if (!passphrase)
    throw new EmbeddedPostgresError(
      `BACKUP_KEY_FILE: ${backup.keyFile} debe ser un archivo con una clave de ${SHORTEST_PASSPHRASE} caracteres o más.`,
    )
  const { keepContinuousBackup } = await import('../data/embedded/continuous/keep.ts')
  const { stop } = await keepContinuousBackup({
    folder: backup.folder,
    passphrase,
    days: backup.dias,
    dataDir,
    url,
    log,
    files: storage.tipo === 'local' ? join(dataDir, 'archivos') : undefined,
  })
  teardown.add(stop)
}
