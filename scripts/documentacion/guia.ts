/** The guide: its chapters stand in `openapi/comercios/guia/`, in the order of their names, behind the introduction. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Objeto } from './contrato.ts'

const CARPETA = new URL('../../openapi/comercios/guia/', import.meta.url)

const EJEMPLOS = new URL('../../sdk/ejemplos/', import.meta.url)

/** `{{ejemplos/receptor.py}}` is the file of that name: what the guide shows is what the SDK brings and the tests run. */
const conEjemplos = (texto: string) =>
  texto.replace(/\{\{ejemplos\/([\w.]+)\}\}/g, (_, archivo: string) =>
    readFileSync(new URL(archivo, EJEMPLOS), 'utf8').trimEnd(),
  )

export const leerCapitulos = () =>
  readdirSync(CARPETA)
    .filter((archivo) => archivo.endsWith('.md'))
    .sort()
    .map((archivo) => ({ archivo, texto: conEjemplos(readFileSync(new URL(archivo, CARPETA), 'utf8').trim()) }))

/** The contract with the guide as the description of the whole, and a title of its own over the operations. */
export function conGuia(contrato: Objeto): Objeto {
  const info = contrato.info as Objeto
  const introduccion = String(info.description).trim()
  const description = [introduccion, ...leerCapitulos().map(({ texto }) => texto)].join('\n\n')
  const tags = (contrato.tags as Objeto[]).map(({ name }) => name ?? '')
  return { ...contrato, info: { ...info, description }, 'x-tagGroups': [{ name: 'Operaciones', tags }] }
}
