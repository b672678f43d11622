import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../../environment.ts'
import { BRAND_STYLE_HASH, stripBrandStyle } from '../../factories.ts'

const environment = shareEnvironment()

describe('the page of the courier', () => {
  const read = (path: string, method = 'GET') => fetch(environment.url + path, { method, redirect: 'manual' })

  it('is the same for everybody, strict, and alone with camera and position', async () => {
    const response = await read('/repartidor')
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(stripBrandStyle(html)).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)| on\w+="|https?:/)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'permissions-policy': 'camera=(self), geolocation=(self), microphone=()',
      'content-security-policy': `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' ${BRAND_STYLE_HASH}; img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
    })
    expect(response.headers.get('set-cookie')).toBeNull()
    const resources = [...html.matchAll(/"(repartidor\/recursos\/[^"]+)"/g)].map(([, path]) => `/${path}`)
    expect(resources.length).toBeGreaterThanOrEqual(5)
    for (const path of resources) {
      const resource = await read(path)
      expect([path, resource.status]).toEqual([path, 200])
      expect(resource.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect((await resource.arrayBuffer()).byteLength).toBeGreaterThan(100)
    }
  })

  it('is the target of a redirect from its path with a slash, and refuses other methods', async () => {
    const other = await read('/repartidor/')
    expect([other.status, other.headers.get('location')]).toEqual([308, '../repartidor'])
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await read('/repartidor', method)
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
    expect((await read('/repartidor/otra')).status).toBe(404)
    expect((await read('/repartidor/recursos/otra.js')).status).toBe(404)
  })

  it('has a service worker for the page itself, which may talk to the service alone', async () => {
    const response = await read('/repartidor/servicio.js')
    expect(response.headers.get('service-worker-allowed')).toBe('../repartidor')
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { body: manifiesto } = await environment.request('GET', '/repartidor/manifiesto.webmanifest')
    expect(manifiesto).toMatchObject({ lang: 'es', display: 'standalone', start_url: '../repartidor' })
    for (const { src, sizes } of manifiesto.icons) {
      const { width, height } = await sharp(await (await read(`/repartidor/${src}`)).arrayBuffer()).metadata()
      expect(`${width}x${height}`).toBe(sizes)
    }
  })
})
