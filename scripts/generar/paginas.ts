// Generates the files of the web pages: programs for browsers, style sheets, icons.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'tsdown'
import { assetPath } from '../../server/pages/assets.ts'
import { DEFAULT_COLOR } from '../../server/platform/brand/color.ts'
import { paintIcons } from '../../server/platform/brand/icon.ts'
import { comprimir } from './comprimir.ts'
import { abreviar, nombresDeVariables, unirEstilos } from './estilos.ts'
import { generarIconos } from './iconos.ts'

const raiz = new URL('../../', import.meta.url)
const origen = new URL('server/pages/', raiz)

/** Empty image that Leaflet assigns to unused `img` elements. The Content Security Policy of the pages forbids it. */
const IMAGEN_VACIA = 'data:image/gif;base64,R0lGODlhAQABAAD/ACwAAAAAAQABAAACADs='

/** Bundles each module for browsers into a file of its own. */
const empaquetar = (entry: Record<string, string>, salida: URL, format: 'esm' | 'iife', partes: object = {}) =>
  build({
    config: false,
    entry: Object.fromEntries(
      Object.entries(entry).map(([nombre, ruta]) => [nombre, fileURLToPath(new URL(ruta, origen))]),
    ),
    outDir: fileURLToPath(salida),
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
    ...partes,
  })

/** Writes a page's style sheet, with the components that it imports. */
const escribirEstilo = (pagina: string, salida: URL) =>
  writeFile(new URL('estilo.css', salida), unirEstilos(new URL(`${pagina}/style.css`, origen)))

/**
 * Writes the files of the recipient's page. Bundles Leaflet from its ES module, so that unused parts are left out.
 * Removes the rules for images from its style sheet, because the service does not serve these images.
 */
async function generarUbicacion(salida: URL) {
  const leaflet = new URL('node_modules/leaflet/dist/', raiz)
  await empaquetar({ navegador: 'ubicacion/browser/main.ts', mapa: 'ubicacion/browser/mapa.ts' }, salida, 'esm', {
    alias: { leaflet: fileURLToPath(new URL('leaflet-src.esm.js', leaflet)) },
    plugins: [
      {
        name: 'sin-imagen-vacia',
        transform(codigo: string, id: string) {
          if (!id.includes('leaflet-src')) return undefined
          if (!codigo.includes(IMAGEN_VACIA))
            throw new Error('Leaflet no longer contains the empty image that this plugin removes')
          return { code: codigo.replace(IMAGEN_VACIA, ''), map: null }
        },
      },
    ],
  })
  const deLeaflet = await readFile(new URL('leaflet.css', leaflet), 'utf8')
  const sinImagenes = deLeaflet.replace(/\/\*[\s\S]*?\*\//g, '').replace(/[^{}]*\{[^{}]*url\([^{}]*\}/g, '')
  await writeFile(new URL('mapa.css', salida), abreviar(sinImagenes))
  await comprimir(salida, ['navegador.js', 'mapa.js', 'estilo.css', 'mapa.css'])
}

/**
 * Methods of signature_pad that read and write a signature as text. The page keeps strokes and encodes its own canvas,
 * so the plugin `sin-exportar` removes these methods: 2 % of the courier's program.
 */
const EXPORTAN = ['fromDataURL', 'toDataURL', 'toSVG'].map(
  (metodo) => new RegExp(`\\n {2}${metodo}\\([\\s\\S]*?\\n {2}\\}(?=\\n)`),
)

/**
 * Writes the files of the courier's page. The service worker is a classic script, because some browsers support no
 * module there.
 */
async function generarRepartidor(salida: URL) {
  const jsx = { inputOptions: { transform: { jsx: { runtime: 'automatic', importSource: 'preact' } } } }
  await empaquetar({ navegador: 'repartidor/browser/main.tsx' }, salida, 'esm', {
    ...jsx,
    plugins: [
      {
        name: 'sin-exportar',
        transform(codigo: string, id: string) {
          if (!id.includes('signature_pad')) return undefined
          if (!EXPORTAN.every((metodo) => metodo.test(codigo)))
            throw new Error('signature_pad no longer contains the methods that this plugin removes')
          return { code: EXPORTAN.reduce((sin, metodo) => sin.replace(metodo, ''), codigo), map: null }
        },
      },
    ],
  })
  await empaquetar({ lector: 'repartidor/browser/lector.ts' }, salida, 'esm')
  await empaquetar({ servicio: 'repartidor/browser/servicio.ts' }, salida, 'iife')
  await copyFile(new URL('node_modules/zxing-wasm/dist/reader/zxing_reader.wasm', raiz), new URL('lector.wasm', salida))
  const iconos = await paintIcons(DEFAULT_COLOR)
  await Promise.all([...iconos].map(([nombre, png]) => writeFile(new URL(nombre, salida), png)))
  await comprimir(salida, ['navegador.js', 'otras.js', 'lector.js', 'lector.wasm', 'estilo.css'])
}

/**
 * Writes the reading view: the HTML that Redoc rendered, with our style sheet and the addresses of the programs to
 * load. The HTML contains these addresses because they change with the files' contents.
 */
async function generarLectura(destino: URL) {
  const salida = new URL('docs/', destino)
  const hecha = new URL('../documentacion/', destino)
  await empaquetar({ navegador: 'docs/browser/main.ts', buscador: 'docs/browser/buscador.ts' }, salida, 'esm')
  const ruta = async (archivo: URL) =>
    assetPath('docs/recursos/', archivo.pathname.split('/').at(-1)!, await readFile(archivo))
  const datos = {
    src: new URL('navegador.js', salida),
    'data-buscador': new URL('buscador.js', salida),
    'data-redoc': new URL('redoc.js', hecha),
    'data-contrato': new URL('contrato.json', hecha),
    'data-indice': new URL('indice.json', hecha),
  }
  const atributos = await Promise.all(
    Object.entries(datos).map(async ([nombre, archivo]) => `${nombre}="${await ruta(archivo)}"`),
  )
  const guion = `<script id="programa" type="module" ${atributos.join(' ')}></script>`
  const [base = '', redoc = ''] = await Promise.all(
    ['base.html', 'redoc.js'].map((archivo) => readFile(new URL(archivo, hecha), 'utf8')),
  )
  // Redoc's own rules use the variables that this style sheet sets, so none of them counts as unused.
  const suyas = nombresDeVariables(base + redoc)
  const estilo = unirEstilos(new URL('docs/lectura.css', origen), suyas)
  const html = base.replace('/*ESTILO*/', () => estilo).replace('</body>', () => `${guion}\n</body>`)
  await writeFile(new URL('documentacion.html', salida), html)
  await comprimir(salida, ['documentacion.html', 'navegador.js', 'buscador.js'])
}

/** Pages with the common layout, each with the function that writes its files besides the style sheet. */
const PAGINAS: Readonly<Record<string, (salida: URL) => Promise<unknown>>> = {
  inicio: (salida) => empaquetar({ navegador: 'inicio/browser/main.ts' }, salida, 'esm'),
  rastreo: (salida) => empaquetar({ navegador: 'rastreo/browser/main.ts' }, salida, 'esm'),
  buzon: async () => {},
  decidir: (salida) => empaquetar({ navegador: 'decidir/browser/main.ts' }, salida, 'esm'),
  entrar: (salida) => empaquetar({ navegador: 'entrar/browser/main.ts' }, salida, 'esm'),
  central: (salida) => empaquetar({ navegador: 'central/browser/main.ts' }, salida, 'esm'),
  ui: async () => {},
  consola: async (salida) => {
    await empaquetar({ navegador: 'consola/browser/main.ts' }, salida, 'esm')
    await comprimir(salida, ['navegador.js', 'estilo.css'])
  },
  verificar: (salida) => empaquetar({ navegador: 'verificar/browser/main.ts' }, salida, 'esm'),
  ubicacion: generarUbicacion,
  repartidor: generarRepartidor,
}

/** Writes the files of each page into a folder of its own below `destino`. */
export async function generarPaginas(destino: URL) {
  await rm(destino, { recursive: true, force: true })
  await generarIconos()
  for (const [pagina, generar] of Object.entries(PAGINAS)) {
    const salida = new URL(`${pagina}/`, destino)
    await mkdir(salida, { recursive: true })
    await escribirEstilo(pagina, salida)
    await generar(salida)
  }
  await generarLectura(destino)
}
