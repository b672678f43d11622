import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../../environment.ts'
import { BRAND_STYLE_HASH, stripBrandStyle } from '../../factories.ts'

const entorno = shareEnvironment()

describe('the page of the courier', () => {
  const leer = (ruta: string, metodo = 'GET') => fetch(entorno.url + ruta, { method: metodo, redirect: 'manual' })

  it('is the same for everybody, strict, and alone with camera and position', async () => {
    const respuesta = await leer('/repartidor')
    expect(respuesta.status).toBe(200)
    const html = await respuesta.text()
    expect(stripBrandStyle(html)).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)| on\w+="|https?:/)
    expect(Object.fromEntries(respuesta.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'permissions-policy': 'camera=(self), geolocation=(self), microphone=()',
      'content-security-policy': `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' ${BRAND_STYLE_HASH}; img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
    })
    expect(respuesta.headers.get('set-cookie')).toBeNull()
    const recursos = [...html.matchAll(/"(repartidor\/recursos\/[^"]+)"/g)].map(([, ruta]) => `/${ruta}`)
    expect(recursos.length).toBeGreaterThanOrEqual(5)
    for (const ruta of recursos) {
      const recurso = await leer(ruta)
      expect([ruta, recurso.status]).toEqual([ruta, 200])
      expect(recurso.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect((await recurso.arrayBuffer()).byteLength).toBeGreaterThan(100)
    }
  })

  it('is the target of a redirect from its path with a slash, and refuses other methods', async () => {
    const otra = await leer('/repartidor/')
    expect([otra.status, otra.headers.get('location')]).toEqual([308, '../repartidor'])
    for (const metodo of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const respuesta = await leer('/repartidor', metodo)
      expect([respuesta.status, respuesta.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
    expect((await leer('/repartidor/otra')).status).toBe(404)
    expect((await leer('/repartidor/recursos/otra.js')).status).toBe(404)
  })

  it('has a service worker for the page itself, which may talk to the service alone', async () => {
    const respuesta = await leer('/repartidor/servicio.js')
    expect(respuesta.headers.get('service-worker-allowed')).toBe('../repartidor')
    expect(respuesta.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(respuesta.headers.get('cache-control')).toBe('no-store')
    const { cuerpo: manifiesto } = await entorno.request('GET', '/repartidor/manifiesto.webmanifest')
    expect(manifiesto).toMatchObject({ lang: 'es', display: 'standalone', start_url: '../repartidor' })
    for (const { src, sizes } of manifiesto.icons) {
      const { width, height } = await sharp(await (await leer(`/repartidor/${src}`)).arrayBuffer()).metadata()
      expect(`${width}x${height}`).toBe(sizes)
    }
  })
})
