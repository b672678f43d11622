// What people read of the repository: every link leads somewhere, and the operators' book has every variable.
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { pagesDigest } from '../../scripts/illustrate/pagesDigest.ts'
import { ConfigError, readConfig } from '../../server/platform/config/config.ts'

const raiz = join(import.meta.dirname, '../..')
const leer = (archivo: string) => readFileSync(join(raiz, archivo), 'utf8')

/** As GitHub makes them of headings. */
const anclas = (texto: string) =>
  [...texto.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, titulo = '']) =>
    titulo
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

const DE_OPERACION = globSync('docs/operacion/**/*.md', { cwd: raiz }).sort()
const DE_DESARROLLO = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  ...globSync('docs/{como,decisiones}/*.md', { cwd: raiz }).sort(),
]

describe.each(['README.md', 'sdk/README.md', ...DE_OPERACION, ...DE_DESARROLLO])('%s', (archivo) => {
  const texto = leer(archivo)
  it('links to what is there', () => {
    const enlaces = [...texto.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(([, uno, otro]) => uno ?? otro!)
    for (const enlace of enlaces.filter((uno) => !/^https?:/.test(uno))) {
      const [ruta = '', ancla] = enlace.split('#')
      const destino = ruta === '' ? archivo : join(dirname(archivo), ruta)
      expect(existsSync(join(raiz, destino)), enlace).toBe(true)
      if (ancla !== undefined) expect(anclas(leer(destino)), enlace).toContain(ancla)
    }
  })
})

/** Paths that a document names, without generated files and the files of the pages' invented examples. */
const rutasDe = (texto: string) =>
  [...texto.matchAll(/(?<![\w/.-])(?:server|openapi|sdk|scripts|test|bench|docs|prisma|despliegue)\/[\w./-]+\.\w+/g)]
    .map(([ruta]) => ruta)
    .filter((ruta) => !/generated|\/dist\/|sdk\/CHANGELOG|Resumen|resumen|pages\/help/.test(ruta))

describe('documents for developers', () => {
  it.each(DE_DESARROLLO)('%s names only files that exist', (archivo) => {
    expect(rutasDe(leer(archivo)).filter((ruta) => !existsSync(join(raiz, ruta)))).toEqual([])
  })
  it('name files at all', () => {
    expect(DE_DESARROLLO.length).toBeGreaterThan(25)
    expect(DE_DESARROLLO.flatMap((archivo) => rutasDe(leer(archivo))).length).toBeGreaterThan(150)
  })
  it('are short', () => {
    const lineas = (archivo: string) => leer(archivo).split('\n').length - 1
    expect(lineas('ARCHITECTURE.md')).toBeLessThanOrEqual(200)
    expect(leer('CONTRIBUTING.md').match(/\S+/g)!.length).toBeLessThanOrEqual(1_200)
    expect(statSync(join(raiz, 'docs/operacion/README.md')).size).toBeLessThanOrEqual(6 * 1024)
    expect(statSync(join(raiz, 'openapi/DECISIONES.md')).size).toBeLessThanOrEqual(40 * 1024)
    for (const archivo of globSync('docs/como/*.md', { cwd: raiz }))
      expect(lineas(archivo), archivo).toBeLessThanOrEqual(120)
  })
  it('has every decision in its index', () => {
    const indice = leer('docs/decisiones/README.md')
    const paginas = readdirSync(join(raiz, 'docs/decisiones')).filter((nombre) => /^\d{4}-/.test(nombre))
    expect(paginas.length).toBeGreaterThanOrEqual(12)
    for (const pagina of paginas) expect(indice).toContain(`](${pagina})`)
  })
})

describe('README.md', () => {
  it('says what it is, how it looks, two commands and the first guide before anything else', () => {
    const pantalla = leer('README.md').split('\n## ')[0]!
    for (const algo of ['npm start', 'npm test', 'docs/terminal.svg', 'docs/paginas.png', '/api/v1/guias'])
      expect(pantalla).toContain(algo)
    expect(pantalla.split('\n').length).toBeLessThan(35)
  })
  it('has a picture of the pages as they are: `npm run illustrate` makes it anew', async () => {
    const { exif } = await sharp(join(raiz, 'docs/paginas.png')).metadata()
    expect(exif?.toString('latin1')).toContain(pagesDigest())
  })
  it('has a terminal of eight lines that ends in the address of the first guide', () => {
    const lines = [...leer('docs/terminal.svg').matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, line]) => line!)
    expect(lines).toHaveLength(8)
    expect(lines.at(-1)).toMatch(/^"url_rastreo":"http:\/\/127\.0\.0\.1:3000\/r\/\w{12}"$/)
  })
  it('has pictures that weigh little and name no whole key', () => {
    const peso = ['terminal.svg', 'paginas.png'].map((una) => statSync(join(raiz, 'docs', una)).size)
    expect(peso[0]! + peso[1]!).toBeLessThan(150 * 1024)
    expect(leer('docs/terminal.svg')).not.toMatch(/guia_\w{4}_\w{20}/)
  })
})

it('address, key and secret have one name in every sample, tool and document', () => {
  const archivos = ['sdk/src', 'sdk/cli', 'sdk/ejemplos', 'openapi/comercios'].flatMap((carpeta) =>
    readdirSync(join(raiz, carpeta), { recursive: true, withFileTypes: true })
      .filter((uno) => uno.isFile())
      .map((uno) => join(uno.parentPath, uno.name).slice(raiz.length + 1)),
  )
  const generados = ['comercios.json', 'coleccion.json'].map((uno) => `server/generated/contract/${uno}`)
  const todos = ['README.md', 'sdk/README.md', 'server/startup/demo.ts', ...generados, ...archivos]
  const nombres = new Set(todos.flatMap((archivo) => leer(archivo).match(/\bGUIAS_[A-Z_]+/g) ?? []))
  expect([...nombres].sort()).toEqual(['GUIAS_AVISOS', 'GUIAS_LLAVE', 'GUIAS_SECRETO', 'GUIAS_URL'])
  const coleccion = JSON.parse(leer('server/generated/contract/coleccion.json'))
  const variables = coleccion.variable.map(({ key }: { key: string }) => key)
  expect(variables.slice(0, 2)).toEqual(['GUIAS_URL', 'GUIAS_LLAVE'])
})

it('docs/operacion/configuration.md has every variable that the service reads', () => {
  const leidas = new Set<string>()
  const dadas: Record<string, string> = { STORAGE: 's3', MESSAGING: 'whatsapp', DATABASE_URL: 'postgres://x/y' }
  const env = new Proxy(dadas, {
    get: (objeto, nombre: string) => {
      leidas.add(nombre)
      return objeto[nombre]
    },
  })
  expect(() => readConfig(env, raiz)).toThrow(ConfigError) // after it has read them all
  expect(leidas.size).toBeGreaterThan(25)
  const texto = leer('docs/operacion/configuration.md')
  expect([...leidas].filter((nombre) => !texto.includes(`\`${nombre}\``))).toEqual([])
})
