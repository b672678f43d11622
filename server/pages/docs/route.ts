import type { Express } from 'express'
import { generatedBody, listGenerated, readAssets, readGenerated, serveAssets } from '../assets.ts'
import type { Front } from '../front.ts'
import { bodyOf, byDigest, contentPolicy, fixedBody, HTML, PUBLIC_HEADERS } from '../response.ts'
import { conDireccion } from './direccion.ts'

const RECURSOS = 'docs/recursos/'
const TEXTOS = 'documentacion/textos/'

/**
 * Serves the documentation: the reading view made by Redoc, the same text as Markdown with its list `/llms.txt`, the
 * merchants' contract, and its operations as a collection. The page is generated and compressed beforehand, so the
 * brand is in separate files.
 */
export function servirDocumentacion(app: Express, fachada: Front, urlPublica: string) {
  const publico = (archivo: string, tipo: string) => ({
    tipo,
    cuerpo: generatedBody(archivo),
    cabeceras: PUBLIC_HEADERS,
  })
  const textos = listGenerated(TEXTOS).map((archivo) => {
    const tipo = archivo.endsWith('.md') ? 'text/markdown; charset=utf-8' : 'text/plain; charset=utf-8'
    const cuerpo = fixedBody(() => conDireccion(readGenerated(TEXTOS + archivo).toString(), urlPublica))
    return [`/${archivo}`, { tipo, cuerpo, cabeceras: PUBLIC_HEADERS }] as const
  })
  serveAssets(
    app,
    new Map([
      [
        '/docs',
        { tipo: HTML, cuerpo: generatedBody('paginas/docs/documentacion.html'), cabeceras: cabecerasDeLectura() },
      ],
      [
        '/docs/marca.css',
        { tipo: 'text/css; charset=utf-8', cuerpo: bodyOf(fachada.estiloDeLectura), cabeceras: PUBLIC_HEADERS },
      ],
      ['/docs/icono.svg', { tipo: 'image/svg+xml', cuerpo: bodyOf(fachada.icono), cabeceras: PUBLIC_HEADERS }],
      ...readAssets('paginas/docs/', RECURSOS, ['navegador.js', 'buscador.js']).archivos,
      ...readAssets('documentacion/', RECURSOS, ['redoc.js', 'contrato.json', 'indice.json']).archivos,
      ...textos,
      ['/openapi.json', publico('comercios.json', 'application/json')],
      ['/openapi.yaml', publico('comercios.yaml', 'application/yaml')],
      ['/coleccion.json', publico('coleccion.json', 'application/json')],
    ]),
  )
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
      // `'unsafe-hashes'` makes digests valid for style attributes too; alone it admits nothing.
      'style-src': `'self' 'unsafe-hashes' ${huellas([...elementos, ...atributos])}`,
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self' data:",
    }),
  }
}
