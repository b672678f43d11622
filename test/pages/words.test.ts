import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as renderVocabulary from '../../server/generated/contract/vocabulary.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const TABLE = [...read('docs/palabras.md').matchAll(/^\| (.+?) \| .+? \| (.*?) ?\|$/gm)].slice(1)
const forbiddenWordsOf = (rows: typeof TABLE) => rows.flatMap(([, , no = '']) => no.split(', ').filter(Boolean))
/** Also their plurals; a letter before or after makes another word of it, and an underscore behind it a variable. */
const patternOfWords = (words: string[]) => new RegExp(`(?<!\\p{L})(?:${words.join('|')})(?:s|es)?(?![\\p{L}_])`, 'giu')
const FORBIDDEN_WORDS = forbiddenWordsOf(TABLE)
const FORBIDDEN_WORD = patternOfWords(FORBIDDEN_WORDS)

/** The rows that hold for whoever programs, too. */
const WORDS_OF_API = ['repartidor', 'paquete', 'prueba de entrega']
const FORBIDDEN_API_WORD = patternOfWords(forbiddenWordsOf(TABLE.filter(([, si = '']) => WORDS_OF_API.includes(si))))
/** What merchants and operators read of the API. */
const filesOfApi = execFileSync('git', ['ls-files', 'openapi', 'sdk/README.md', 'sdk/src', 'server/domain/guias'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  // The list of common answers is for developers; its descriptions come from the yaml files.
  .filter((path) => /\.(?:yaml|md|ts)$/.test(path) && path !== 'openapi/componentes/comunes.ts')

const SALAS = [
  'pages',
  'domain/mensajeria',
  'domain/etiquetas',
  'domain/pruebasEntrega',
  'domain/catalogo',
  'domain/estados',
  'platform/time',
]
const archivos = SALAS.flatMap((serverFolder) =>
  readdirSync(new URL(`server/${serverFolder}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((one) => /\.tsx?$/.test(one) && !one.startsWith('docs/'))
    .map((one) => `server/${serverFolder}/${one}`),
)

/** What of a program's texts may be read by somebody: of HTML what stands between its tags and in what is read out. */
function textsOf(path: string): string[] {
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (
      ts.isImportDeclaration(node) ||
      (ts.isCallExpression(node) && /statement|consultar/i.test(node.expression.getText()))
    )
      return
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      texts.push(node.text)
    if (ts.isJsxText(node)) texts.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true))
  return (
    texts
      .flatMap((text) =>
        [...text.matchAll(/(?:aria-label|placeholder|title|content)="([^"]*)/g)]
          .map(([, one]) => one!)
          .concat(text.replace(/<[^>]*>|<[^>]*$|^[^<]*>/g, ' ')),
      )
      // A word alone in small letters is the program's.
      .filter((text) => /\s|[A-ZÁÉÍÓÚÑ¿¡]/.test(text.trim()))
  )
}

describe('the wording for people', () => {
  it('has a table of words', () => {
    expect(TABLE.length).toBeGreaterThanOrEqual(12)
    expect(FORBIDDEN_WORDS).toEqual(expect.arrayContaining(['mensajero', 'link', 'celular', 'tu']))
    expect('Su mensajero le manda un link'.match(FORBIDDEN_WORD)).toEqual(['mensajero', 'link'])
    expect('La tubería y el enlace'.match(FORBIDDEN_WORD)).toBeNull()
  })

  it.each(archivos)('%s has no word for which there is another', (path) => {
    expect(
      textsOf(path).flatMap((text) =>
        (text.match(FORBIDDEN_WORD) ?? []).map((one) => `${one}: ${text.trim().slice(0, 120)}`),
      ),
    ).toEqual([])
  })

  it('the contract’s vocabulary has none, either', () => {
    const listedFaults = Object.entries(renderVocabulary)
      .filter(([name]) => name.startsWith('DESCRIPCIONES_'))
      .flatMap(([, table]) => Object.values(table as object))
    expect(listedFaults.length).toBeGreaterThan(30)
    expect(listedFaults.filter((one) => String(one).match(FORBIDDEN_WORD))).toEqual([])
  })

  it('has rows that hold for the API, too', () => {
    const listedFaults = 'Ni mensajeros ni bultos; mensajería, COURIER_REACH'.match(FORBIDDEN_API_WORD)
    expect(listedFaults).toEqual(['mensajeros', 'bultos'])
    expect(filesOfApi.length).toBeGreaterThan(140)
  })

  it.each(filesOfApi)('%s has none of their words', (path) => {
    expect(
      read(path)
        .split('\n')
        .filter((line) => line.match(FORBIDDEN_API_WORD)),
    ).toEqual([])
  })

  it('tells times with 24 hours', () => {
    const withClock = archivos.filter((path) => /hour12: true|hourCycle: 'h12'|\b[ap]\. ?m\./.test(read(path)))
    expect(withClock).toEqual([])
  })
})
