/**
 * Checks the house rules that no linter knows: calls that the server must not make, and SQL that must not contain
 * request data. Also checks that regular expressions run in linear time, which recheck proves or, where it cannot,
 * tests.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkSync } from 'recheck'
import ts from 'typescript'

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

/** Modules that only files with a matching path may import. */
const RESTRICTED_MODULES: Record<string, RegExp> = {
  'node:child_process': /^(?:server\/data\/embedded|sdk\/cli)\//,
  'node:vm': /^$/,
}
/** Files that run the statements of other modules, and so may call `query` with variable text. */
const GATEWAYS =
  /^server\/(?:data\/(?:connections|db|order|citus\/(?:cluster|laying)|embedded\/(?:role|continuous\/walStream))|startup\/(?:startWorkers|migrations))\.ts$/
/** Files whose statements' text depends on the presence of filters, but never on their values. */
const LIST_FILES = /^server\/domain\/(?:guias\/guia|webhooks\/listarAvisos)\.ts$/

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

const isInFunction = ({ parent }: ts.Node): boolean =>
  parent !== undefined && (ts.isFunctionLike(parent) || isInFunction(parent))
const isConstant = (nodo: ts.Expression) => ts.isIdentifier(nodo) && /^[A-Z_]+$/.test(nodo.text)
/** Reports whether the text of a statement is constant. */
const isFixed = (nodo: ts.Expression): boolean =>
  ts.isStringLiteralLike(nodo) ||
  isConstant(nodo) ||
  (ts.isTemplateExpression(nodo) && nodo.templateSpans.every(({ expression }) => isConstant(expression))) ||
  (ts.isObjectLiteralExpression(nodo) &&
    nodo.properties.some(
      (property) =>
        ts.isPropertyAssignment(property) && property.name.getText() === 'text' && isFixed(property.initializer),
    ))

/** Expression whose `query` takes a `Statement`, which is constant: `Query` itself, a `Db`, or a part of one. */
const isStatementRunner = (callee: ts.Expression): boolean =>
  ts.isIdentifier(callee) ||
  (ts.isPropertyAccessExpression(callee) &&
    /(?:^|[.#])(?:db|primary|partOfChain\(.*\))$/s.test(callee.expression.getText()))

/** Reports whether a call of `query` may get SQL text that is not constant. */
const takesVariableSql = (callee: ts.Expression, sql: ts.Expression): boolean =>
  !isFixed(sql) &&
  (ts.isTemplateExpression(sql) || ts.isBinaryExpression(sql) || ts.isAsExpression(sql) || !isStatementRunner(callee))

/** Returns the house rule that a node breaks; undefined if it breaks none. */
function findViolation(path: string, nodo: ts.Node): string | undefined {
  if (ts.isImportDeclaration(nodo)) {
    const { text } = nodo.moduleSpecifier as ts.StringLiteral
    if (RESTRICTED_MODULES[text] && !RESTRICTED_MODULES[text].test(path)) return `${text} may not be imported here`
  }
  if (ts.isIdentifier(nodo) && /^(?:eval|Function|\$(?:query|execute)RawUnsafe|insertAdjacentHTML)$/.test(nodo.text))
    return `${nodo.text} turns text into code, SQL or HTML`
  if (
    ts.isBinaryExpression(nodo) &&
    /=$/.test(nodo.operatorToken.getText()) &&
    /\.(?:inner|outer)HTML$/.test(nodo.left.getText())
  )
    if (/^[+|&?]*=$/.test(nodo.operatorToken.getText())) return 'assignment of text as HTML'
  if (!ts.isCallExpression(nodo)) return undefined
  const { expression: callee, arguments: args } = nodo
  const nombre = ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText()
  if (nombre === 'statement' && isInFunction(nodo)) return 'a statement is defined inside a function'
  if (nombre === 'dynamicStatement' && !LIST_FILES.test(path)) return 'the text of a statement depends on the request'
  const isOfPages = path.startsWith('server/pages/')
  const [sql] = args
  if (nombre === 'query' && !isOfPages && !GATEWAYS.test(path) && sql && takesVariableSql(callee, sql))
    return 'SQL text that is not constant'
  return undefined
}

function visit(path: string, nodo: ts.Node, archivo: ts.SourceFile): void {
  const donde = () => `${path}:${archivo.getLineAndCharacterOfPosition(nodo.getStart()).line + 1}`
  const violation = findViolation(path, nodo)
  if (violation) fallas.push(`${donde()} ${violation}`)
  if (ts.isRegularExpressionLiteral(nodo)) {
    const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(nodo.text) ?? []
    record(source, flags, donde())
  }
  // In the text of a template, `x` stands for each interpolated value.
  if (ts.isNewExpression(nodo) && nodo.expression.getText() === 'RegExp' && isInFunction(nodo)) {
    const texto = nodo.arguments?.[0]
    if (texto && ts.isTemplateExpression(texto))
      record(
        [texto.head, ...texto.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('x'),
        'i',
        donde(),
      )
  }
  ts.forEachChild(nodo, (child) => visit(path, child, archivo))
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

/** Cache of the expressions known to be safe, because checking all takes about 15 seconds. */
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

for (const path of execFileSync(
  'git',
  ['ls-files', 'server', 'sdk/src', 'sdk/cli', 'sdk/pruebas', 'sdk/entries', 'sdk/mcp/src'],
  {
    encoding: 'utf8',
  },
).split('\n')) {
  if (!/\.tsx?$/.test(path)) continue
  const texto = readFileSync(path, 'utf8')
  const archivo = ts.createSourceFile(path, texto, ts.ScriptTarget.Latest, true)
  visit(path, archivo, archivo)
  if (path.startsWith('server/') && /^(?:\S.*| {2,4}\w+:.*)new RegExp\(/m.test(texto)) await loadModule(path)
}
visitContract(JSON.parse(readFileSync('server/generated/contract/contrato.json', 'utf8')))
const safeKeys = judgePatterns(readSafeKeys())
mkdirSync(dirname(CACHE_FILE), { recursive: true })
writeFileSync(CACHE_FILE, JSON.stringify(safeKeys))
console.log([...fallas, `${patterns.size} regular expressions, ${fallas.length} faults`].join('\n'))
// The imported modules may keep handles open, which would prevent an exit.
process.exit(fallas.length > 0 ? 1 : 0)
