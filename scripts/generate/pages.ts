// Generates the files of the web pages: programs for browsers, style sheets, icons.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import { assetPath } from '../../server/pages/assets.ts'
import { DEFAULT_COLOR } from '../../server/platform/brand/color.ts'
import { paintIcons } from '../../server/platform/brand/icon.ts'
import { compressFiles } from './compress.ts'
import { generateIcons } from './icons.ts'
import { bundleStyles, minifyStyles, variableNames } from './styles.ts'

const root = new URL('../../', import.meta.url)
const origin = new URL('server/pages/', root)

/** Empty image that Leaflet assigns to unused `img` elements. The Content Security Policy of the pages forbids it. */
const EMPTY_IMAGE = 'data:image/gif;base64,R0lGODlhAQABAAD/ACwAAAAAAQABAAACADs='

/** Bundles each module for browsers into a file of its own. */
const bundleModules = (
  entry: Record<string, string>,
  outputUrl: URL,
  format: 'esm' | 'iife',
  extraOptions: object = {},
) =>
  build({
    config: false,
    entry: Object.fromEntries(
      Object.entries(entry).map(([name, path]) => [name, fileURLToPath(new URL(path, origin))]),
    ),
    outDir: fileURLToPath(outputUrl),
    format,
    // Annotations for bundlers make up 5 % of the courier's program, and browsers ignore them.
    outputOptions: { entryFileNames: '[name].js', chunkFileNames: '[name].js', comments: { annotation: false } },
    platform: 'browser',
    target: 'es2020',
    minify: true,
    dts: false,
    clean: false,
    logLevel: 'silent',
    deps: { alwaysBundle: [/.*/], onlyBundle: false },
    ...extraOptions,
  })

/** Writes a page's style sheet, with the components that it imports. */
const writeStyle = (page: string, outputUrl: URL) =>
  writeFile(new URL('estilo.css', outputUrl), bundleStyles(new URL(`${page}/style.css`, origin)))

/**
 * Writes the files of the recipient's page. Bundles Leaflet from its ES module, so that unused parts are left out.
 * Removes the rules for images from its style sheet, because the service does not serve these images.
 */
async function generateUbicacion(outputUrl: URL) {
  const leaflet = new URL('node_modules/leaflet/dist/', root)
  await bundleModules({ navegador: 'location/browser/main.ts', mapa: 'location/browser/map.ts' }, outputUrl, 'esm', {
    alias: { leaflet: fileURLToPath(new URL('leaflet-src.esm.js', leaflet)) },
    plugins: [
      {
        name: 'sin-imagen-vacia',
        transform(code: string, id: string) {
          if (!id.includes('leaflet-src')) return undefined
          if (!code.includes(EMPTY_IMAGE))
            throw new Error('Leaflet no longer contains the empty image that this plugin removes')
          return { code: code.replace(EMPTY_IMAGE, ''), map: null }
        },
      },
    ],
  })
  const leafletCss = await readFile(new URL('leaflet.css', leaflet), 'utf8')
  const withoutImages = leafletCss.replace(/\/\*[\s\S]*?\*\//g, '').replace(/[^{}]*\{[^{}]*url\([^{}]*\}/g, '')
  const ownRules = await readFile(new URL('server/pages/location/openMap.css', root), 'utf8')
  await writeFile(new URL('mapa.css', outputUrl), minifyStyles(withoutImages + ownRules))
  // The story of a parcel has a style sheet of its own, because the form comes first and must be light.
  const pageSheet = new URL('location/style.css', origin)
  const storyStyle = bundleStyles(new URL('location/afterwards.css', origin), variableNames(bundleStyles(pageSheet)))
  await writeFile(new URL('relato.css', outputUrl), storyStyle)
  await writeFile(new URL('estilo.css', outputUrl), bundleStyles(pageSheet, variableNames(storyStyle)))
  await compressFiles(outputUrl, ['navegador.js', 'mapa.js', 'estilo.css', 'mapa.css', 'relato.css'])
}

/**
 * Methods of signature_pad that read and write a signature as text. The page keeps strokes and encodes its own canvas,
 * so the plugin `sin-exportar` removes these methods: 2 % of the courier's program.
 */
const EXPORT_METHODS = ['fromDataURL', 'toDataURL', 'toSVG'].map(
  (method) => new RegExp(`\\n {2}${method}\\([\\s\\S]*?\\n {2}\\}(?=\\n)`),
)

/**
 * Writes the files of the courier's page. The service worker is a classic script, because some browsers support no
 * module there.
 */
async function generateRepartidor(outputUrl: URL) {
  const jsx = { inputOptions: { transform: { jsx: { runtime: 'automatic', importSource: 'preact' } } } }
  await bundleModules({ navegador: 'courier/browser/main.tsx' }, outputUrl, 'esm', {
    ...jsx,
    plugins: [
      {
        name: 'sin-exportar',
        transform(code: string, id: string) {
          if (!id.includes('signature_pad')) return undefined
          if (!EXPORT_METHODS.every((method) => method.test(code)))
            throw new Error('signature_pad no longer contains the methods that this plugin removes')
          return {
            code: EXPORT_METHODS.reduce((remaining, method) => remaining.replace(method, ''), code),
            map: null,
          }
        },
      },
    ],
  })
  await bundleModules({ lector: 'courier/browser/scanner.ts' }, outputUrl, 'esm')
  await bundleModules({ servicio: 'courier/browser/serviceWorker.ts' }, outputUrl, 'iife')
  await copyFile(
    new URL('node_modules/zxing-wasm/dist/reader/zxing_reader.wasm', root),
    new URL('lector.wasm', outputUrl),
  )
  const icons = await paintIcons(DEFAULT_COLOR)
  await Promise.all([...icons].map(([name, png]) => writeFile(new URL(name, outputUrl), png)))
  await compressFiles(outputUrl, ['navegador.js', 'others.js', 'lector.js', 'lector.wasm', 'estilo.css'])
}

/**
 * Writes the reading view: the HTML that Redoc rendered, with our style sheet and the addresses of the programs to
 * load. The HTML contains these addresses because they change with the files' contents. Also writes style and program
 * of the chapters' pages.
 */
async function generateReadingView(destino: URL) {
  const outputUrl = new URL('docs/', destino)
  const documentationUrl = new URL('../documentation/', destino)
  for (const [name, entry] of Object.entries({
    navegador: 'main',
    buscador: 'searchBox',
    chapter: 'chapter',
    redirect: 'redirect',
  }))
    await bundleModules({ [name]: `docs/browser/${entry}.ts` }, outputUrl, name === 'redirect' ? 'iife' : 'esm')
  const path = async (file: URL) => assetPath('docs/recursos/', file.pathname.split('/').at(-1)!, await readFile(file))
  const [program, redocPath, contractPath, searchPath, indexPath] = await Promise.all(
    [
      new URL('navegador.js', outputUrl),
      new URL('redoc.js', documentationUrl),
      new URL('contrato.json', documentationUrl),
      new URL('buscador.js', outputUrl),
      new URL('indice.json', documentationUrl),
    ].map(path),
  )
  const script = `<script id="programa" type="module" src="${program}" data-redoc="${redocPath}" data-contrato="${contractPath}"></script>`
  const [base = '', redoc = '', redirect = ''] = await Promise.all(
    [
      new URL('base.html', documentationUrl),
      new URL('redoc.js', documentationUrl),
      new URL('redirect.js', outputUrl),
    ].map((file) => readFile(file, 'utf8')),
  )
  // Redoc's own rules use the variables that this style sheet sets, so none of them counts as unused.
  const redocVariables = variableNames(base + redoc)
  const style = bundleStyles(new URL('docs/reading.css', origin), redocVariables)
  const html = base
    .replace('/*DESVIO*/', () => redirect.trim())
    .replace('/*ESTILO*/', () => style)
    .replace('{buscador}', () => searchPath!)
    .replace('{indice}', () => indexPath!)
    .replace('</body>', () => `${script}\n</body>`)
  await writeFile(new URL('documentacion.html', outputUrl), html)
  await writeFile(new URL('chapter.css', outputUrl), bundleStyles(new URL('docs/chapter.css', origin)))
  await compressFiles(outputUrl, ['documentacion.html', 'navegador.js', 'buscador.js', 'chapter.js'])
}

/** Pages with the common layout, each with the function that writes its files besides the style sheet. */
const PAGE_GENERATORS: Readonly<Record<string, (outputUrl: URL) => Promise<unknown>>> = {
  home: (outputUrl) => bundleModules({ navegador: 'home/browser/main.ts' }, outputUrl, 'esm'),
  tracking: (outputUrl) => bundleModules({ navegador: 'tracking/browser/main.ts' }, outputUrl, 'esm'),
  mailbox: async () => {},
  decide: (outputUrl) => bundleModules({ navegador: 'decide/browser/main.ts' }, outputUrl, 'esm'),
  signIn: (outputUrl) => bundleModules({ navegador: 'signIn/browser/main.ts' }, outputUrl, 'esm'),
  central: (outputUrl) => bundleModules({ navegador: 'central/browser/main.ts' }, outputUrl, 'esm'),
  ui: async () => {},
  console: async (outputUrl) => {
    await bundleModules({ navegador: 'console/browser/main.ts' }, outputUrl, 'esm')
    await compressFiles(outputUrl, ['navegador.js', 'estilo.css'])
  },
  verify: (outputUrl) => bundleModules({ navegador: 'verify/browser/main.ts' }, outputUrl, 'esm'),
  location: generateUbicacion,
  courier: generateRepartidor,
}

/** Writes the files of each page into a folder of its own below `destino`. */
export async function generatePages(destino: URL) {
  await rm(destino, { recursive: true, force: true })
  await generateIcons()
  for (const [page, generate] of Object.entries(PAGE_GENERATORS)) {
    const outputUrl = new URL(`${page}/`, destino)
    await mkdir(outputUrl, { recursive: true })
    await writeStyle(page, outputUrl)
    await generate(outputUrl)
  }
  await generateReadingView(destino)
}
