import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as renderVocabulary from '../../server/generated/contract/vocabulary.ts'

const raiz = new URL('../../', import.meta.url)
const leer = (ruta: string) => readFileSync(new URL(ruta, raiz), 'utf8')

const TABLA = [...leer('docs/palabras.md').matchAll(/^\| (.+?) \| .+? \| (.*?) ?\|$/gm)].slice(1)
const vedadasDe = (filas: typeof TABLA) => filas.flatMap(([, , no = '']) => no.split(', ').filter(Boolean))
/** Also their plurals; a letter before or after makes another word of it, and an underscore behind it a variable. */
const buscan = (palabras: string[]) => new RegExp(`(?<!\\p{L})(?:${palabras.join('|')})(?:s|es)?(?![\\p{L}_])`, 'giu')
const VEDADAS = vedadasDe(TABLA)
const VEDADA = buscan(VEDADAS)

/** The rows that hold for whoever programs, too. */
const DE_LA_API = ['repartidor', 'paquete', 'prueba de entrega']
const VEDADA_EN_LA_API = buscan(vedadasDe(TABLA.filter(([, si = '']) => DE_LA_API.includes(si))))
/** What merchants and operators read of the API. */
const deLaApi = execFileSync('git', ['ls-files', 'openapi', 'sdk/README.md', 'sdk/src', 'server/domain/guias'], {
  cwd: raiz,
  encoding: 'utf8',
})
  .split('\n')
  // The list of common answers is for developers; its descriptions come from the yaml files.
  .filter((ruta) => /\.(?:yaml|md|ts)$/.test(ruta) && ruta !== 'openapi/componentes/comunes.ts')

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
  readdirSync(new URL(`server/${sala}/`, raiz), { recursive: true, encoding: 'utf8' })
    .filter((una) => /\.tsx?$/.test(una) && !una.startsWith('docs/'))
    .map((una) => `server/${sala}/${una}`),
)

/** What of a program's texts may be read by somebody: of HTML what stands between its tags and in what is read out. */
function textosDe(ruta: string): string[] {
  const textos: string[] = []
  const visitar = (nodo: ts.Node): void => {
    if (
      ts.isImportDeclaration(nodo) ||
      (ts.isCallExpression(nodo) && /statement|consultar/i.test(nodo.expression.getText()))
    )
      return
    if (ts.isStringLiteralLike(nodo) || ts.isTemplateHead(nodo) || ts.isTemplateMiddleOrTemplateTail(nodo))
      textos.push(nodo.text)
    if (ts.isJsxText(nodo)) textos.push(nodo.text)
    ts.forEachChild(nodo, visitar)
  }
  visitar(ts.createSourceFile(ruta, leer(ruta), ts.ScriptTarget.Latest, true))
  return (
    textos
      .flatMap((texto) =>
        [...texto.matchAll(/(?:aria-label|placeholder|title|content)="([^"]*)/g)]
          .map(([, uno]) => uno!)
          .concat(texto.replace(/<[^>]*>|<[^>]*$|^[^<]*>/g, ' ')),
      )
      // A word alone in small letters is the program's.
      .filter((texto) => /\s|[A-ZÁÉÍÓÚÑ¿¡]/.test(texto.trim()))
  )
}

describe('the wording for people', () => {
  it('has a table of words', () => {
    expect(TABLA.length).toBeGreaterThanOrEqual(12)
    expect(VEDADAS).toEqual(expect.arrayContaining(['mensajero', 'link', 'celular', 'tu']))
    expect('Su mensajero le manda un link'.match(VEDADA)).toEqual(['mensajero', 'link'])
    expect('La tubería y el enlace'.match(VEDADA)).toBeNull()
  })

  it.each(archivos)('%s has no word for which there is another', (ruta) => {
    expect(
      textosDe(ruta).flatMap((texto) =>
        (texto.match(VEDADA) ?? []).map((una) => `${una}: ${texto.trim().slice(0, 120)}`),
      ),
    ).toEqual([])
  })

  it('the contract’s vocabulary has none, either', () => {
    const dichas = Object.entries(renderVocabulary)
      .filter(([nombre]) => nombre.startsWith('DESCRIPCIONES_'))
      .flatMap(([, tabla]) => Object.values(tabla as object))
    expect(dichas.length).toBeGreaterThan(30)
    expect(dichas.filter((una) => String(una).match(VEDADA))).toEqual([])
  })

  it('has rows that hold for the API, too', () => {
    const dichas = 'Ni mensajeros ni bultos; mensajería, COURIER_REACH'.match(VEDADA_EN_LA_API)
    expect(dichas).toEqual(['mensajeros', 'bultos'])
    expect(deLaApi.length).toBeGreaterThan(140)
  })

  it.each(deLaApi)('%s has none of their words', (ruta) => {
    expect(
      leer(ruta)
        .split('\n')
        .filter((linea) => linea.match(VEDADA_EN_LA_API)),
    ).toEqual([])
  })

  it('tells times with 24 hours', () => {
    const conReloj = archivos.filter((ruta) => /hour12: true|hourCycle: 'h12'|\b[ap]\. ?m\./.test(leer(ruta)))
    expect(conReloj).toEqual([])
  })
})
