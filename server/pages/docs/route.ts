import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import type { Express } from 'express'
import { withRelativeDays } from '../../platform/time/relativeDays.ts'
import { type Asset, generatedBody, listGenerated, readAssets, readGenerated, serveAssets } from '../assets.ts'
import type { Front } from '../front.ts'
import { bodyOf, byDigest, contentPolicy, dailyBody, HTML, PUBLIC_HEADERS } from '../response.ts'
import { conDireccion } from './direccion.ts'

const RECURSOS = 'docs/recursos/'
const TEXTOS = 'documentacion/textos/'
const TEXT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

/**
 * Serves the documentation: the reading view made by Redoc, and the same text as Markdown with its list `/llms.txt`.
 * Also serves the merchants' contract, its operations as a collection, and the packed SDK. The page is generated and
 * compressed beforehand, so the brand is in separate files, with the day for the page's examples. The other texts
 * contain the service's own address and days near today, so they are compressed at their first request of a day.
 * @param today returns the present day, such as «2026-11-25»
 */
export function servirDocumentacion(app: Express, fachada: Front, urlPublica: string, today: () => string) {
  const conSusDatos = (archivo: string) =>
    dailyBody(today, (day) => withRelativeDays(conDireccion(readGenerated(archivo).toString(), urlPublica), day))
  const publico = (archivo: string, tipo: string) => ({
    tipo,
    cuerpo: conSusDatos(archivo),
    cabeceras: PUBLIC_HEADERS,
  })
  const estilo = dailyBody(today, (day) => `${fachada.estiloDeLectura}:root{--hoy:"${day}"}`)
  const textos = listGenerated(TEXTOS).map((archivo) => {
    const tipo = TEXT_TYPES[extname(archivo)] ?? 'text/plain; charset=utf-8'
    return [`/${archivo}`, { tipo, cuerpo: conSusDatos(TEXTOS + archivo), cabeceras: PUBLIC_HEADERS }] as const
  })
  serveAssets(
    app,
    new Map<string, Asset>([
      [
        '/docs',
        { tipo: HTML, cuerpo: generatedBody('paginas/docs/documentacion.html'), cabeceras: cabecerasDeLectura() },
      ],
      ['/docs/marca.css', { tipo: 'text/css; charset=utf-8', cuerpo: estilo, cabeceras: PUBLIC_HEADERS }],
      ['/docs/icono.svg', { tipo: 'image/svg+xml', cuerpo: bodyOf(fachada.icono), cabeceras: PUBLIC_HEADERS }],
      ...readAssets('paginas/docs/', RECURSOS, ['navegador.js', 'buscador.js']).archivos,
      ...readAssets('documentacion/', RECURSOS, ['redoc.js', 'contrato.json', 'indice.json']).archivos,
      ...textos,
      ['/openapi.json', publico('openapi.json', 'application/json')],
      ['/openapi.yaml', publico('openapi.yaml', 'application/yaml')],
      ['/coleccion.json', publico('coleccion.json', 'application/json')],
      ...paquetes(),
    ]),
  )
}

/** Returns the packed SDK and the package for assistants, each with its digest, which `Repr-Digest` (RFC 9530) also names. */
function paquetes() {
  return listGenerated('sdk/').map((archivo) => {
    const bytes = readGenerated(`sdk/${archivo}`)
    const digest = `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
    const tipo = archivo.endsWith('.tgz') ? 'application/gzip' : 'text/plain; charset=utf-8'
    const cabeceras = { ...PUBLIC_HEADERS, 'Repr-Digest': digest }
    return [`/sdk/${archivo}`, { tipo, cuerpo: { identity: () => bytes }, cabeceras }] as const
  })
}

/**
 * Text of the `<style>` element that Redoc creates empty. Redoc fills it through the CSSOM, which
 * Content-Security-Policy does not check.
 */
const ESTILO_VACIO = ''

/**
 * Returns the headers of the documentation's page, which Redoc makes. The Content-Security-Policy admits by digest the
 * scripts, style elements and style attributes of the generated page. Redoc writes the styles; its one script chooses
 * light or dark before the first paint.
 */
function cabecerasDeLectura() {
  const html = readGenerated('paginas/docs/documentacion.html').toString()
  const textos = (trozo: RegExp) => [...html.matchAll(trozo)].map(([, texto = '']) => texto)
  const huellas = (unos: readonly string[]) => [...new Set(unos)].map(byDigest).join(' ')
  const elementos = [...textos(/<style[^>]*>([\s\S]*?)<\/style>/g), ESTILO_VACIO]
  const atributos = textos(/ style="([^"]*)"/g)
  return {
    ...PUBLIC_HEADERS,
    ...contentPolicy({
      'script-src': `'self' ${huellas(textos(/<script>([\s\S]*?)<\/script>/g))}`,
      // `'unsafe-hashes'` lets the digests allow style attributes, too. Alone it allows nothing.
      'style-src': `'self' 'unsafe-hashes' ${huellas([...elementos, ...atributos])}`,
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self' data:",
    }),
  }
}
