import type { Express } from 'express'
import { Html, html } from '../../platform/html.ts'
import { type Asset, readAssets, serveAssets } from '../assets.ts'
import { renderBar, renderSearch, THEME_SCRIPT } from '../docs/bar.ts'
import { readDocsBar } from '../docs/files.ts'
import { frame } from '../frame.ts'
import type { Front } from '../front.ts'
import { byDigest, dailyBody, HTML, PRIVATE_HEADERS } from '../response.ts'
import { consoleHead, consolePage } from './view.ts'

const BASE = 'docs/consola/'

/**
 * Serves `/docs/consola`, where merchants try operations with a test key.
 * @param today returns the present day, such as «2026-11-25»
 */
export function serveConsole(app: Express, front: Front, today: () => string) {
  const ownAssets = readAssets('pages/console/', BASE, ['navegador.js', 'estilo.css'])
  const datos = readAssets('documentation/', BASE, ['operaciones.json'])
  // Paths are relative to the page `docs/consola`, whose files are in the folder `docs/consola/`.
  const toPagePath = (path: string) => path.replace('docs/', '')
  const head = html`<script>${new Html(THEME_SCRIPT)}</script>
${consoleHead((archivo) => toPagePath(ownAssets.path(archivo)))}`
  const operaciones = toPagePath(datos.path('operaciones.json'))
  const docsBar = readDocsBar(front, '../')
  const bar = { header: renderBar(docsBar), after: renderSearch(docsBar) }
  const body = dailyBody(today, (hoy) => frame(consolePage({ operaciones, hoy }), { front, head, root: '../', bar }))
  // The Content-Security-Policy allows only files and requests of this service, so a key typed into the page cannot be
  // sent elsewhere.
  const allowedSources = {
    'script-src': `'self' ${byDigest(THEME_SCRIPT)}`,
    'style-src': "'self'",
    'connect-src': "'self'",
  }
  const headers = { ...PRIVATE_HEADERS, ...front.policyHeaders(allowedSources) }
  serveAssets(
    app,
    new Map<string, Asset>([
      ['/docs/consola', { tipo: HTML, body, headers }],
      ...ownAssets.archivos,
      ...datos.archivos,
    ]),
  )
}
