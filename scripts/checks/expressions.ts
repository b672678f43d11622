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

const faults: string[] = []
interface FoundPattern {
  source: string
  flags: string
  places: string[]
}
const patterns = new Map<string, FoundPattern>()
function record(source: string, flags: string, place: string): void {
  const key = `/${source}/${flags}`
  const { places = [] } = patterns.get(key) ?? {}
  patterns.set(key, { source, flags, places: [...places, place] })
}

/** Records the regular expressions below a node. */
function visit(source: Source, node: ts.Node): void {
  if (ts.isRegularExpressionLiteral(node)) {
    const [, pattern = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? []
    record(pattern, flags, placeOf(source, node))
  }
  // In the text of a template, `x` stands for each interpolated value.
  if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp' && isInFunction(node)) {
    const texto = node.arguments?.[0]
    if (texto && ts.isTemplateExpression(texto))
      record(
        [texto.head, ...texto.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('x'),
        'i',
        placeOf(source, node),
      )
  }
  ts.forEachChild(node, (child) => visit(source, child))
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

function visitContract(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, memberValue] of Object.entries(value))
    if (/^(?:x-patron|pattern)$/.test(key) && typeof memberValue === 'string') record(memberValue, 'u', 'the contract')
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
  return [...patterns].flatMap(([key, { source, flags, places }]) => {
    if (knownSafeKeys.has(key)) return key
    // The time limit in milliseconds is far more than any expression needs, so that a slow machine passes too.
    const verdict = checkSync(source, flags, { timeout: 240_000 })
    if (verdict.status === 'safe') return key
    const { type, summary } =
      verdict.status === 'vulnerable' ? verdict.complexity : { type: undefined, summary: 'recheck could not decide' }
    const badPlaces = places.filter(
      (place) => type !== 'polynomial' || !TRUSTED_INPUT_FILES.some((path) => place.startsWith(path)),
    )
    faults.push(...badPlaces.map((place) => `${place} ${key}: ${summary}`))
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
console.log([...faults, `${patterns.size} regular expressions, ${faults.length} faults`].join('\n'))
// The imported modules may keep handles open, which would prevent an exit.
process.exit(faults.length > 0 ? 1 : 0)
