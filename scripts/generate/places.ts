import { readFile, stat, writeFile } from 'node:fs/promises'
import type { JsonObject } from '../documentation/contract.ts'

/** Root folder of the repository. */
export const REPOSITORY_URL = new URL('../../', import.meta.url)
/** Folder for all files that the generators derive from the contract for the server. */
export const GENERATED_FOLDER = new URL('server/generated/contract/', REPOSITORY_URL)

/** Writes a file in {@link GENERATED_FOLDER}. */
export const writeGenerated = (archivo: string, texto: string) => writeFile(new URL(archivo, GENERATED_FOLDER), texto)

/** Reads the bundled contract of one API. */
export const readBundle = async (documento: string) =>
  JSON.parse(await readFile(new URL(`${documento}.json`, GENERATED_FOLDER), 'utf8')) as JsonObject

/**
 * Checks that a generator wrote a file, because generators that find no input succeed silently.
 * @throws if the file is missing or empty
 */
export async function requireFile(path: string) {
  if ((await stat(new URL(path, REPOSITORY_URL))).size === 0) throw new Error(`${path} was generated empty`)
}
