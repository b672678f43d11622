import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import type { Express } from 'express'
import { withRelativeDays } from '../../platform/time/relativeDays.ts'
import { type Asset, generatedBody, listGenerated, readAssets, readGenerated, serveAssets } from '../assets.ts'
import type { Front } from '../front.ts'
import { bodyOf, byDigest, contentPolicy, dailyBody, HTML, PUBLIC_HEADERS } from '../response.ts'
import { withAddress } from './address.ts'
import { chapterFiles } from './chapterFiles.ts'
import { ASSETS_BASE } from './files.ts'

const TEXTS_FOLDER = 'documentation/textos/'
const TEXT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

/**
 * Serves the documentation: the reading view made by Redoc, a page for each chapter of the guide, and the same text as
 * Markdown with its list `/llms.txt`.
 * Also serves the merchants' contract, its operations as a collection, and the packed SDK. The page is generated and
 * compressed beforehand, so the brand is in separate files, with the day for the page's examples. The other texts
 * contain the service's own address and days near today, so they are compressed at their first request of a day.
 * @param today returns the present day, such as «2026-11-25»
 */
export function serveDocumentation(app: Express, front: Front, publicUrl: string, today: () => string) {
  const localizedBody = (archivo: string) =>
    dailyBody(today, (day) => withRelativeDays(withAddress(readGenerated(archivo).toString(), publicUrl), day))
  const publicAsset = (archivo: string, tipo: string) => ({
    tipo,
    body: localizedBody(archivo),
    headers: PUBLIC_HEADERS,
  })
  const style = dailyBody(today, (day) => `${front.readingStyle}:root{--hoy:"${day}"}`)
  const texts = listGenerated(TEXTS_FOLDER).map((archivo) => {
    const tipo = TEXT_TYPES[extname(archivo)] ?? 'text/plain; charset=utf-8'
    return [`/${archivo}`, { tipo, body: localizedBody(TEXTS_FOLDER + archivo), headers: PUBLIC_HEADERS }] as const
  })
  const programs = readAssets('pages/docs/', ASSETS_BASE, ['navegador.js', 'buscador.js', 'chapter.js'])
  const data = readAssets('documentation/', ASSETS_BASE, ['redoc.js', 'contrato.json', 'indice.json'])
  serveAssets(
    app,
    new Map<string, Asset>([
      ['/docs', { tipo: HTML, body: generatedBody('pages/docs/documentacion.html'), headers: readingHeaders() }],
      ['/docs/marca.css', { tipo: 'text/css; charset=utf-8', body: style, headers: PUBLIC_HEADERS }],
      ['/docs/icono.svg', { tipo: 'image/svg+xml', body: bodyOf(front.icon), headers: PUBLIC_HEADERS }],
      ...programs.archivos,
      ...data.archivos,
      ...chapterFiles(front, publicUrl, today, programs.path('chapter.js')),
      ...texts,
      ['/openapi.json', publicAsset('openapi.json', 'application/json')],
      ['/openapi.yaml', publicAsset('openapi.yaml', 'application/yaml')],
      ['/coleccion.json', publicAsset('coleccion.json', 'application/json')],
      ...readPackages(),
    ]),
  )
}

/** Returns the packed SDK and the package for assistants, each with its digest, which `Repr-Digest` (RFC 9530) also names. */
function readPackages() {
  return listGenerated('sdk/').map((archivo) => {
    const bytes = readGenerated(`sdk/${archivo}`)
    const digest = `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
    const tipo = archivo.endsWith('.tgz') ? 'application/gzip' : 'text/plain; charset=utf-8'
    const headers = { ...PUBLIC_HEADERS, 'Repr-Digest': digest }
    return [`/sdk/${archivo}`, { tipo, body: { identity: () => bytes }, headers }] as const
  })
}

/**
 * Text of the `<style>` element that Redoc creates empty. Redoc fills it through the CSSOM, which
 * Content-Security-Policy does not check.
 */
const EMPTY_STYLE = ''

/**
 * Returns the headers of the documentation's page, which Redoc makes. The Content-Security-Policy admits by digest the
 * scripts, style elements and style attributes of the generated page. Redoc writes the styles, and a script that chooses
 * light or dark before the first paint; another script redirects addresses of chapters.
 */
function readingHeaders() {
  const html = readGenerated('pages/docs/documentacion.html').toString()
  const texts = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, text = '']) => text)
  const digests = (sources: readonly string[]) => [...new Set(sources)].map(byDigest).join(' ')
  const styleElements = [...texts(/<style[^>]*>([\s\S]*?)<\/style>/g), EMPTY_STYLE]
  const styleAttributes = texts(/ style="([^"]*)"/g)
  return {
    ...PUBLIC_HEADERS,
    ...contentPolicy({
      'script-src': `'self' ${digests(texts(/<script>([\s\S]*?)<\/script>/g))}`,
      // `'unsafe-hashes'` lets the digests allow style attributes, too. Alone it allows nothing.
      'style-src': `'self' 'unsafe-hashes' ${digests([...styleElements, ...styleAttributes])}`,
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self' data:",
    }),
  }
}
