/**
 * The rules of the house that no linter knows: what the server never does, that no request's words get into SQL, and that
 * regular expressions take no more time than their text is long (as recheck proves or, where it can't, tries).
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkSync } from 'recheck'
import ts from 'typescript'

/** Where what strangers send doesn't come: these may take the square of their text's length. */
const DE_CASA: readonly string[] = [
  // Its own configuration, and its own page, once at start.
  'server/config/lectores.ts',
  'server/mensajeria/whatsapp.ts',
  'server/paginas/docs/ruta.ts',
  // What a merchant tells his own client.
  'sdk/src/guias.ts',
  'sdk/src/reintentos.ts',
  // Base64 that it has just written itself.
  'sdk/src/verificarPrueba.ts',
]

/** Modules whose name may not be imported but there. */
const MODULOS: Record<string, RegExp> = {
  'node:child_process': /^(?:server\/postgresEmbebido|sdk\/cli)\//,
  'node:vm': /^$/,
}
/** The doors to the database, where a statement is what somebody else made. */
const PUERTAS =
  /^server\/(?:conexiones|db|arranque\/levantarWorkers|arranque\/migraciones|data\/citus\/(?:cluster|laying)|postgresEmbebido\/papel)\.ts$/
/** Where a statement's text depends on which filters are asked for, and on nothing that they say. */
const LISTAS = /^server\/(?:guias\/guia|webhooks\/listarEntregas)\.ts$/

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
/** Whether a statement says the same whoever asks. */
const esFijo = (nodo: ts.Expression): boolean =>
  ts.isStringLiteralLike(nodo) ||
  esConstante(nodo) ||
  (ts.isTemplateExpression(nodo) && nodo.templateSpans.every(({ expression }) => esConstante(expression))) ||
  (ts.isObjectLiteralExpression(nodo) &&
    nodo.properties.some(
      (una) => ts.isPropertyAssignment(una) && una.name.getText() === 'text' && esFijo(una.initializer),
    ))

/** Why a node breaks a rule of the house; undefined: it breaks none. */
function falta(ruta: string, nodo: ts.Node): string | undefined {
  if (ts.isImportDeclaration(nodo)) {
    const { text } = nodo.moduleSpecifier as ts.StringLiteral
    if (MODULOS[text] && !MODULOS[text].test(ruta)) return `${text} isn't for this place`
  }
  if (ts.isIdentifier(nodo) && /^(?:eval|Function|\$(?:query|execute)RawUnsafe|insertAdjacentHTML)$/.test(nodo.text))
    return `${nodo.text} makes code, SQL or HTML of text`
  if (
    ts.isBinaryExpression(nodo) &&
    /=$/.test(nodo.operatorToken.getText()) &&
    /\.(?:inner|outer)HTML$/.test(nodo.left.getText())
  )
    if (/^[+|&?]*=$/.test(nodo.operatorToken.getText())) return 'text becomes HTML'
  if (!ts.isCallExpression(nodo)) return undefined
  const { expression: funcion, arguments: dados } = nodo
  const nombre = ts.isPropertyAccessExpression(funcion) ? funcion.name.text : funcion.getText()
  if (nombre === 'sentencia' && enFuncion(nodo)) return 'a statement is made while the process starts'
  if (nombre === 'sentenciaDe' && !LISTAS.test(ruta)) return 'the text of a statement depends on what is asked'
  const esDePagina = ruta.startsWith('server/paginas/')
  if (nombre === 'query' && !esDePagina && !PUERTAS.test(ruta) && dados[0] && !esFijo(dados[0]))
    return 'SQL of changing text'
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
  // What is put into one while it runs counts as a letter.
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

/** Those that a module composes while it is loaded. */
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

/** What has been found good once isn't looked at again: it takes a quarter of a minute. */
const MEMORIA = 'node_modules/.cache/guias/patrones.json'
function leerBuenos(): Set<string> {
  try {
    return new Set(JSON.parse(readFileSync(MEMORIA, 'utf8')))
  } catch {
    return new Set()
  }
}

/** Those that take no more time than their text is long. */
function juzgar(buenos: ReadonlySet<string>): string[] {
  return [...patrones].flatMap(([clave, { source, flags, donde }]) => {
    if (buenos.has(clave)) return clave
    // Far more than any takes: a slow machine waits, it doesn't fail.
    const hallado = checkSync(source, flags, { timeout: 240_000 })
    if (hallado.status === 'safe') return clave
    const { type, summary } =
      hallado.status === 'vulnerable' ? hallado.complexity : { type: undefined, summary: 'nothing could be proven' }
    const malos = donde.filter((lugar) => type !== 'polynomial' || !DE_CASA.some((ruta) => lugar.startsWith(ruta)))
    fallas.push(...malos.map((lugar) => `${lugar} ${clave}: ${summary}`))
    return []
  })
}

for (const ruta of execFileSync('git', ['ls-files', 'server', 'sdk/src', 'sdk/cli'], { encoding: 'utf8' }).split(
  '\n',
)) {
  if (!/\.tsx?$/.test(ruta)) continue
  const texto = readFileSync(ruta, 'utf8')
  const archivo = ts.createSourceFile(ruta, texto, ts.ScriptTarget.Latest, true)
  mirar(ruta, archivo, archivo)
  if (ruta.startsWith('server/') && /^(?:\S.*| {2,4}\w+:.*)new RegExp\(/m.test(texto)) await cargar(ruta)
}
mirarContrato(JSON.parse(readFileSync('server/contrato/generado/contrato.json', 'utf8')))
const buenos = juzgar(leerBuenos())
mkdirSync(dirname(MEMORIA), { recursive: true })
writeFileSync(MEMORIA, JSON.stringify(buenos))
console.log([...fallas, `${patrones.size} regular expressions, ${fallas.length} faults`].join('\n'))
// The modules that were loaded may keep something open.
process.exit(fallas.length > 0 ? 1 : 0)
