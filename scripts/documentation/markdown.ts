/**
 * Writes the documentation as Markdown, for programs and language models: each chapter, group and operation,
 * `/llms.txt`, and all of them in `/llms-full.txt`.
 */
import { DIRECCION } from '../../server/pages/docs/address.ts'
import {
  type ContractOperacion,
  examplesOf,
  type Json,
  type JsonObject,
  operacionesOf,
  parametersOf,
  resolveRef,
} from './contract.ts'
import { describeValues, fieldsOf, schemaTypeOf } from './fields.ts'
import { renderTable } from './fragments.ts'
import { firstSentence, type GuideChapter, readContractGuide, summaryOf, toSlug } from './guide.ts'

/** Contents of files by their paths in the service, such as `docs/guia/lotes.md`. */
export type MarkdownFiles = Map<string, string>

const docsUrl = (path: string) => `${DIRECCION}/docs/${path}.md`

/**
 * Returns the Markdown address for an address of the reading view: a chapter, a part of it, a group of operations or an
 * operation.
 * @throws if it does not exist
 */
function markdownUrlOf(contract: JsonObject, place: string): string {
  const [group = '', nombre, part] = place.split('/')
  if (group === 'section') {
    const chapter = readContractGuide(contract).guideChapters.find((candidate) => candidate.nombre === nombre)
    const section = chapter?.parts.find((entry) => entry.lugar === place)
    if (chapter && (part === undefined || section)) return docsUrl(`guia/${nombre}`) + (part ? `#${part}` : '')
  } else if (nombre === undefined) {
    if (groupsOf(contract).some(({ name }) => toSlug(String(name)) === group)) return docsUrl(`grupos/${group}`)
  } else {
    const operation = operacionesOf(contract).find(({ id }) => id.toLowerCase() === nombre)
    if (operation) return docsUrl(`operaciones/${operation.id}`)
  }
  throw new Error(`the documentation links to #/${place}, which does not exist`)
}

const groupsOf = (contract: JsonObject) => (contract.tags ?? []) as JsonObject[]

/** Makes links absolute and changes links to the reading view into links to Markdown. */
const rewriteLinks = (contract: JsonObject, text: string) =>
  text
    .replace(/\]\(#\/([^)]*)\)/g, (_, place: string) => `](${markdownUrlOf(contract, place)})`)
    .replace(/\]\(#error-(\w+)\)/g, (_, code: string) => `](${docsUrl('guia/errores')}#error-${code})`)
    .replace(/\]\(\//g, `](${DIRECCION}/`)

const joinParts = (...parts: (string | undefined)[]) => parts.filter(Boolean).join('\n\n')
const codeBlock = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``
const jsonBlock = (value: Json | undefined) => codeBlock('json', JSON.stringify(value, null, 2))
/** Matches a table: its titles, the line below them, and its rows. */
const TABLE = /^\|(.*)\|\n\|[-:| ]+\|\n((?:\|.*\|(?:\n|$))+)/gm
const cellsOf = (row: string) => row.split('|').map((cell) => cell.trim())

/** Writes a table as one sentence, such as «`en_bodega`: en una bodega (puede pasar a: `en_ruta`); …». */
function toSentence(titles: string, rows: string): string {
  const [, , ...otherTitles] = cellsOf(titles)
  const entries = rows
    .trimEnd()
    .split('\n')
    .map((row) => {
      const [name = '', meaning, ...others] = cellsOf(row.slice(1, -1))
      return `${name}: ${meaning}${others.map((cell, i) => ` (${otherTitles[i]}: ${cell})`).join('')}`
    })
  return `${entries.join('; ')}.\n`
}

/** Writes a text in one line, for a cell. A cell holds no table. */
const toCell = (text: string) =>
  text
    .replace(TABLE, (_, titles: string, rows: string) => toSentence(titles, rows))
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
const renderChapter = ({ titulo, texto, parts }: GuideChapter) =>
  joinParts(`# ${titulo}`, texto, ...parts.map((part) => `## ${part.titulo}\n\n${part.texto}`))

function renderFieldTable(contract: JsonObject, schema: Json | undefined): string {
  const rows = fieldsOf(contract, schema).map(({ nombre, tipo, obligatorio, descripcion }) => [
    `\`${nombre}\``,
    obligatorio ? `${tipo}, obligatorio` : tipo,
    toCell(descripcion),
  ])
  return rows.length > 0 ? renderTable(['campo', 'tipo', 'qué es'], rows) : ''
}

function renderParameters(contract: JsonObject, operation: ContractOperacion): string | undefined {
  const PLACES: Readonly<Record<string, string>> = { path: 'ruta', query: 'consulta', header: 'cabecera' }
  const rows = parametersOf(contract, operation).map((parameter) => [
    `\`${parameter.name}\``,
    PLACES[String(parameter.in)] ?? '',
    [schemaTypeOf(contract, parameter.schema), ...(parameter.required ? ['obligatorio'] : [])].join(', '),
    toCell(
      String(parameter.description ?? resolveRef(contract, parameter.schema).description ?? '') +
        describeValues(contract, parameter.schema),
    ),
  ])
  return rows.length > 0 ? `## Parámetros\n\n${renderTable(['nombre', 'dónde', 'tipo', 'qué es'], rows)}` : undefined
}

function body(contract: JsonObject, { definition }: ContractOperacion): string | undefined {
  const json = ((resolveRef(contract, definition.requestBody).content ?? {}) as JsonObject)[
    'application/json'
  ] as JsonObject
  if (!json) return undefined
  const examples = examplesOf(contract, definition.requestBody).map(
    ([, { summary, value }]) => `Ejemplo: ${summary}.\n\n${jsonBlock(value)}`,
  )
  return ['## Cuerpo', renderFieldTable(contract, json.schema), ...examples].join('\n\n')
}

function renderResponses(contract: JsonObject, { definition }: ContractOperacion): string {
  const todas = Object.entries(definition.responses as JsonObject).map(([status, entry]) => {
    const response = resolveRef(contract, entry)
    const [firstExample] = examplesOf(contract, entry)
    const schema = (((response.content ?? {}) as JsonObject)['application/json'] as JsonObject | undefined)?.schema
    const title = `### ${status}\n\n${String(response.description).trim()}`
    if (Number(status) >= 400) {
      const codes = examplesOf(contract, entry).map(([, { value }]) => (value as JsonObject).codigo)
      const errorLinks = [...new Set(codes)].map((code) => `[\`${code}\`](#error-${code})`)
      return `${title}\n\n\`codigo\`: ${errorLinks.join(', ')}.`
    }
    return [
      title,
      ...(schema ? [renderFieldTable(contract, schema)] : []),
      ...(firstExample ? [jsonBlock(firstExample[1].value)] : []),
    ].join('\n\n')
  })
  return [
    '## Respuestas',
    ...todas,
    'Qué trae un error y qué hacer con cada código: [Errores](#/section/errores).',
  ].join('\n\n')
}

function renderOperacion(contract: JsonObject, operation: ContractOperacion): string {
  const { method, path, definition } = operation
  const samples = (definition['x-codeSamples'] as Record<string, string>[]).map(
    ({ label, lang, source }) => `### ${label}\n\n${codeBlock(lang!.toLowerCase(), source!)}`,
  )
  return joinParts(
    `# ${definition.summary}`,
    `\`${method.toUpperCase()} ${DIRECCION}${path}\``,
    String(definition.description),
    renderParameters(contract, operation),
    body(contract, operation),
    renderResponses(contract, operation),
    '## Muestras',
    ...samples,
  )
}

const link = (title: string, path: string, description: string) => `- [${title}](${path}): ${description}`

/** Returns the description of a group of operations and the list of its operations. */
const renderGroup = (contract: JsonObject, { name, description }: JsonObject) =>
  joinParts(
    String(description),
    operacionesOf(contract)
      .filter(({ definition }) => (definition.tags as Json[]).includes(name!))
      .map(({ id, method, path, definition }) =>
        link(
          String(definition.summary),
          docsUrl(`operaciones/${id}`),
          `\`${method.toUpperCase()} ${path}\`. ${firstSentence(String(definition.description))}`,
        ),
      )
      .join('\n'),
  )

/** Returns `/llms.txt` as llmstxt.org defines it: a title, a summary, the introduction, and lists of links. */
function index(contract: JsonObject, guideChapters: readonly GuideChapter[], introduction: string): string {
  const { title, summary } = contract.info as JsonObject
  return joinParts(
    `# ${title}`,
    `> ${summary}`,
    introduction,
    `La API está en ${DIRECCION}/api/v1 y se llama con \`Authorization: Bearer\` y su llave.`,
    '## Guía',
    guideChapters
      .map((chapter) => link(chapter.titulo, docsUrl(`guia/${chapter.nombre}`), summaryOf(chapter)))
      .join('\n'),
    ...groupsOf(contract).flatMap((group) => [`## ${group.name}`, renderGroup(contract, group)]),
    '## Contrato',
    [
      link('Todo en un archivo', `${DIRECCION}/llms-full.txt`, 'la guía y las operaciones, una tras otra.'),
      link('OpenAPI 3.1 en JSON', `${DIRECCION}/openapi.json`, 'el contrato entero, para generar un cliente.'),
      link('OpenAPI 3.1 en YAML', `${DIRECCION}/openapi.yaml`, 'el mismo.'),
      link('Colección', `${DIRECCION}/coleccion.json`, 'las operaciones con sus ejemplos, para Postman o Bruno.'),
    ].join('\n'),
  )
}

/** Returns all Markdown files of the documentation. */
export function renderMarkdownFiles(contract: JsonObject): MarkdownFiles {
  const { introduction, guideChapters } = readContractGuide(contract)
  const guideFiles = guideChapters.map((chapter) => [`docs/guia/${chapter.nombre}.md`, renderChapter(chapter)] as const)
  const operacionFiles = operacionesOf(contract).map(
    (operation) => [`docs/operaciones/${operation.id}.md`, renderOperacion(contract, operation)] as const,
  )
  const linkList = index(contract, guideChapters, introduction)
  const files = [
    ['llms.txt', linkList],
    ['llms-full.txt', [linkList, ...[...guideFiles, ...operacionFiles].map(([, text]) => text)].join('\n\n---\n\n')],
    ...guideFiles,
    ...groupsOf(contract).map((group) => [
      `docs/grupos/${toSlug(String(group.name))}.md`,
      `# ${group.name}\n\n${renderGroup(contract, group)}`,
    ]),
    ...operacionFiles,
  ] as [string, string][]
  return new Map(files.map(([path, text]) => [path, `${rewriteLinks(contract, text).trim()}\n`]))
}
