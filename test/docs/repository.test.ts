// What people read of the repository: every link leads somewhere, and the operators' book has every variable.
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { pagesDigest } from '../../scripts/illustrate/pagesDigest.ts'
import { ConfigError, readConfig } from '../../server/platform/config/config.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** As GitHub makes them of headings. */
const anchors = (text: string) =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

const DE_OPERACION = globSync('docs/operacion/**/*.md', { cwd: root }).sort()
const DEVELOPMENT_DOCS = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  ...globSync('docs/{como,decisiones}/*.md', { cwd: root }).sort(),
]

describe.each(['README.md', 'sdk/README.md', ...DE_OPERACION, ...DEVELOPMENT_DOCS])('%s', (file) => {
  const text = read(file)
  it('links to what is there', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(([, one, other]) => one ?? other!)
    for (const link of links.filter((one) => !/^https?:/.test(one))) {
      const [path = '', anchor] = link.split('#')
      const destino = path === '' ? file : join(dirname(file), path)
      expect(existsSync(join(root, destino)), link).toBe(true)
      if (anchor !== undefined) expect(anchors(read(destino)), link).toContain(anchor)
    }
  })
})

/** Paths that a document names, without generated files and the files of the pages' invented examples. */
const pathsOf = (text: string) =>
  [...text.matchAll(/(?<![\w/.-])(?:server|openapi|sdk|scripts|test|bench|docs|prisma|despliegue)\/[\w./-]+\.\w+/g)]
    .map(([path]) => path)
    .filter((path) => !/generated|\/dist\/|sdk\/CHANGELOG|Resumen|resumen|pages\/help/.test(path))

describe('documents for developers', () => {
  it.each(DEVELOPMENT_DOCS)('%s names only files that exist', (file) => {
    expect(pathsOf(read(file)).filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
  it('name files at all', () => {
    expect(DEVELOPMENT_DOCS.length).toBeGreaterThan(25)
    expect(DEVELOPMENT_DOCS.flatMap((file) => pathsOf(read(file))).length).toBeGreaterThan(150)
  })
  it('are short', () => {
    const lines = (file: string) => read(file).split('\n').length - 1
    expect(lines('ARCHITECTURE.md')).toBeLessThanOrEqual(200)
    expect(read('CONTRIBUTING.md').match(/\S+/g)!.length).toBeLessThanOrEqual(1_200)
    expect(statSync(join(root, 'docs/operacion/README.md')).size).toBeLessThanOrEqual(6 * 1024)
    expect(statSync(join(root, 'openapi/DECISIONES.md')).size).toBeLessThanOrEqual(40 * 1024)
    for (const file of globSync('docs/como/*.md', { cwd: root })) expect(lines(file), file).toBeLessThanOrEqual(120)
  })
  it('has every decision in its index', () => {
    const index = read('docs/decisiones/README.md')
    const pages = readdirSync(join(root, 'docs/decisiones')).filter((name) => /^\d{4}-/.test(name))
    expect(pages.length).toBeGreaterThanOrEqual(12)
    for (const page of pages) expect(index).toContain(`](${page})`)
  })
})

describe('README.md', () => {
  it('says what it is, how it looks, two commands and the first guide before anything else', () => {
    const firstScreen = read('README.md').split('\n## ')[0]!
    for (const sample of ['npm start', 'npm test', 'docs/terminal.svg', 'docs/paginas.png', '/api/v1/guias'])
      expect(firstScreen).toContain(sample)
    expect(firstScreen.split('\n').length).toBeLessThan(35)
  })
  it('has a picture of the pages as they are: `npm run illustrate` makes it anew', async () => {
    const { exif } = await sharp(join(root, 'docs/paginas.png')).metadata()
    expect(exif?.toString('latin1')).toContain(pagesDigest())
  })
  it('has a terminal of eight lines that ends in the address of the first guide', () => {
    const lines = [...read('docs/terminal.svg').matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, line]) => line!)
    expect(lines).toHaveLength(8)
    expect(lines.at(-1)).toMatch(/^"url_rastreo":"http:\/\/127\.0\.0\.1:3000\/r\/\w{12}"$/)
  })
  it('has pictures that weigh little and name no whole key', () => {
    const fileSizes = ['terminal.svg', 'paginas.png'].map((one) => statSync(join(root, 'docs', one)).size)
    expect(fileSizes[0]! + fileSizes[1]!).toBeLessThan(150 * 1024)
    expect(read('docs/terminal.svg')).not.toMatch(/guia_\w{4}_\w{20}/)
  })
})

it('address, key and secret have one name in every sample, tool and document', () => {
  const archivos = ['sdk/src', 'sdk/cli', 'sdk/ejemplos', 'openapi/comercios'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map((one) => join(one.parentPath, one.name).slice(root.length + 1)),
  )
  const generatedFiles = ['comercios.json', 'coleccion.json'].map((one) => `server/generated/contract/${one}`)
  const all = ['README.md', 'sdk/README.md', 'server/startup/demo.ts', ...generatedFiles, ...archivos]
  const names = new Set(all.flatMap((file) => read(file).match(/\bGUIAS_[A-Z_]+/g) ?? []))
  expect([...names].sort()).toEqual(['GUIAS_AVISOS', 'GUIAS_LLAVE', 'GUIAS_SECRETO', 'GUIAS_URL'])
  const postmanCollection = JSON.parse(read('server/generated/contract/coleccion.json'))
  const variables = postmanCollection.variable.map(({ key }: { key: string }) => key)
  expect(variables.slice(0, 2)).toEqual(['GUIAS_URL', 'GUIAS_LLAVE'])
})

it('docs/operacion/configuration.md has every variable that the service reads', () => {
  const readVariables = new Set<string>()
  const baseVariables: Record<string, string> = { STORAGE: 's3', MESSAGING: 'whatsapp', DATABASE_URL: 'postgres://x/y' }
  const env = new Proxy(baseVariables, {
    get: (objeto, name: string) => {
      readVariables.add(name)
      return objeto[name]
    },
  })
  expect(() => readConfig(env, root)).toThrow(ConfigError) // after it has read them all
  expect(readVariables.size).toBeGreaterThan(25)
  const text = read('docs/operacion/configuration.md')
  expect([...readVariables].filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
