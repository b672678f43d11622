import type { Express } from 'express'
import { type Asset, readAssets, serveAssets } from '../assets.ts'
import { frame } from '../frame.ts'
import type { Front } from '../front.ts'
import { dailyBody, HTML, PRIVATE_HEADERS } from '../response.ts'
import { cabezaDeConsola, paginaDeConsola } from './view.ts'

const BASE = 'docs/consola/'

/**
 * Serves `/docs/consola`, where merchants try operations with a test key.
 * @param today returns the present day, such as «2026-11-25»
 */
export function servirConsola(app: Express, fachada: Front, today: () => string) {
  const propios = readAssets('paginas/consola/', BASE, ['navegador.js', 'estilo.css'])
  const datos = readAssets('documentacion/', BASE, ['operaciones.json'])
  // Paths are relative to the page `docs/consola`, whose files are in the folder `docs/consola/`.
  const desdeAqui = (ruta: string) => ruta.replace('docs/', '')
  const cabeza = cabezaDeConsola((archivo) => desdeAqui(propios.ruta(archivo)))
  const operaciones = desdeAqui(datos.ruta('operaciones.json'))
  const cuerpo = dailyBody(today, (hoy) =>
    frame(paginaDeConsola({ operaciones, hoy }), { fachada, cabeza, raiz: '../' }),
  )
  // The Content-Security-Policy allows only files and requests of this service, so a key typed into the page cannot be
  // sent elsewhere.
  const permite = { 'script-src': "'self'", 'style-src': "'self'", 'connect-src': "'self'" }
  const cabeceras = { ...PRIVATE_HEADERS, ...fachada.permisos(permite) }
  serveAssets(
    app,
    new Map<string, Asset>([
      ['/docs/consola', { tipo: HTML, cuerpo, cabeceras }],
      ...propios.archivos,
      ...datos.archivos,
    ]),
  )
}
