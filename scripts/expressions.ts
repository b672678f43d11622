/**
 * Checks that the regular expressions of server, SDK and contract run in linear time, which recheck proves or, where it
 * cannot, tests. The first run takes half a minute; later runs look only at new expressions.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkSync } from 'recheck'
import ts from 'typescript'
import { isInFunction, placeOf, readSources, type Source } from './sources.ts'

/** Files whose regular expressions never see a client's input. They may therefore take polynomial time. */
const TRUSTED_INPUT_FILES: readonly string[] = [
  // The server's own configuration and page, read once at the start.
  'server/platform/config/readers.ts',
  'server/domain/mensajeria/whatsapp.ts',
  'server/pages/docs/route.ts',
  // Values that a merchant passes to the SDK.
  'sdk/src/guias.ts',
  'sdk/src/retries.ts',
  // Base64 that the SDK itself has just encoded.
  'sdk/entries/verificar.ts',
]

const fallas: string[] = []
interface FoundPattern {
  source: string
  flags: string
  donde: string[]
}
const patterns = new Map<string, FoundPattern>()
function record(source: string, flags: string, lugar: string): void {
  const clave = `/${source}/${flags}`
  const { donde = [] } = patterns.get(clave) ?? {}
  patterns.set(clave, { source, flags, donde: [...donde, lugar] })
}

/** Records the regular expressions below a node. */
function visit(source: Source, nodo: ts.Node): void {
  if (ts.isRegularExpressionLiteral(nodo)) {
    const [, pattern = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(nodo.text) ?? []
    record(pattern, flags, placeOf(source, nodo))
  }
  // In the text of a template, `x` stands for each interpolated value.
  if (ts.isNewExpression(nodo) && nodo.expression.getText() === 'RegExp' && isInFunction(nodo)) {
    const texto = nodo.arguments?.[0]
    if (texto && ts.isTemplateExpression(texto))
      record(
        [texto.head, ...texto.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('x'),
        'i',
        placeOf(source, nodo),
      )
  }
  ts.forEachChild(nodo, (child) => visit(source, child))
}

/** Imports a module and records the regular expressions that it builds with `new RegExp` while loading. */
async function loadModule(path: string): Promise<void> {
  const Original = RegExp
  globalThis.RegExp = new Proxy(Original, {
    construct(de, [source, flags = '']) {
      if (new Error().stack?.includes(path)) record(String(source), flags, path)
      return new de(source, flags)
    },
  })
  await import(pathToFileURL(path).href)
  globalThis.RegExp = Original
}

function visitContract(valor: unknown): void {
  if (typeof valor !== 'object' || valor === null) return
  for (const [clave, memberValue] of Object.entries(valor))
    if (/^(?:x-patron|pattern)$/.test(clave) && typeof memberValue === 'string')
      record(memberValue, 'u', 'the contract')
    else visitContract(memberValue)
}

/** Cache of the expressions known to be safe, because checking all takes half a minute. */
const CACHE_FILE = 'node_modules/.cache/guias/patrones.json'
function readSafeKeys(): Set<string> {
  try {
    return new Set(JSON.parse(readFileSync(CACHE_FILE, 'utf8')))
  } catch {
    return new Set()
  }
}

/**
 * Checks the recorded expressions, and reports those that are not linear.
 * @returns the keys of the safe expressions, for the cache
 */
function judgePatterns(knownSafeKeys: ReadonlySet<string>): string[] {
  return [...patterns].flatMap(([clave, { source, flags, donde }]) => {
    if (knownSafeKeys.has(clave)) return clave
    // The time limit in milliseconds is far more than any expression needs, so that a slow machine passes too.
    const verdict = checkSync(source, flags, { timeout: 240_000 })
    if (verdict.status === 'safe') return clave
    const { type, summary } =
      verdict.status === 'vulnerable' ? verdict.complexity : { type: undefined, summary: 'recheck could not decide' }
    const badPlaces = donde.filter(
      (lugar) => type !== 'polynomial' || !TRUSTED_INPUT_FILES.some((path) => lugar.startsWith(path)),
    )
    fallas.push(...badPlaces.map((lugar) => `${lugar} ${clave}: ${summary}`))
    return []
  })
}

for (const source of readSources()) {
  visit(source, source.file)
  const { path } = source
  if (path.startsWith('server/') && /^(?:\S.*| {2,4}\w+:.*)new RegExp\(/m.test(source.file.text)) await loadModule(path)
}
visitContract(JSON.parse(readFileSync('server/generated/contract/contrato.json', 'utf8')))
const safeKeys = judgePatterns(readSafeKeys())
mkdirSync(dirname(CACHE_FILE), { recursive: true })
writeFileSync(CACHE_FILE, JSON.stringify(safeKeys))
console.log([...fallas, `${patterns.size} regular expressions, ${fallas.length} faults`].join('\n'))
// The imported modules may keep handles open, which would prevent an exit.
process.exit(fallas.length > 0 ? 1 : 0)
