import type { Express } from 'express'
import { cuerpoGenerado, leerGenerado, leerRecursos, listarGenerados, servirArchivos } from '../archivos.ts'
import type { Fachada } from '../fachada.ts'
import { cuerpoDe, cuerpoFijo, HTML, PUBLICA, permisos, porHuella } from '../respuesta.ts'
import { conDireccion } from './direccion.ts'

const RECURSOS = 'docs/recursos/'
const TEXTOS = 'documentacion/textos/'

/**
 * Serves the documentation: the reading view, which Redoc makes; the same as Markdown, with its list `/llms.txt`; the
 * merchants' contract, and its operations as a collection. The page is generated and packed beforehand, so the brand lies beside it.
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

/** Redoc styles itself in the page, where its one script of its own chooses light or dark before anything is painted. */
function cabecerasDeLectura() {
  const html = leerGenerado('paginas/docs/documentacion.html').toString()
  const enLinea = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, codigo = '']) => porHuella(codigo))
  return {
    ...PUBLICA,
    ...permisos({
      'script-src': ["'self'", ...enLinea].join(' '),
      'style-src': "'self' 'unsafe-inline'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self' data:",
    }),
  }
}
