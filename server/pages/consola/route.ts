import type { Express } from 'express'
import { leerRecursos, servirArchivos } from '../assets.ts'
import { marco } from '../frame.ts'
import type { Fachada } from '../front.ts'
import { cuerpoDe, HTML, PRIVADA, type Respuesta } from '../response.ts'
import { cabezaDeConsola, paginaDeConsola } from './view.ts'

const BASE = 'docs/consola/'

/** Serves `/docs/consola`, where merchants try operations with a test key. */
export function servirConsola(app: Express, fachada: Fachada) {
  const propios = leerRecursos('paginas/consola/', BASE, ['navegador.js', 'estilo.css'])
  const datos = leerRecursos('documentacion/', BASE, ['operaciones.json'])
  // Paths are relative to the page `docs/consola`, whose files are in the folder `docs/consola/`.
  const desdeAqui = (ruta: string) => ruta.replace('docs/', '')
  const contenido = paginaDeConsola(desdeAqui(datos.ruta('operaciones.json')))
  const cabeza = cabezaDeConsola((archivo) => desdeAqui(propios.ruta(archivo)))
  const html = marco(contenido, { fachada, cabeza, raiz: '../' })
  // The policy allows only files and requests of this service, so a key typed into the page cannot be sent elsewhere.
  const permite = { 'script-src': "'self'", 'style-src': "'self'", 'connect-src': "'self'" }
  const cabeceras = { ...PRIVADA, ...fachada.permisos(permite) }
  servirArchivos(
    app,
    new Map<string, Omit<Respuesta, 'status'>>([
      ['/docs/consola', { tipo: HTML, cuerpo: cuerpoDe(html), cabeceras }],
      ...propios.archivos,
      ...datos.archivos,
    ]),
  )
}
