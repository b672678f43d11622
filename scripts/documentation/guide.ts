/**
 * Reads the guide: its introduction is the contract's description, and its chapters are files in
 * `openapi/comercios/guia/`, in alphabetical order. The bundle keeps the chapters in `info.x-guia`; the served contract
 * has only the introduction, because generators write the description at the top of each file.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from './contract.ts'

const CHAPTERS_FOLDER = new URL('../../openapi/comercios/guia/', import.meta.url)

const EXAMPLES_FOLDER = new URL('../../sdk/ejemplos/', import.meta.url)

/**
 * Replaces `{{ejemplos/receptor.py}}` with the contents of that file. The guide thus shows the examples that the SDK
 * contains and the tests run.
 */
const withExamples = (text: string) =>
  text.replace(/\{\{ejemplos\/([\w.]+)\}\}/g, (_, file: string) =>
    readFileSync(new URL(file, EXAMPLES_FOLDER), 'utf8').trimEnd(),
  )

/** Reads the source files of the chapters, with the examples inserted. */
export const readChapters = () =>
  readdirSync(CHAPTERS_FOLDER)
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((archivo) => ({
      archivo,
      texto: withExamples(readFileSync(new URL(archivo, CHAPTERS_FOLDER), 'utf8').trim()),
    }))

/** Returns the contract with the chapters of the guide, and a group for the operations in the menu. */
export function withGuide(contract: JsonObject): JsonObject {
  const guia = readChapters()
    .map(({ texto }) => texto)
    .join('\n\n')
  const tags = (contract.tags as JsonObject[]).map(({ name }) => name ?? '')
  return {
    ...contract,
    info: { ...(contract.info as JsonObject), 'x-guia': guia },
    'x-tagGroups': [{ name: 'Operaciones', tags }],
  }
}

/** Chapter of the guide, or one of its parts, as read from the bundled contract. */
export interface Section {
  titulo: string
  /** Address in the guide's links, such as `section/lotes/que-hacer-con-las-que-fallan`. */
  lugar: string
  /** Text of the chapter or part, without its heading and without its parts. */
  texto: string
}
export interface GuideChapter extends Section {
  /** Name of the chapter in addresses, such as `recibir-webhooks`. */
  nombre: string
  parts: Section[]
}

/** Returns a title in the form that Redoc uses in addresses. */
export const toSlug = (title: string) =>
  title
    .normalize('NFD')
    .replace(/[^\w\s.-]/g, '')
    .trim()
    .toLowerCase()
    .replace(/\s+/g, '-')

/**
 * Splits a text at the headings of one level. The first part, with an empty title, is the text before the first
 * heading. A `#` within a code block is no heading.
 */
function splitAtHeadings(text: string, mark: string): { titulo: string; texto: string }[] {
  const parts = [{ titulo: '', texto: '' }]
  let inCode = false
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) inCode = !inCode
    if (!inCode && line.startsWith(`${mark} `)) parts.push({ titulo: line.slice(mark.length + 1), texto: '' })
    else parts.at(-1)!.texto += `${line}\n`
  }
  return parts.map(({ titulo, texto }) => ({ titulo, texto: texto.trim() }))
}

/** Reads the guide from a bundled contract, with all fragments replaced. */
export function readContractGuide(contract: JsonObject): { introduction: string; guideChapters: GuideChapter[] } {
  const info = contract.info as JsonObject
  const [, ...chapters] = splitAtHeadings(String(info['x-guia']), '#')
  const guideChapters = chapters.map(({ titulo, texto }) => {
    const nombre = toSlug(titulo)
    const lugar = `section/${nombre}`
    const [introduction, ...parts] = splitAtHeadings(texto, '##')
    return {
      titulo,
      nombre,
      lugar,
      texto: introduction!.texto,
      parts: parts.map((part) => ({ ...part, lugar: `${lugar}/${toSlug(part.titulo)}` })),
    }
  })
  return { introduction: String(info.description).trim(), guideChapters }
}

/** Returns the address of a part within its chapter's page: `que-hacer` of `section/lotes/que-hacer`. */
export const idOf = ({ lugar }: Section) => lugar.split('/').at(-1)!

/** Returns a text without Markdown marks, table lines and code blocks. */
export const stripMarks = (text: string) =>
  text
    .replace(/^```[\s\S]*?^```$/gm, ' ')
    .replace(/<\/?(?:a|img)\b[^>]*>/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\|[\s|:-]*\|$/gm, ' ')
    .replace(/[`*|]/g, '')
    .replace(/^#+ /gm, '')
    .replace(/\s+/g, ' ')
    .trim()

/** Returns the first sentence of a text, cut at 180 characters. */
export function firstSentence(text: string): string {
  const plainText = stripMarks(text)
  const sentence = /^.*?\.(?=\s|$)/.exec(plainText)?.[0] ?? plainText
  return sentence.length <= 180 ? sentence : `${sentence.slice(0, 180).replace(/\s+\S*$/, '')}…`
}

/** Paragraph of prose: no table, list, drawing or code. */
const PROSE = /^(?![|<-]|```)./
/** Paragraph that only introduces what follows it. */
const LEAD = /^.{0,40}:$/s

/** Returns the sentence that introduces a chapter in lists of chapters: the first of its prose. */
export function summaryOf({ texto, parts }: GuideChapter): string {
  const paragraphs = [texto, ...parts.map((part) => part.texto)]
    .flatMap((text) => text.replace(/^```[\s\S]*?^```$/gm, '').split(/\n{2,}/))
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => PROSE.test(paragraph))
  const first = paragraphs.find((paragraph) => !LEAD.test(paragraph)) ?? paragraphs[0] ?? ''
  return firstSentence(first).replace(/:$/, '.')
}
