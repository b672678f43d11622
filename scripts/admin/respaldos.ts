import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backupCluster, keysOf, restoreInto } from '../../server/data/embedded/backup.ts'
import { restoreContinuous } from '../../server/data/embedded/continuous/restore.ts'
import { acquirePostgres } from '../../server/data/embedded/embedded.ts'
import { resumeOrder } from '../../server/data/order.ts'
import { localStoreIn } from '../../server/domain/archivos/openStore.ts'
import { type ArchiveEntry, contentsOf, readArchive, writeArchive } from '../../server/platform/backup/archive.ts'
import type { Passphrase } from '../../server/platform/backup/seal.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { readInstant } from '../../server/platform/time/instant.ts'
import { readPassphrase, SHORTEST_PASSPHRASE } from '../../server/startup/backup.ts'
import type { ComandoAparte, Entorno } from './comando.ts'
import { conDeps } from './deps.ts'
import { ErrorDeLinea } from './error.ts'
import { contar, type Prueba, probarRespaldo } from './simulacro.ts'

/**
 * Reads the passphrase from its file. The command line has no option for it, because other users of the machine can see
 * command lines.
 */
function leerClave(archivo = ''): Passphrase {
  const clave = readPassphrase(archivo)
  if (clave) return clave
  throw new ErrorDeLinea(
    `--clave: ${archivo} debe ser un archivo con una clave de ${SHORTEST_PASSPHRASE} caracteres o más.`,
  )
}

/** Reads the configuration of an installation with the embedded database and local files. */
function leerEmbebida(env: Entorno) {
  const config = readConfig({ ...env, MESSAGING: 'buzon' }, process.cwd())
  if (config.baseDeDatos.tipo !== 'embebida')
    throw new ErrorDeLinea('Con DATABASE_URL, respalde con las de PostgreSQL: docs/operacion/backing-up.md.')
  if (config.almacenamiento.tipo !== 'local')
    throw new ErrorDeLinea('Con STORAGE=s3 los archivos están en el bucket: respalde cada cosa por su lado.')
  return config
}

/**
 * Entries of a backup. The database is copied before the files, so that the copy has every file that the copied
 * database names.
 */
async function* entradasDe(dataDir: string, urlDeSuperusuario: string): AsyncGenerator<ArchiveEntry> {
  yield* backupCluster(urlDeSuperusuario)
  yield* keysOf(dataDir)
  for await (const { clave: archivo } of localStoreIn(dataDir).listar()) {
    const ruta = `archivos/${archivo.slice(-2)}/${archivo}`
    if (existsSync(join(dataDir, ruta))) yield { ruta, contenido: contentsOf(join(dataDir, ruta)) }
  }
}

async function respaldar(dataDir: string, archivo: string, clave: Passphrase): Promise<void> {
  const { urlDeSuperusuario, soltar } = await acquirePostgres({ dataDir, exclusivo: false })
  try {
    await writeArchive(archivo, clave, entradasDe(dataDir, urlDeSuperusuario))
  } finally {
    await soltar()
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
async function restaurar(env: Entorno, { archivo, clave, hasta }: Origen, carpeta: string) {
  if (statSync(archivo).isDirectory()) await restoreContinuous(archivo, clave, carpeta, hasta)
  else await restoreInto(carpeta, readArchive(archivo, clave))
  return conDeps({ ...env, BACKUP_DIR: '', DATA_DIR: carpeta }, false, async (deps) => {
    const cliente = await deps.db.pool.connect()
    await resumeOrder(cliente).finally(() => cliente.release())
    return contar(deps)
  })
}

function leerInstante(texto: string): Date {
  const instante = readInstant(texto)
  if (instante) return instante
  throw new ErrorDeLinea('--hasta: debe ser un instante con su zona, AAAA-MM-DDThh:mm:ssZ o AAAA-MM-DDThh:mm:ss-06:00.')
}

function leerOrigen(archivo: string, clave: string | undefined, hasta: string | undefined): Origen {
  if (!existsSync(archivo)) throw new ErrorDeLinea(`--archivo: no existe ${archivo}.`)
  if (hasta !== undefined && !statSync(archivo).isDirectory())
    throw new ErrorDeLinea('--hasta: vale con la carpeta de BACKUP_DIR. Un archivo tiene un solo instante: el suyo.')
  return { archivo, clave: leerClave(clave), ...(hasta !== undefined && { hasta: leerInstante(hasta) }) }
}

/** Commands for backups of the embedded database and its files. */
export const COMANDOS_DE_RESPALDO: Record<string, ComandoAparte> = {
  'respaldo crear': {
    exige: ['archivo', 'clave'],
    async aparte(env, { archivo = '', clave }) {
      const { dataDir } = leerEmbebida(env)
      if (existsSync(archivo)) throw new ErrorDeLinea(`--archivo: ${archivo} ya existe.`)
      await respaldar(dataDir, archivo, leerClave(clave))
      return { archivo, bytes: statSync(archivo).size }
    },
  },
  'respaldo restaurar': {
    exige: ['archivo', 'clave', 'carpeta'],
    admite: ['hasta'],
    async aparte(env, { archivo = '', clave, carpeta = '', hasta }) {
      const origen = leerOrigen(archivo, clave, hasta)
      const cuentas = await restaurar(env, origen, carpeta)
      const deAntes = statSync(archivo).isDirectory()
        ? '' // The folder of a continuous backup contains the later erasures, so there is nothing to copy.
        : `si queda algo de la carpeta archivos de antes, cópielo en ${carpeta}/archivos: así el arranque repite los borrados posteriores al respaldo. Después, `
      return { carpeta, ...cuentas, siguiente: `${deAntes}arranque con DATA_DIR=${carpeta}` }
    },
  },
  'respaldo probar': {
    exige: ['clave'],
    aparte(env, { clave }) {
      const { dataDir, respaldo } = leerEmbebida(env)
      const suya = leerClave(clave)
      return probarRespaldo(env, {
        continuo: respaldo?.carpeta,
        respaldar: (archivo) => respaldar(dataDir, archivo, suya),
        restaurar: (archivo, carpeta, otra = suya) => restaurar(env, { archivo, clave: otra }, carpeta),
      })
    },
    falla: ({ faltas }: Prueba) => faltas.length > 0,
  },
}
