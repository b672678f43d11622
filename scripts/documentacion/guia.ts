/** The guide: its chapters stand in `openapi/comercios/guia/`, in the order of their names, behind the introduction. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Objeto } from './contrato.ts'

const CARPETA = new URL('../../openapi/comercios/guia/', import.meta.url)

export const leerCapitulos = () =>
  readdirSync(CARPETA)
    .filter((archivo) => archivo.endsWith('.md'))
    .sort()
    .map((archivo) => ({ archivo, texto: readFileSync(new URL(archivo, CARPETA), 'utf8').trim() }))

/** The contract with the guide as the description of the whole, and a title of its own over the operations. */
export function conGuia(contrato: Objeto): Objeto {
  const info = contrato.info as Objeto
  const introduccion = String(info.description).trim()
  const description = [introduccion, ...leerCapitulos().map(({ texto }) => texto)].join('\n\n')
  const tags = (contrato.tags as Objeto[]).map(({ name }) => name ?? '')
  return { ...contrato, info: { ...info, description }, 'x-tagGroups': [{ name: 'Operaciones', tags }] }
}
