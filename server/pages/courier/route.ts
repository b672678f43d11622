import { createHash } from 'node:crypto'
import type { Express } from 'express'
import { ICONS, type IconName } from '../../platform/brand/icon.ts'
import { readAssets, readGenerated, serveAssets } from '../assets.ts'
import { frame } from '../frame.ts'
import type { Front } from '../front.ts'
import { pruebaPrivacy } from '../privacy.ts'
import { bodyOf, contentPolicy, HTML, PRIVATE_HEADERS } from '../response.ts'
import { manifiesto, repartidorHead, repartidorPage } from './view.ts'

/**
 * Sources that the page may load: its own files, WebAssembly (reads codes if the browser cannot), and `blob:` URLs
 * (photos just taken).
 */
const ALLOWED_SOURCES = {
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
const SERVICE_WORKER_HEADERS = {
  ...PRIVATE_HEADERS,
  ...contentPolicy({ 'script-src': "'self'", 'connect-src': "'self'" }),
  'Service-Worker-Allowed': '../repartidor',
}

const ARCHIVOS = [
  ...(Object.keys(ICONS) as IconName[]),
  'navegador.js',
  'others.js',
  'estilo.css',
  'lector.js',
  'lector.wasm',
] as const

/** Files of the page's script. The first file loads the second one, which uses parts of the first. */
const PROGRAM_FILES = ['navegador.js', 'others.js'] as const

/**
 * Serves `/repartidor`, whose files are the same for every client. Only the API at `/repartidor/v1` knows who the
 * courier is.
 * @param pruebaRetentionDays days that proofs are kept after the delivery
 */
export function serveRepartidor(app: Express, front: Front, pruebaRetentionDays: number) {
  const { brand } = front
  const ownIcons = brand.icons ?? undefined
  const assets = readAssets('pages/courier/', 'repartidor/recursos/', ARCHIVOS, ownIcons, PROGRAM_FILES)
  const headers = { ...PRIVATE_HEADERS, ...front.policyHeaders(ALLOWED_SOURCES, ['camera', 'geolocation']) }
  // Manifest and service worker are one path segment below the page.
  const toInnerPath = (archivo: (typeof ARCHIVOS)[number]) => assets.path(archivo).replace('repartidor/', '')
  const content = repartidorPage({
    readerPath: assets.path('lector.js'),
    wasm: assets.path('lector.wasm'),
    privacyNotice: pruebaPrivacy(pruebaRetentionDays),
    central: brand.telefono,
  })
  const html = frame(content, { front, head: repartidorHead(assets.path), root: '', home: 'repartidor' })
  const code = readGenerated('pages/courier/servicio.js').toString()
  const shell = {
    // Every change of the page changes the version in this script. Browsers detect a new version by a changed script.
    version: createHash('sha256').update(html).update(code).digest('hex').slice(0, 12),
    first: [
      ...[...PROGRAM_FILES, 'estilo.css' as const].map(toInnerPath),
      ...(front.logoPath ? [`../${front.logoPath}`] : []),
    ],
    later: (['lector.js', 'lector.wasm'] as const).map(toInnerPath),
  }
  const serviceWorker = `const SHELL=${JSON.stringify(shell)};\n${code}`
  const icons = {
    '192': toInnerPath('icono-192.png'),
    '512': toInnerPath('icono-512.png'),
    maskable: toInnerPath('icono-entero.png'),
  }
  const text = (tipo: string, de: string, ownHeaders: Record<string, string> = headers) => ({
    tipo,
    body: bodyOf(de),
    headers: ownHeaders,
  })
  serveAssets(
    app,
    new Map([
      ...assets.archivos,
      ['/repartidor', text(HTML, html)],
      [
        '/repartidor/manifiesto.webmanifest',
        text('application/manifest+json; charset=utf-8', manifiesto(brand, icons)),
      ],
      ['/repartidor/servicio.js', text('text/javascript; charset=utf-8', serviceWorker, SERVICE_WORKER_HEADERS)],
    ]),
  )
}
