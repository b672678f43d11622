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

/** A chapter of the guide, or one of its parts, as the bundled contract tells it. */
export interface Apartado {
  titulo: string
  /** Where it stands in the page, such as `section/lotes/que-hacer-con-las-que-fallan`: Redoc's own name for it. */
  lugar: string
  /** Its own text, without its heading and without what its parts say. */
  texto: string
}
export interface Capitulo extends Apartado {
  /** Its name in addresses, such as `recibir-webhooks`. */
  nombre: string
  partes: Apartado[]
}

/** A title as Redoc writes it in addresses. */
export const enDireccion = (titulo: string) =>
  titulo
    .normalize('NFD')
    .replace(/[^\w\s.-]/g, '')
    .trim()
    .toLowerCase()
    .replace(/\s+/g, '-')

/** What a heading opens, of the text before the first one, too. A `#` within code is none. */
function partir(texto: string, marca: string): { titulo: string; texto: string }[] {
  const partes = [{ titulo: '', texto: '' }]
  let enCodigo = false
  for (const linea of texto.split('\n')) {
    if (linea.startsWith('```')) enCodigo = !enCodigo
    if (!enCodigo && linea.startsWith(`${marca} `)) partes.push({ titulo: linea.slice(marca.length + 1), texto: '' })
    else partes.at(-1)!.texto += `${linea}\n`
  }
  return partes.map(({ titulo, texto }) => ({ titulo, texto: texto.trim() }))
}

/** The guide as the bundled contract tells it, with every fragment in its place. */
export function leerGuia(contrato: Objeto): { introduccion: string; capitulos: Capitulo[] } {
  const [primera, ...siguientes] = partir(String((contrato.info as Objeto).description), '#')
  const capitulos = siguientes.map(({ titulo, texto }) => {
    const nombre = enDireccion(titulo)
    const lugar = `section/${nombre}`
    const [propio, ...partes] = partir(texto, '##')
    return {
      titulo,
      nombre,
      lugar,
      texto: propio!.texto,
      partes: partes.map((parte) => ({ ...parte, lugar: `${lugar}/${enDireccion(parte.titulo)}` })),
    }
  })
  return { introduccion: primera!.texto, capitulos }
}

/** A text as it is read aloud: without marks, tables' lines and programs. */
export const sinMarcas = (texto: string) =>
  texto
    .replace(/^```[\s\S]*?^```$/gm, ' ')
    .replace(/<\/?(?:a|img)\b[^>]*>/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\|[\s|:-]*\|$/gm, ' ')
    .replace(/[`*|]/g, '')
    .replace(/^#+ /gm, '')
    .replace(/\s+/g, ' ')
    .trim()
