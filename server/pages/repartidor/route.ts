import { createHash } from 'node:crypto'
import type { Express } from 'express'
import { ICONS, type IconName } from '../../platform/brand/icon.ts'
import { readAssets, readGenerated, serveAssets } from '../assets.ts'
import { frame } from '../frame.ts'
import type { Front } from '../front.ts'
import { privacidadDeLaPrueba } from '../privacidad.ts'
import { bodyOf, contentPolicy, HTML, PRIVATE_HEADERS } from '../response.ts'
import { cabezaDeRepartidor, manifiesto, paginaDeRepartidor } from './view.ts'

/**
 * Sources that the page may load: its own files, WebAssembly (reads codes if the browser cannot), and `blob:` URLs
 * (photos just taken).
 */
const PERMITE = {
  'script-src': "'self' 'wasm-unsafe-eval'",
  'style-src': "'self'",
  'img-src': 'blob:',
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'worker-src': "'self'",
}
/**
 * Headers of the service worker's script: its Content-Security-Policy, and the paths that it may control
 * (`Service-Worker-Allowed`). These paths are relative, so they also hold below a path prefix.
 */
const DEL_SERVICIO = {
  ...PRIVATE_HEADERS,
  ...contentPolicy({ 'script-src': "'self'", 'connect-src': "'self'" }),
  'Service-Worker-Allowed': '../repartidor',
}

const ARCHIVOS = [
  ...(Object.keys(ICONS) as IconName[]),
  'navegador.js',
  'otras.js',
  'estilo.css',
  'lector.js',
  'lector.wasm',
] as const

/** Files of the page's script. The first file loads the second one, which uses parts of the first. */
const PROGRAMA = ['navegador.js', 'otras.js'] as const

/**
 * Serves `/repartidor`, whose files are the same for every client. Only the API at `/repartidor/v1` knows who the
 * courier is.
 * @param retencionDePruebas days that proofs are kept after the delivery
 */
export function servirRepartidor(app: Express, fachada: Front, retencionDePruebas: number) {
  const { marca } = fachada
  const iconosPropios = marca.iconos ?? undefined
  const recursos = readAssets('paginas/repartidor/', 'repartidor/recursos/', ARCHIVOS, iconosPropios, PROGRAMA)
  const cabeceras = { ...PRIVATE_HEADERS, ...fachada.permisos(PERMITE, ['camera', 'geolocation']) }
  // Manifest and service worker are one path segment below the page.
  const desdeDentro = (archivo: (typeof ARCHIVOS)[number]) => recursos.ruta(archivo).replace('repartidor/', '')
  const contenido = paginaDeRepartidor({
    lector: recursos.ruta('lector.js'),
    wasm: recursos.ruta('lector.wasm'),
    privacidad: privacidadDeLaPrueba(retencionDePruebas),
    central: marca.telefono,
  })
  const html = frame(contenido, { fachada, cabeza: cabezaDeRepartidor(recursos.ruta), raiz: '', inicio: 'repartidor' })
  const codigo = readGenerated('paginas/repartidor/servicio.js').toString()
  const casco = {
    // Every change of the page changes the version in this script. Browsers detect a new version by a changed script.
    version: createHash('sha256').update(html).update(codigo).digest('hex').slice(0, 12),
    ahora: [
      ...[...PROGRAMA, 'estilo.css' as const].map(desdeDentro),
      ...(fachada.rutaDelLogo ? [`../${fachada.rutaDelLogo}`] : []),
    ],
    luego: (['lector.js', 'lector.wasm'] as const).map(desdeDentro),
  }
  const servicio = `const CASCO=${JSON.stringify(casco)};\n${codigo}`
  const iconos = {
    '192': desdeDentro('icono-192.png'),
    '512': desdeDentro('icono-512.png'),
    entero: desdeDentro('icono-entero.png'),
  }
  const texto = (tipo: string, de: string, suyas: Record<string, string> = cabeceras) => ({
    tipo,
    cuerpo: bodyOf(de),
    cabeceras: suyas,
  })
  serveAssets(
    app,
    new Map([
      ...recursos.archivos,
      ['/repartidor', texto(HTML, html)],
      [
        '/repartidor/manifiesto.webmanifest',
        texto('application/manifest+json; charset=utf-8', manifiesto(marca, iconos)),
      ],
      ['/repartidor/servicio.js', texto('text/javascript; charset=utf-8', servicio, DEL_SERVICIO)],
    ]),
  )
}
