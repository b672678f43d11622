import type { Express } from 'express'
import { cuerpoGenerado, leerGenerado, servirArchivos } from '../archivos.ts'
import { HTML, PUBLICA, permisos } from '../respuesta.ts'

/**
 * Serves the documentation: Redoc on one page, the merchants' contract that it was made from, and its operations as a
 * collection. Redoc styles itself in the page, and searches in a worker that it builds from a blob.
 */
export function servirDocumentacion(app: Express) {
  const { scripts } = JSON.parse(leerGenerado('documentacion.json').toString()) as { scripts: string[] }
  const cabeceras = {
    ...PUBLICA,
    ...permisos({
      'script-src': scripts.join(' '),
      'style-src': "'unsafe-inline'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self' data:",
      'worker-src': 'blob:',
    }),
  }
  const publico = (archivo: string, tipo: string) => ({ tipo, cuerpo: cuerpoGenerado(archivo), cabeceras: PUBLICA })
  servirArchivos(
    app,
    new Map([
      ['/docs', { tipo: HTML, cuerpo: cuerpoGenerado('documentacion.html'), cabeceras }],
      ['/openapi.json', publico('comercios.json', 'application/json')],
      ['/openapi.yaml', publico('comercios.yaml', 'application/yaml')],
      ['/coleccion.json', publico('coleccion.json', 'application/json')],
    ]),
  )
}
