import type { Express } from 'express'
import { readAssets, serveAssets } from '../assets.ts'
import { frame } from '../frame.ts'
import type { Front } from '../front.ts'
import { bodyOf, HTML, type PageResponse, PRIVATE_HEADERS } from '../response.ts'
import { cabezaDeConsola, paginaDeConsola } from './view.ts'

const BASE = 'docs/consola/'

/** Serves `/docs/consola`, where merchants try operations with a test key. */
export function servirConsola(app: Express, fachada: Front) {
  const propios = readAssets('paginas/consola/', BASE, ['navegador.js', 'estilo.css'])
  const datos = readAssets('documentacion/', BASE, ['operaciones.json'])
  // Paths are relative to the page `docs/consola`, whose files are in the folder `docs/consola/`.
  const desdeAqui = (ruta: string) => ruta.replace('docs/', '')
  const contenido = paginaDeConsola(desdeAqui(datos.ruta('operaciones.json')))
  const cabeza = cabezaDeConsola((archivo) => desdeAqui(propios.ruta(archivo)))
  const html = frame(contenido, { fachada, cabeza, raiz: '../' })
  // The Content-Security-Policy allows only files and requests of this service, so a key typed into the page cannot be
  // sent elsewhere.
  const permite = { 'script-src': "'self'", 'style-src': "'self'", 'connect-src': "'self'" }
  const cabeceras = { ...PRIVATE_HEADERS, ...fachada.permisos(permite) }
  serveAssets(
    app,
    new Map<string, Omit<PageResponse, 'status'>>([
      ['/docs/consola', { tipo: HTML, cuerpo: bodyOf(html), cabeceras }],
      ...propios.archivos,
      ...datos.archivos,
    ]),
  )
}
