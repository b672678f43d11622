import { readFile, stat, writeFile } from 'node:fs/promises'
import type { Objeto } from '../documentacion/contrato.ts'

/** Root folder of the repository. */
export const RAIZ = new URL('../../', import.meta.url)
/** Folder for all files that the generators derive from the contract for the server. */
export const CARPETA = new URL('server/generado/contrato/', RAIZ)

/** Writes a file in {@link CARPETA}. */
export const escribir = (archivo: string, texto: string) => writeFile(new URL(archivo, CARPETA), texto)

/** Reads the bundled contract of one API. */
export const leerBundle = async (documento: string) =>
  JSON.parse(await readFile(new URL(`${documento}.json`, CARPETA), 'utf8')) as Objeto

/**
 * Checks that a generator wrote a file, because generators that find no input succeed silently.
 * @throws if the file is missing or empty
 */
export async function exigirArchivo(ruta: string) {
  if ((await stat(new URL(ruta, RAIZ))).size === 0) throw new Error(`${ruta} was generated empty`)
}
