import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as renderVocabulary from '../../server/generated/contract/vocabulary.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const TABLA = [...read('docs/palabras.md').matchAll(/^\| (.+?) \| .+? \| (.*?) ?\|$/gm)].slice(1)
const vedadasDe = (rows: typeof TABLA) => rows.flatMap(([, , no = '']) => no.split(', ').filter(Boolean))
/** Also their plurals; a letter before or after makes another word of it, and an underscore behind it a variable. */
const buscan = (palabras: string[]) => new RegExp(`(?<!\\p{L})(?:${palabras.join('|')})(?:s|es)?(?![\\p{L}_])`, 'giu')
const VEDADAS = vedadasDe(TABLA)
const VEDADA = buscan(VEDADAS)

/** The rows that hold for whoever programs, too. */
const DE_LA_API = ['repartidor', 'paquete', 'prueba de entrega']
const VEDADA_EN_LA_API = buscan(vedadasDe(TABLA.filter(([, si = '']) => DE_LA_API.includes(si))))
/** What merchants and operators read of the API. */
const deLaApi = execFileSync('git', ['ls-files', 'openapi', 'sdk/README.md', 'sdk/src', 'server/domain/guias'], {
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
const archivos = SALAS.flatMap((sala) =>
  readdirSync(new URL(`server/${sala}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((one) => /\.tsx?$/.test(one) && !one.startsWith('docs/'))
    .map((one) => `server/${sala}/${one}`),
)

/** What of a program's texts may be read by somebody: of HTML what stands between its tags and in what is read out. */
function textosDe(path: string): string[] {
  const texts: string[] = []
  const visitar = (node: ts.Node): void => {
    if (
      ts.isImportDeclaration(node) ||
      (ts.isCallExpression(node) && /statement|consultar/i.test(node.expression.getText()))
    )
      return
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      texts.push(node.text)
    if (ts.isJsxText(node)) texts.push(node.text)
    ts.forEachChild(node, visitar)
  }
  visitar(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true))
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
    expect(TABLA.length).toBeGreaterThanOrEqual(12)
    expect(VEDADAS).toEqual(expect.arrayContaining(['mensajero', 'link', 'celular', 'tu']))
    expect('Su mensajero le manda un link'.match(VEDADA)).toEqual(['mensajero', 'link'])
    expect('La tubería y el enlace'.match(VEDADA)).toBeNull()
  })

  it.each(archivos)('%s has no word for which there is another', (path) => {
    expect(
      textosDe(path).flatMap((text) => (text.match(VEDADA) ?? []).map((one) => `${one}: ${text.trim().slice(0, 120)}`)),
    ).toEqual([])
  })

  it('the contract’s vocabulary has none, either', () => {
    const dichas = Object.entries(renderVocabulary)
      .filter(([name]) => name.startsWith('DESCRIPCIONES_'))
      .flatMap(([, table]) => Object.values(table as object))
    expect(dichas.length).toBeGreaterThan(30)
    expect(dichas.filter((one) => String(one).match(VEDADA))).toEqual([])
  })

  it('has rows that hold for the API, too', () => {
    const dichas = 'Ni mensajeros ni bultos; mensajería, COURIER_REACH'.match(VEDADA_EN_LA_API)
    expect(dichas).toEqual(['mensajeros', 'bultos'])
    expect(deLaApi.length).toBeGreaterThan(140)
  })

  it.each(deLaApi)('%s has none of their words', (path) => {
    expect(
      read(path)
        .split('\n')
        .filter((line) => line.match(VEDADA_EN_LA_API)),
    ).toEqual([])
  })

  it('tells times with 24 hours', () => {
    const conReloj = archivos.filter((path) => /hour12: true|hourCycle: 'h12'|\b[ap]\. ?m\./.test(read(path)))
    expect(conReloj).toEqual([])
  })
})
