import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Express } from 'express'
import { RAIZ } from '../../contrato/raiz.ts'
import { leerRecursos, servirRecurso } from '../recursos.ts'
import { enviar, ponerCabeceras } from '../respuesta.ts'
import { manifiesto, pagina } from './vista.ts'

const PERMISOS = 'camera=(self), geolocation=(self), microphone=()'

/** Its own files alone. WebAssembly is the library that reads codes where the browser can't; `blob:` its own photos. */
const POLITICA = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
/** A service worker's policy is its script's own. */
const POLITICA_DEL_SERVICIO = "default-src 'none'; script-src 'self'; connect-src 'self'"

const ARCHIVOS = [
  'navegador.js',
  'estilo.css',
  'icono.svg',
  'icono-192.png',
  'icono-512.png',
  'icono-entero.png',
  'icono-apple.png',
  'lector.js',
  'lector.wasm',
] as const

/** `/repartidor`: what the courier works with. Nothing here knows anybody: people come in through `/repartidor/v1`. */
export function servirPaginaDeRepartidor(app: Express) {
  const recursos = leerRecursos('repartidor/', ARCHIVOS)
  const en = (archivo: (typeof ARCHIVOS)[number]) => `recursos/${recursos.get(archivo)!.nombre}`
  const desdePagina = (archivo: (typeof ARCHIVOS)[number]) => `repartidor/${en(archivo)}`
  const html = pagina({
    estilo: desdePagina('estilo.css'),
    navegador: desdePagina('navegador.js'),
    icono: desdePagina('icono.svg'),
    iconoDeApple: desdePagina('icono-apple.png'),
    manifiesto: 'repartidor/manifiesto.webmanifest',
    lector: desdePagina('lector.js'),
    wasm: desdePagina('lector.wasm'),
  })
  const ahora = [en('navegador.js'), en('estilo.css'), en('icono.svg')]
  const luego = [en('lector.js'), en('lector.wasm')]
  const codigo = readFileSync(new URL('server/contrato/generado/paginas/repartidor/servicio.js', RAIZ), 'utf8')
  // Whatever changes in the page changes this file, which is how a browser learns of a new version.
  const version = createHash('sha256').update(html).update(codigo).digest('hex').slice(0, 12)
  const servicio = `const CASCO=${JSON.stringify({ version, ahora, luego })};\n${codigo}`
  const iconos = { '192': en('icono-192.png'), '512': en('icono-512.png'), entero: en('icono-entero.png') }
  const documentos: Record<string, { html: string; tipo?: string; csp?: string }> = {
    '/': { html },
    '/manifiesto.webmanifest': { html: manifiesto(iconos), tipo: 'application/manifest+json; charset=utf-8' },
    '/servicio.js': { html: servicio, tipo: 'text/javascript; charset=utf-8', csp: POLITICA_DEL_SERVICIO },
  }

  app.use('/repartidor/recursos', servirRecurso(recursos))
  app.use('/repartidor', (req, res, next) => {
    const documento = documentos[req.path]
    if (!documento) return next()
    ponerCabeceras(res, documento.csp ?? POLITICA, PERMISOS)
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.setHeader('Content-Type', 'text/plain; charset=utf-8')
      return enviar(req, res, { status: 405, html: 'Use GET o HEAD.', cabeceras: { Allow: 'GET, HEAD' } })
    }
    // The page's links are relative to an address without a slash at its end.
    if (documento.html === html && req.originalUrl.split('?')[0]!.endsWith('/')) {
      return enviar(req, res, { status: 308, html: '', cabeceras: { Location: '../repartidor' } })
    }
    if (documento.tipo) res.setHeader('Content-Type', documento.tipo)
    // Below any prefix: it is read from where the script lies.
    if (documento.html === servicio) res.setHeader('Service-Worker-Allowed', '../repartidor')
    enviar(req, res, { status: 200, html: documento.html })
  })
}
