import { readFile, stat, writeFile } from 'node:fs/promises'
import type { JsonObject } from '../documentation/contract.ts'

/** Root folder of the repository. */
export const REPOSITORY_URL = new URL('../../', import.meta.url)
/** Folder for all files that the generators derive from the contract for the server. */
export const GENERATED_FOLDER = new URL('server/generated/contract/', REPOSITORY_URL)

/** Writes a file in {@link GENERATED_FOLDER}. */
export const writeGenerated = (file: string, text: string) => writeFile(new URL(file, GENERATED_FOLDER), text)

/** Reads the bundled contract of one API. */
export const readBundle = async (document: string) =>
  JSON.parse(await readFile(new URL(`${document}.json`, GENERATED_FOLDER), 'utf8')) as JsonObject

/**
 * Checks that a generator wrote a file, because generators that find no input succeed silently.
 * @throws if the file is missing or empty
 */
export async function requireFile(path: string) {
  if ((await stat(new URL(path, REPOSITORY_URL))).size === 0) throw new Error(`${path} was generated empty`)
}
