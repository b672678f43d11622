import type { Express } from 'express'
import { cuerpoGenerado, leerGenerado, leerRecursos, listarGenerados, servirArchivos } from '../assets.ts'
import type { Fachada } from '../front.ts'
import { cuerpoDe, cuerpoFijo, HTML, PUBLICA, permisos, porHuella } from '../response.ts'
import { conDireccion } from './direccion.ts'

const RECURSOS = 'docs/recursos/'
const TEXTOS = 'documentacion/textos/'

/**
 * Serves the documentation: the reading view made by Redoc, the same text as Markdown with its list `/llms.txt`, the
 * merchants' contract, and its operations as a collection. The page is generated and compressed beforehand, so the
 * brand is in separate files.
 */
export function servirDocumentacion(app: Express, fachada: Fachada, urlPublica: string) {
  const publico = (archivo: string, tipo: string) => ({ tipo, cuerpo: cuerpoGenerado(archivo), cabeceras: PUBLICA })
  const textos = listarGenerados(TEXTOS).map((archivo) => {
    const tipo = archivo.endsWith('.md') ? 'text/markdown; charset=utf-8' : 'text/plain; charset=utf-8'
    const cuerpo = cuerpoFijo(() => conDireccion(leerGenerado(TEXTOS + archivo).toString(), urlPublica))
    return [`/${archivo}`, { tipo, cuerpo, cabeceras: PUBLICA }] as const
  })
  servirArchivos(
    app,
    new Map([
      [
        '/docs',
        { tipo: HTML, cuerpo: cuerpoGenerado('paginas/docs/documentacion.html'), cabeceras: cabecerasDeLectura() },
      ],
      [
        '/docs/marca.css',
        { tipo: 'text/css; charset=utf-8', cuerpo: cuerpoDe(fachada.estiloDeLectura), cabeceras: PUBLICA },
      ],
      ['/docs/icono.svg', { tipo: 'image/svg+xml', cuerpo: cuerpoDe(fachada.icono), cabeceras: PUBLICA }],
      ...leerRecursos('paginas/docs/', RECURSOS, ['navegador.js', 'buscador.js']).archivos,
      ...leerRecursos('documentacion/', RECURSOS, ['redoc.js', 'contrato.json', 'indice.json']).archivos,
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
 * Returns the headers of the reading view. The policy admits by digest the scripts, style elements and style attributes
 * of the generated page. Redoc writes the styles; its one script chooses light or dark before the first paint.
 */
function cabecerasDeLectura() {
  const html = leerGenerado('paginas/docs/documentacion.html').toString()
  const textos = (trozo: RegExp) => [...html.matchAll(trozo)].map(([, texto = '']) => texto)
  const huellas = (unos: readonly string[]) => [...new Set(unos)].map(porHuella).join(' ')
  const elementos = [...textos(/<style[^>]*>([\s\S]*?)<\/style>/g), ESTILO_VACIO]
  const atributos = textos(/ style="([^"]*)"/g)
  return {
    ...PUBLICA,
    ...permisos({
      'script-src': `'self' ${huellas(textos(/<script>([\s\S]*?)<\/script>/g))}`,
      // `'unsafe-hashes'` makes digests valid for style attributes too; alone it admits nothing.
      'style-src': `'self' 'unsafe-hashes' ${huellas([...elementos, ...atributos])}`,
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self' data:",
    }),
  }
}
