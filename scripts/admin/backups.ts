import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backupCluster, keysOf, restoreInto } from '../../server/data/embedded/backup.ts'
import { restoreContinuous } from '../../server/data/embedded/continuous/restore.ts'
import { acquirePostgres } from '../../server/data/embedded/embedded.ts'
import { raiseXidOffset } from '../../server/data/eventOrder.ts'
import { localStoreIn } from '../../server/domain/archivos/openStore.ts'
import { type ArchiveEntry, contentsOf, readArchive, writeArchive } from '../../server/platform/backup/archive.ts'
import type { Passphrase } from '../../server/platform/backup/seal.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { readInstant } from '../../server/platform/time/instant.ts'
import { readPassphrase, SHORTEST_PASSPHRASE } from '../../server/startup/backup.ts'
import type { ConsoleEnvironment, SeparateCommand } from './command.ts'
import { withDeps } from './deps.ts'
import { countRows, drillBackup, type Prueba } from './drill.ts'
import { CommandLineError } from './error.ts'

/**
 * Reads the passphrase from its file. The command line has no option for it, because other users of the machine can see
 * command lines.
 */
function readClave(file = ''): Passphrase {
  const key = readPassphrase(file)
  if (key) return key
  throw new CommandLineError(
    `--clave: ${file} debe ser un archivo con una clave de ${SHORTEST_PASSPHRASE} caracteres o más.`,
  )
}

/** Reads the configuration of an installation with the embedded database and local files. */
function readEmbeddedConfig(env: ConsoleEnvironment) {
  const config = readConfig({ ...env, MESSAGING: 'buzon' }, process.cwd())
  if (config.database.tipo !== 'embebida')
    throw new CommandLineError('Con DATABASE_URL, respalde con las de PostgreSQL: docs/operacion/backing-up.md.')
  if (config.storage.tipo !== 'local')
    throw new CommandLineError('Con STORAGE=s3 los archivos están en el bucket: respalde cada cosa por su lado.')
  return config
}

/**
 * Entries of a backup. The database is copied before the files, so that the copy has every file that the copied
 * database names.
 */
async function* backupEntries(dataDir: string, superuserUrl: string): AsyncGenerator<ArchiveEntry> {
  yield* backupCluster(superuserUrl)
  yield* keysOf(dataDir)
  for await (const { clave: file } of localStoreIn(dataDir).list()) {
    const path = `archivos/${file.slice(-2)}/${file}`
    if (existsSync(join(dataDir, path))) yield { path, contenido: contentsOf(join(dataDir, path)) }
  }
}

async function backUp(dataDir: string, file: string, key: Passphrase): Promise<void> {
  const { superuserUrl, release } = await acquirePostgres({ dataDir, exclusive: false })
  try {
    await writeArchive(file, key, backupEntries(dataDir, superuserUrl))
  } finally {
    await release()
  }
}

/** Source of a restore: a backup file, or the folder of the continuous backup. */
interface Origen {
  archivo: string
  clave: Passphrase
  hasta?: Date | undefined
}

/**
 * Restores into an empty folder. Then raises the event order, so that new events come after all cursors that clients
 * already have.
 */
async function restore(env: ConsoleEnvironment, { archivo, clave, hasta }: Origen, folder: string) {
  if (statSync(archivo).isDirectory()) await restoreContinuous(archivo, clave, folder, hasta)
  else await restoreInto(folder, readArchive(archivo, clave))
  return withDeps({ ...env, BACKUP_DIR: '', DATA_DIR: folder }, false, async (deps) => {
    const client = await deps.db.pool.connect()
    await raiseXidOffset(client).finally(() => client.release())
    return countRows(deps)
  })
}

function requireInstant(text: string): Date {
  const instant = readInstant(text)
  if (instant) return instant
  throw new CommandLineError(
    '--hasta: debe ser un instante con su zona, AAAA-MM-DDThh:mm:ssZ o AAAA-MM-DDThh:mm:ss-06:00.',
  )
}

function readSource(archivo: string, key: string | undefined, until: string | undefined): Origen {
  if (!existsSync(archivo)) throw new CommandLineError(`--archivo: no existe ${archivo}.`)
  if (until !== undefined && !statSync(archivo).isDirectory())
    throw new CommandLineError(
      '--hasta: vale con la carpeta de BACKUP_DIR. Un archivo tiene un solo instante: el suyo.',
    )
  return { archivo, clave: readClave(key), ...(until !== undefined && { hasta: requireInstant(until) }) }
}

/** Commands for backups of the embedded database and its files. */
export const BACKUP_COMMANDS: Record<string, SeparateCommand> = {
  'respaldo crear': {
    requires: ['archivo', 'clave'],
    async runSeparately(env, { archivo = '', clave }) {
      const { dataDir } = readEmbeddedConfig(env)
      if (existsSync(archivo)) throw new CommandLineError(`--archivo: ${archivo} ya existe.`)
      await backUp(dataDir, archivo, readClave(clave))
      return { archivo, bytes: statSync(archivo).size }
    },
  },
  'respaldo restaurar': {
    requires: ['archivo', 'clave', 'carpeta'],
    allows: ['hasta'],
    async runSeparately(env, { archivo = '', clave, carpeta: folder = '', hasta }) {
      const origin = readSource(archivo, clave, hasta)
      const counts = await restore(env, origin, folder)
      const beforeStart = statSync(archivo).isDirectory()
        ? '' // The folder of a continuous backup contains the later erasures, so there is nothing to copy.
        : `si queda algo de la carpeta archivos de antes, cópielo en ${folder}/archivos: así el arranque repite los borrados posteriores al respaldo. Después, `
      return { carpeta: folder, ...counts, siguiente: `${beforeStart}arranque con DATA_DIR=${folder}` }
    },
  },
  'respaldo probar': {
    requires: ['clave'],
    runSeparately(env, { clave }) {
      const { dataDir, backup } = readEmbeddedConfig(env)
      const passphrase = readClave(clave)
      return drillBackup(env, {
        continuo: backup?.folder,
        backUp: (file) => backUp(dataDir, file, passphrase),
        restore: (archivo, folder, restorePassphrase = passphrase) =>
          restore(env, { archivo, clave: restorePassphrase }, folder),
      })
    },
    hasFailed: ({ faltas }: Prueba) => faltas.length > 0,
  },
}
