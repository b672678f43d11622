import { calculateJwkThumbprint } from 'jose'
import { describe, expect, it } from 'vitest'
import { useDocuments } from './documents.ts'

const { environment } = useDocuments()

describe('GET /.well-known/jwks.json', () => {
  it('may be kept for a while, by anybody', async () => {
    const { status, cabeceras, cuerpo } = await environment.request('GET', '/.well-known/jwks.json')
    expect([status, cabeceras.get('cache-control'), cabeceras.get('access-control-allow-origin')]).toEqual([
      200,
      'public, max-age=300',
      '*',
    ])
    expect(cuerpo.keys).toHaveLength(1)
    const [{ kid, x, ...rest }] = cuerpo.keys
    expect(rest).toEqual({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' })
    expect(kid).toBe(await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x }))
    const etag = cabeceras.get('etag')!
    for (const conocidas of [etag, `W/${etag}`, `"otra", ${etag}`, '*']) {
      const other = await environment.request('GET', '/.well-known/jwks.json', {
        cabeceras: { 'If-None-Match': conocidas },
      })
      expect([conocidas, other.status, other.cuerpo]).toEqual([conocidas, 304, undefined])
    }
    expect(
      (await environment.request('GET', '/.well-known/jwks.json', { cabeceras: { 'If-None-Match': '"x"' } })).status,
    ).toBe(200)
  })
})
