import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explicarClaves, leerClaves } from '../secretos.ts'

/** The file of keys can't be used; in words for whoever starts the service. */
export class ErrorDeClaves extends Error {
  override readonly name = 'ErrorDeClaves'
}

/**
 * The embedded default's own master keys: made once into `DATA_DIR/master_keys` (mode 0600), in the form of MASTER_KEYS.
 * Without that file what it protects can't be read any more, so it lives beside the data.
 */
export async function clavesDeLaCasa(dataDir: string): Promise<readonly Buffer[]> {
  const archivo = join(dataDir, 'master_keys')
  await mkdir(dataDir, { recursive: true })
  const leido = await readFile(archivo, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    await crear(archivo)
    return readFile(archivo, 'utf8')
  })
  const claves = leerClaves(leido.trim())
  if (!claves) {
    const fallas = explicarClaves(leido.trim()).join('; ')
    throw new ErrorDeClaves(
      `${archivo} está dañado: ${fallas}. Recupérelo de una copia; sin él no se lee lo que protege.`,
    )
  }
  return claves
}

/** Whole or not at all, and never over another process's file: a link fails if the name exists. */
async function crear(archivo: string) {
  const temporal = `${archivo}.${process.pid}`
  await writeFile(temporal, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  await link(temporal, archivo).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(temporal)
}
