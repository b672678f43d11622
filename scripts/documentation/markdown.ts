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
import { camposDe, describeValues, schemaTypeOf } from './fields.ts'
import { renderTable } from './fragments.ts'
import { type GuideChapter, readContractGuide, stripMarks, toSlug } from './guide.ts'

/** Contents of files by their paths in the service, such as `docs/guia/lotes.md`. */
export type MarkdownFiles = Map<string, string>

const enDocs = (path: string) => `${DIRECCION}/docs/${path}.md`

/**
 * Returns the Markdown address for an address of the reading view: a chapter, a part of it, a group of operations or an
 * operation.
 * @throws if it does not exist
 */
function enlaceDe(contract: JsonObject, lugar: string): string {
  const [group = '', nombre, parte] = lugar.split('/')
  if (group === 'section') {
    const chapter = readContractGuide(contract).guideChapters.find((candidate) => candidate.nombre === nombre)
    const section = chapter?.parts.find((entry) => entry.lugar === lugar)
    if (chapter && (parte === undefined || section)) return enDocs(`guia/${nombre}`) + (parte ? `#${parte}` : '')
  } else if (nombre === undefined) {
    if (groupsOf(contract).some(({ name }) => toSlug(String(name)) === group)) return enDocs(`grupos/${group}`)
  } else {
    const operacion = operacionesOf(contract).find(({ id }) => id.toLowerCase() === nombre)
    if (operacion) return enDocs(`operaciones/${operacion.id}`)
  }
  throw new Error(`the documentation links to #/${lugar}, which does not exist`)
}

const groupsOf = (contract: JsonObject) => (contract.tags ?? []) as JsonObject[]

/** Makes links absolute and changes links to the reading view into links to Markdown. */
const rewriteLinks = (contract: JsonObject, texto: string) =>
  texto
    .replace(/\]\(#\/([^)]*)\)/g, (_, lugar: string) => `](${enlaceDe(contract, lugar)})`)
    .replace(/\]\(#error-(\w+)\)/g, (_, codigo: string) => `](${enDocs('guia/errores')}#error-${codigo})`)
    .replace(/\]\(\//g, `](${DIRECCION}/`)

const joinParts = (...parts: (string | undefined)[]) => parts.filter(Boolean).join('\n\n')
const codeBlock = (language: string, codigo: string) => `\`\`\`${language}\n${codigo}\n\`\`\``
const enJson = (valor: Json | undefined) => codeBlock('json', JSON.stringify(valor, null, 2))
const toCell = (texto: string) =>
  texto
    .trim()
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
/** Returns the first sentence of a text, cut at 180 characters. */
function firstSentence(texto: string): string {
  const plainText = stripMarks(texto)
  const sentence = /^.*?\.(?=\s|$)/.exec(plainText)?.[0] ?? plainText
  return sentence.length <= 180 ? sentence : `${sentence.slice(0, 180).replace(/\s+\S*$/, '')}…`
}

const renderChapter = ({ titulo, texto, parts }: GuideChapter) =>
  joinParts(`# ${titulo}`, texto, ...parts.map((parte) => `## ${parte.titulo}\n\n${parte.texto}`))

function renderFieldTable(contract: JsonObject, schema: Json | undefined): string {
  const rows = camposDe(contract, schema).map(({ nombre, tipo, obligatorio, descripcion }) => [
    `\`${nombre}\``,
    obligatorio ? `${tipo}, obligatorio` : tipo,
    toCell(descripcion),
  ])
  return rows.length > 0 ? renderTable(['campo', 'tipo', 'qué es'], rows) : ''
}

function renderParameters(contract: JsonObject, operacion: ContractOperacion): string | undefined {
  const PLACES: Readonly<Record<string, string>> = { path: 'ruta', query: 'consulta', header: 'cabecera' }
  const rows = parametersOf(contract, operacion).map((parameter) => [
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

function cuerpo(contract: JsonObject, { definition }: ContractOperacion): string | undefined {
  const json = ((resolveRef(contract, definition.requestBody).content ?? {}) as JsonObject)[
    'application/json'
  ] as JsonObject
  if (!json) return undefined
  const examples = examplesOf(contract, definition.requestBody).map(
    ([, { summary, value }]) => `Ejemplo: ${summary}.\n\n${enJson(value)}`,
  )
  return ['## Cuerpo', renderFieldTable(contract, json.schema), ...examples].join('\n\n')
}

function renderResponses(contract: JsonObject, { definition }: ContractOperacion): string {
  const todas = Object.entries(definition.responses as JsonObject).map(([status, entry]) => {
    const respuesta = resolveRef(contract, entry)
    const [firstExample] = examplesOf(contract, entry)
    const schema = (((respuesta.content ?? {}) as JsonObject)['application/json'] as JsonObject | undefined)?.schema
    const titulo = `### ${status}\n\n${String(respuesta.description).trim()}`
    if (Number(status) >= 400) {
      const codigos = examplesOf(contract, entry).map(([, { value }]) => (value as JsonObject).codigo)
      const errorLinks = [...new Set(codigos)].map((codigo) => `[\`${codigo}\`](#error-${codigo})`)
      return `${titulo}\n\n\`codigo\`: ${errorLinks.join(', ')}.`
    }
    return [
      titulo,
      ...(schema ? [renderFieldTable(contract, schema)] : []),
      ...(firstExample ? [enJson(firstExample[1].value)] : []),
    ].join('\n\n')
  })
  return [
    '## Respuestas',
    ...todas,
    'Qué trae un error y qué hacer con cada código: [Errores](#/section/errores).',
  ].join('\n\n')
}

function renderOperacion(contract: JsonObject, operacion: ContractOperacion): string {
  const { method, path, definition } = operacion
  const samples = (definition['x-codeSamples'] as Record<string, string>[]).map(
    ({ label, lang, source }) => `### ${label}\n\n${codeBlock(lang!.toLowerCase(), source!)}`,
  )
  return joinParts(
    `# ${definition.summary}`,
    `\`${method.toUpperCase()} ${DIRECCION}${path}\``,
    String(definition.description),
    renderParameters(contract, operacion),
    cuerpo(contract, operacion),
    renderResponses(contract, operacion),
    '## Muestras',
    ...samples,
  )
}

const enlace = (titulo: string, path: string, description: string) => `- [${titulo}](${path}): ${description}`

/** Returns the description of a group of operations and the list of its operations. */
const renderGroup = (contract: JsonObject, { name, description }: JsonObject) =>
  joinParts(
    String(description),
    operacionesOf(contract)
      .filter(({ definition }) => (definition.tags as Json[]).includes(name!))
      .map(({ id, method, path, definition }) =>
        enlace(
          String(definition.summary),
          enDocs(`operaciones/${id}`),
          `\`${method.toUpperCase()} ${path}\`. ${firstSentence(String(definition.description))}`,
        ),
      )
      .join('\n'),
  )

/** Returns `/llms.txt` as llmstxt.org defines it: a title, a summary, the introduction, and lists of links. */
function indice(contract: JsonObject, guideChapters: readonly GuideChapter[], introduction: string): string {
  const { title, summary } = contract.info as JsonObject
  return joinParts(
    `# ${title}`,
    `> ${summary}`,
    introduction,
    `La API está en ${DIRECCION}/api/v1 y se llama con \`Authorization: Bearer\` y su llave.`,
    '## Guía',
    guideChapters
      .map(({ titulo, nombre, texto, parts }) =>
        enlace(titulo, enDocs(`guia/${nombre}`), firstSentence(texto || (parts[0]?.texto ?? ''))),
      )
      .join('\n'),
    ...groupsOf(contract).flatMap((group) => [`## ${group.name}`, renderGroup(contract, group)]),
    '## Contrato',
    [
      enlace('Todo en un archivo', `${DIRECCION}/llms-full.txt`, 'la guía y las operaciones, una tras otra.'),
      enlace('OpenAPI 3.1 en JSON', `${DIRECCION}/openapi.json`, 'el contrato entero, para generar un cliente.'),
      enlace('OpenAPI 3.1 en YAML', `${DIRECCION}/openapi.yaml`, 'el mismo.'),
      enlace('Colección', `${DIRECCION}/coleccion.json`, 'las operaciones con sus ejemplos, para Postman o Bruno.'),
    ].join('\n'),
  )
}

/** Returns all Markdown files of the documentation. */
export function enMarkdown(contract: JsonObject): MarkdownFiles {
  const { introduction, guideChapters } = readContractGuide(contract)
  const guideFiles = guideChapters.map((chapter) => [`docs/guia/${chapter.nombre}.md`, renderChapter(chapter)] as const)
  const operacionFiles = operacionesOf(contract).map(
    (operacion) => [`docs/operaciones/${operacion.id}.md`, renderOperacion(contract, operacion)] as const,
  )
  const linkList = indice(contract, guideChapters, introduction)
  const files = [
    ['llms.txt', linkList],
    ['llms-full.txt', [linkList, ...[...guideFiles, ...operacionFiles].map(([, texto]) => texto)].join('\n\n---\n\n')],
    ...guideFiles,
    ...groupsOf(contract).map((group) => [
      `docs/grupos/${toSlug(String(group.name))}.md`,
      `# ${group.name}\n\n${renderGroup(contract, group)}`,
    ]),
    ...operacionFiles,
  ] as [string, string][]
  return new Map(files.map(([path, texto]) => [path, `${rewriteLinks(contract, texto).trim()}\n`]))
}
