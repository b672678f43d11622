/**
 * Fragments of text generated from the contract. They replace `{{name}}` in descriptions and in the guide's chapters,
 * so that no text repeats the contract's values. An unknown name is an error, and so is an unused fragment.
 */
import { examplesOf, type Json, type JsonObject, operacionesOf, schemasOf } from './contract.ts'

interface StateMachine {
  iniciales: string[]
  finales: string[]
  rectificables?: string[]
  desvios?: string[]
  transiciones: Record<string, string[]>
}
type Texts = Record<string, string>

const code = (text: string) => `\`${text}\``
const codes = (texts: readonly string[]) => texts.map(code).join(', ')
/** Returns a Markdown table. */
export const renderTable = (header: readonly string[], rows: readonly (readonly string[])[]) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
/** Formats a duration in seconds, minutes or hours: 64800 gives «18 h». */
export function formatDuration(seconds: number): string {
  const [unidad, size] = seconds < 60 ? ['s', 1] : seconds < 3600 ? ['min', 60] : ['h', 3600]
  return `${(seconds / (size as number)).toLocaleString('es', { maximumFractionDigits: 1 })} ${unidad}`
}

const machineOf = (contract: JsonObject, schemaName: string) =>
  (schemasOf(contract)[schemaName] as JsonObject)['x-transiciones'] as unknown as StateMachine

function renderEstadoTable(contract: JsonObject): string {
  const { Estado = {} } = schemasOf(contract)
  const { transiciones } = machineOf(contract, 'Estado')
  const meanings = Estado['x-significados'] as Texts
  return renderTable(
    ['estado', 'significa', 'puede pasar a'],
    Object.entries(transiciones).map(([estado, next]) => [
      code(estado),
      meanings[estado] ?? '',
      codes(next) || 'nada: es final',
    ]),
  )
}

/**
 * Returns the state diagram of a schema in Mermaid, for readers of the contract itself. The documentation shows it as
 * an image (`diagram.ts`).
 */
function renderDiagram(contract: JsonObject, schemaName: string): string {
  const { iniciales, finales, desvios = [], transiciones } = machineOf(contract, schemaName)
  const arrows = [
    ...iniciales.map((estado) => `[*] --> ${estado}`),
    ...Object.entries(transiciones).flatMap(([source, targets]) => targets.map((a) => `${source} --> ${a}`)),
    ...finales.map((estado) => `${estado} --> [*]`),
    ...(desvios.length > 0 ? ['classDef desvio stroke-dasharray:5', `class ${desvios.join(',')} desvio`] : []),
  ]
  return ['```mermaid', 'stateDiagram-v2', ...arrows.map((arrow) => `  ${arrow}`), '```'].join('\n')
}

function renderReasonTable(contract: JsonObject): string {
  const motivos = schemasOf(contract).Estado?.['x-motivos'] as Record<string, Record<string, JsonObject>>
  return renderTable(
    ['estado', 'motivo', 'significa', '`requiere_accion`'],
    Object.entries(motivos).flatMap(([estado, estadoReasons]) =>
      Object.entries(estadoReasons).map(([motivo, { significa, requiere_accion }]) => [
        code(estado),
        code(motivo),
        String(significa),
        requiere_accion ? 'sí' : 'no',
      ]),
    ),
  )
}

function renderEventoTable(contract: JsonObject): string {
  const { TipoDeEvento = {}, Estado = {} } = schemasOf(contract)
  const eventoDescriptions = TipoDeEvento['x-descripciones'] as Texts
  const estadoDescriptions = Estado['x-descripciones'] as Texts
  return renderTable(
    ['tipo', 'qué pasó'],
    (TipoDeEvento.enum as string[]).map((type) => [
      code(type),
      eventoDescriptions[type] ?? estadoDescriptions[type.replace(/^guia\./, '')] ?? '',
    ]),
  )
}

const retriesOf = (contract: JsonObject) =>
  schemasOf(contract).EstadoDeAvisoDeWebhook?.['x-reintentos'] as unknown as {
    esperas_s: number[]
    variacion: number
    retry_after_maximo_s: number
  }

function renderRetryTable(contract: JsonObject): string {
  let total = 0
  const rows = retriesOf(contract).esperas_s.map((waitSeconds, i) => {
    total += waitSeconds
    return [String(i + 1), waitSeconds === 0 ? 'enseguida' : formatDuration(waitSeconds), formatDuration(total)]
  })
  return renderTable(['intento', 'espera tras el anterior', 'desde el evento'], rows)
}

/** Returns one table of errors per status. Each code has the anchor that an error's `documentacion` links to. */
function renderErrorTables(contract: JsonObject): string {
  const problemas = Object.entries(schemasOf(contract).CodigoDeProblema?.['x-problemas'] as Record<string, JsonObject>)
  const merchantProblemas = problemas.filter(([, { ajeno: foreign }]) => foreign !== true)
  const problemasByStatus = Map.groupBy(merchantProblemas, ([, { status }]) => Number(status))
  return [...problemasByStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, statusProblemas]) =>
      [
        `## ${status}`,
        renderTable(
          ['`codigo`', 'por qué', 'qué hacer'],
          statusProblemas.map(([name, { causa, remedio }]) => [
            `<a id="error-${name}"></a>${code(name)}`,
            String(causa),
            String(remedio),
          ]),
        ),
      ].join('\n\n'),
    )
    .join('\n\n')
}

/** Returns a complete error: the contract's first example of the most common response. */
function renderErrorExample(contract: JsonObject): string {
  const responses = (contract.components as JsonObject).responses as JsonObject
  const [[, example] = []] = examplesOf(contract, responses.DatosNoValidos)
  return ['```json', JSON.stringify(example?.value, null, 2), '```'].join('\n')
}

function renderAlcanceTable(contract: JsonObject): string {
  const alcanceSummaries = operacionesOf(contract).flatMap(({ definition }) =>
    ((definition.security ?? []) as Record<string, string[]>[])
      .flatMap((requirement) => Object.values(requirement).flat())
      .map((alcance) => ({ alcance, summary: definition.summary as string })),
  )
  return renderTable(
    ['alcance', 'permite'],
    [...Map.groupBy(alcanceSummaries, ({ alcance }) => alcance)].map(([alcance, alcanceUses]) => [
      code(alcance),
      alcanceUses.map(({ summary }) => summary[0]?.toLowerCase() + summary.slice(1)).join(' · '),
    ]),
  )
}

function renderVectors(contract: JsonObject): string {
  const vectors = schemasOf(contract).FirmaDeWebhook?.['x-vectores'] as Json
  return ['```json', JSON.stringify(vectors, null, 2), '```'].join('\n')
}

const FRAGMENTS: Record<string, (contract: JsonObject) => string> = {
  estados: renderEstadoTable,
  'estados.rectificables': (contract) => codes(machineOf(contract, 'Estado').rectificables ?? []),
  'estados.diagrama': (contract) => renderDiagram(contract, 'Estado'),
  'ubicacion.diagrama': (contract) => renderDiagram(contract, 'EstadoDeUbicacion'),
  motivos: renderReasonTable,
  eventos: renderEventoTable,
  alcances: renderAlcanceTable,
  errores: renderErrorTables,
  'errores.ejemplo': renderErrorExample,
  reintentos: renderRetryTable,
  'reintentos.intentos': (contract) => String(retriesOf(contract).esperas_s.length),
  'reintentos.duracion': (contract) => formatDuration(retriesOf(contract).esperas_s.reduce((a, b) => a + b, 0)),
  'reintentos.variacion': (contract) => `${retriesOf(contract).variacion * 100} %`,
  'reintentos.retry_after': (contract) => formatDuration(retriesOf(contract).retry_after_maximo_s),
  'webhooks.vectores': renderVectors,
  version: (contract) => String((contract.info as JsonObject).version),
}

const usedFragments = new Set<string>()

/**
 * Returns the contract with all fragments replaced in its descriptions and in the guide.
 * @throws if a fragment is unknown
 */
export function withFragments(contract: JsonObject): JsonObject {
  const fillIn = (text: string) =>
    text.replace(/\{\{([\w.]+)\}\}/g, (_, name: string) => {
      const renderFragment = FRAGMENTS[name]
      if (!renderFragment) throw new Error(`unknown fragment {{${name}}}: see scripts/documentation/fragments.ts`)
      usedFragments.add(name)
      return renderFragment(contract)
    })
  const walk = (value: Json, key = ''): Json => {
    if (typeof value === 'string') return key === 'description' || key === 'x-guia' ? fillIn(value) : value
    if (Array.isArray(value)) return value.map((item) => walk(item))
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v, k)]))
  }
  return walk(contract) as JsonObject
}

/**
 * Checks that each fragment is used. Call this after {@link withFragments} has processed all documents.
 * @throws if a fragment is unused
 */
export function requireUsedFragments() {
  const unusedFragments = Object.keys(FRAGMENTS).filter((name) => !usedFragments.has(name))
  if (unusedFragments.length > 0) throw new Error(`unused fragments: ${unusedFragments.join(', ')}`)
}
