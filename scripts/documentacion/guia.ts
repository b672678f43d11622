/**
 * Reads the guide: its introduction is the contract's description, and its chapters are files in
 * `openapi/comercios/guia/`, in alphabetical order. The bundle keeps the chapters in `info.x-guia`; the served contract
 * has only the introduction, because generators write the description at the top of each file.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { Objeto } from './contrato.ts'

const CARPETA = new URL('../../openapi/comercios/guia/', import.meta.url)

const EJEMPLOS = new URL('../../sdk/ejemplos/', import.meta.url)

/**
 * Replaces `{{ejemplos/receptor.py}}` with the contents of that file. The guide thus shows the examples that the SDK
 * contains and the tests run.
 */
const conEjemplos = (texto: string) =>
  texto.replace(/\{\{ejemplos\/([\w.]+)\}\}/g, (_, archivo: string) =>
    readFileSync(new URL(archivo, EJEMPLOS), 'utf8').trimEnd(),
  )

/** Reads the source files of the chapters, with the examples inserted. */
export const leerCapitulos = () =>
  readdirSync(CARPETA)
    .filter((archivo) => archivo.endsWith('.md'))
    .sort()
    .map((archivo) => ({ archivo, texto: conEjemplos(readFileSync(new URL(archivo, CARPETA), 'utf8').trim()) }))

/** Returns the contract with the chapters of the guide, and a group for the operations in the menu. */
export function conGuia(contrato: Objeto): Objeto {
  const guia = leerCapitulos()
    .map(({ texto }) => texto)
    .join('\n\n')
  const tags = (contrato.tags as Objeto[]).map(({ name }) => name ?? '')
  return {
    ...contrato,
    info: { ...(contrato.info as Objeto), 'x-guia': guia },
    'x-tagGroups': [{ name: 'Operaciones', tags }],
  }
}

/** Chapter of the guide, or one of its parts, as read from the bundled contract. */
export interface Apartado {
  titulo: string
  /** Address of the part in the page, such as `section/lotes/que-hacer-con-las-que-fallan`, as Redoc forms it. */
  lugar: string
  /** Text of the chapter or part, without its heading and without its parts. */
  texto: string
}
export interface Capitulo extends Apartado {
  /** Name of the chapter in addresses, such as `recibir-webhooks`. */
  nombre: string
  partes: Apartado[]
}

/** Returns a title in the form that Redoc uses in addresses. */
export const enDireccion = (titulo: string) =>
  titulo
    .normalize('NFD')
    .replace(/[^\w\s.-]/g, '')
    .trim()
    .toLowerCase()
    .replace(/\s+/g, '-')

/**
 * Splits a text at the headings of one level. The first part, with an empty title, is the text before the first
 * heading. A `#` within a code block is no heading.
 */
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

/** Reads the guide from a bundled contract, with all fragments replaced. */
export function leerGuiaDelContrato(contrato: Objeto): { introduccion: string; capitulos: Capitulo[] } {
  const info = contrato.info as Objeto
  const [, ...chapters] = partir(String(info['x-guia']), '#')
  const capitulos = chapters.map(({ titulo, texto }) => {
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
  return { introduccion: String(info.description).trim(), capitulos }
}

/** Returns a text without Markdown marks, table lines and code blocks. */
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
