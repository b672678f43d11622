import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explainKeys, readKeys } from '../platform/secrets.ts'

/** Reports a damaged file of master keys. The message, in Spanish, tells the operator how to repair it. */
export class MasterKeysError extends Error {
  override readonly name = 'MasterKeysError'
}

/**
 * Reads the embedded default's own master keys from `DATA_DIR/master_keys`, in the form of `MASTER_KEYS`. The first
 * start creates the file with mode 0600. The file lies beside the data that it protects, because the data cannot be
 * read without it.
 * @throws MasterKeysError if the file is damaged
 */
export async function ownMasterKeys(dataDir: string): Promise<readonly Buffer[]> {
  const file = join(dataDir, 'master_keys')
  await mkdir(dataDir, { recursive: true })
  const storedText = await readFile(file, 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    await createKeyFile(file)
    return readFile(file, 'utf8')
  })
  const keys = readKeys(storedText.trim())
  if (!keys) {
    const faults = explainKeys(storedText.trim()).join('; ')
    throw new MasterKeysError(
      `${file} está dañado: ${faults}. Recupérelo de una copia; sin él no se lee lo que protege.`,
    )
  }
  return keys
}

/**
 * Creates the file complete or not at all, and never over the file of another process: a link fails if the name exists.
 */
async function createKeyFile(file: string) {
  const temporal = `${file}.${process.pid}`
  await writeFile(temporal, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  await link(temporal, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(temporal)
}
