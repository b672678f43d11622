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
const DE_CASA: readonly string[] = [
  // The server's own configuration and page, read once at the start.
  'server/platform/config/readers.ts',
  'server/domain/mensajeria/whatsapp.ts',
  'server/pages/docs/route.ts',
  // Values that a merchant passes to the SDK.
  'sdk/src/guias.ts',
  'sdk/src/reintentos.ts',
  // Base64 that the SDK itself has just encoded.
  'sdk/entries/verificar.ts',
]

/** Modules that only files with a matching path may import. */
const MODULOS: Record<string, RegExp> = {
  'node:child_process': /^(?:server\/data\/embedded|sdk\/cli)\//,
  'node:vm': /^$/,
}
/** Files that run the statements of other modules, and so may call `query` with variable text. */
const PUERTAS =
  /^server\/(?:data\/(?:connections|db|order|citus\/(?:cluster|laying)|embedded\/(?:role|continuous\/walStream))|startup\/(?:startWorkers|migrations))\.ts$/
/** Files whose statements' text depends on the presence of filters, but never on their values. */
const LISTAS = /^server\/domain\/(?:guias\/guia|webhooks\/listarAvisos)\.ts$/

const fallas: string[] = []
interface Patron {
  source: string
  flags: string
  donde: string[]
}
const patrones = new Map<string, Patron>()
function anotar(source: string, flags: string, lugar: string): void {
  const clave = `/${source}/${flags}`
  const { donde = [] } = patrones.get(clave) ?? {}
  patrones.set(clave, { source, flags, donde: [...donde, lugar] })
}

const enFuncion = ({ parent }: ts.Node): boolean =>
  parent !== undefined && (ts.isFunctionLike(parent) || enFuncion(parent))
const esConstante = (nodo: ts.Expression) => ts.isIdentifier(nodo) && /^[A-Z_]+$/.test(nodo.text)
/** Reports whether the text of a statement is constant. */
const esFijo = (nodo: ts.Expression): boolean =>
  ts.isStringLiteralLike(nodo) ||
  esConstante(nodo) ||
  (ts.isTemplateExpression(nodo) && nodo.templateSpans.every(({ expression }) => esConstante(expression))) ||
  (ts.isObjectLiteralExpression(nodo) &&
    nodo.properties.some(
      (una) => ts.isPropertyAssignment(una) && una.name.getText() === 'text' && esFijo(una.initializer),
    ))

/** Returns the house rule that a node breaks; undefined if it breaks none. */
function falta(ruta: string, nodo: ts.Node): string | undefined {
  if (ts.isImportDeclaration(nodo)) {
    const { text } = nodo.moduleSpecifier as ts.StringLiteral
    if (MODULOS[text] && !MODULOS[text].test(ruta)) return `${text} may not be imported here`
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
  const { expression: funcion, arguments: dados } = nodo
  const nombre = ts.isPropertyAccessExpression(funcion) ? funcion.name.text : funcion.getText()
  if (nombre === 'statement' && enFuncion(nodo)) return 'a statement is defined inside a function'
  if (nombre === 'dynamicStatement' && !LISTAS.test(ruta)) return 'the text of a statement depends on the request'
  const esDePagina = ruta.startsWith('server/pages/')
  if (nombre === 'query' && !esDePagina && !PUERTAS.test(ruta) && dados[0] && !esFijo(dados[0]))
    return 'SQL text that is not constant'
  return undefined
}

function mirar(ruta: string, nodo: ts.Node, archivo: ts.SourceFile): void {
  const donde = () => `${ruta}:${archivo.getLineAndCharacterOfPosition(nodo.getStart()).line + 1}`
  const porque = falta(ruta, nodo)
  if (porque) fallas.push(`${donde()} ${porque}`)
  if (ts.isRegularExpressionLiteral(nodo)) {
    const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(nodo.text) ?? []
    anotar(source, flags, donde())
  }
  // In the text of a template, `x` stands for each interpolated value.
  if (ts.isNewExpression(nodo) && nodo.expression.getText() === 'RegExp' && enFuncion(nodo)) {
    const texto = nodo.arguments?.[0]
    if (texto && ts.isTemplateExpression(texto))
      anotar(
        [texto.head, ...texto.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('x'),
        'i',
        donde(),
      )
  }
  ts.forEachChild(nodo, (hijo) => mirar(ruta, hijo, archivo))
}

/** Imports a module and records the regular expressions that it builds with `new RegExp` while loading. */
async function cargar(ruta: string): Promise<void> {
  const Original = RegExp
  globalThis.RegExp = new Proxy(Original, {
    construct(de, [source, flags = '']) {
      if (new Error().stack?.includes(ruta)) anotar(String(source), flags, ruta)
      return new de(source, flags)
    },
  })
  await import(pathToFileURL(ruta).href)
  globalThis.RegExp = Original
}

function mirarContrato(valor: unknown): void {
  if (typeof valor !== 'object' || valor === null) return
  for (const [clave, suyo] of Object.entries(valor))
    if (/^(?:x-patron|pattern)$/.test(clave) && typeof suyo === 'string') anotar(suyo, 'u', 'the contract')
    else mirarContrato(suyo)
}

/** Cache of the expressions known to be safe, because checking all takes about 15 seconds. */
const MEMORIA = 'node_modules/.cache/guias/patrones.json'
function leerBuenos(): Set<string> {
  try {
    return new Set(JSON.parse(readFileSync(MEMORIA, 'utf8')))
  } catch {
    return new Set()
  }
}

/**
 * Checks the recorded expressions, and reports those that are not linear.
 * @returns the keys of the safe expressions, for the cache
 */
function juzgar(buenos: ReadonlySet<string>): string[] {
  return [...patrones].flatMap(([clave, { source, flags, donde }]) => {
    if (buenos.has(clave)) return clave
    // The time limit in milliseconds is far more than any expression needs, so that a slow machine passes too.
    const hallado = checkSync(source, flags, { timeout: 240_000 })
    if (hallado.status === 'safe') return clave
    const { type, summary } =
      hallado.status === 'vulnerable' ? hallado.complexity : { type: undefined, summary: 'recheck could not decide' }
    const malos = donde.filter((lugar) => type !== 'polynomial' || !DE_CASA.some((ruta) => lugar.startsWith(ruta)))
    fallas.push(...malos.map((lugar) => `${lugar} ${clave}: ${summary}`))
    return []
  })
}

for (const ruta of execFileSync(
  'git',
  ['ls-files', 'server', 'sdk/src', 'sdk/cli', 'sdk/pruebas', 'sdk/entries', 'sdk/mcp/src'],
  {
    encoding: 'utf8',
  },
).split('\n')) {
  if (!/\.tsx?$/.test(ruta)) continue
  const texto = readFileSync(ruta, 'utf8')
  const archivo = ts.createSourceFile(ruta, texto, ts.ScriptTarget.Latest, true)
  mirar(ruta, archivo, archivo)
  if (ruta.startsWith('server/') && /^(?:\S.*| {2,4}\w+:.*)new RegExp\(/m.test(texto)) await cargar(ruta)
}
mirarContrato(JSON.parse(readFileSync('server/generado/contrato/contrato.json', 'utf8')))
const buenos = juzgar(leerBuenos())
mkdirSync(dirname(MEMORIA), { recursive: true })
writeFileSync(MEMORIA, JSON.stringify(buenos))
console.log([...fallas, `${patrones.size} regular expressions, ${fallas.length} faults`].join('\n'))
// The imported modules may keep handles open, which would prevent an exit.
process.exit(fallas.length > 0 ? 1 : 0)
