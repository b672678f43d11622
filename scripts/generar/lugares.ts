import { readFile, stat, writeFile } from 'node:fs/promises'
import type { Objeto } from '../documentacion/contrato.ts'

/** The project's root. */
export const RAIZ = new URL('../../', import.meta.url)
/** Where everything goes that is generated of the contract for the server. */
export const CARPETA = new URL('server/contrato/generado/', RAIZ)

export const escribir = (archivo: string, texto: string) => writeFile(new URL(archivo, CARPETA), texto)

/** The contract of one API, references resolved. */
export const leerBundle = async (documento: string) =>
  JSON.parse(await readFile(new URL(`${documento}.json`, CARPETA), 'utf8')) as Objeto

/** Generators that find nothing to do succeed silently: this insists that what one should write is there. */
export async function exigir(ruta: string) {
  if ((await stat(new URL(ruta, RAIZ))).size === 0) throw new Error(`${ruta} was generated empty`)
}
