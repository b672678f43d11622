import { calculateJwkThumbprint } from 'jose'
import { describe, expect, it } from 'vitest'
import { useDocuments } from './documents.ts'

const { environment } = useDocuments()

describe('GET /.well-known/jwks.json', () => {
  it('may be kept for a while, by anybody', async () => {
    const { status, headers, body } = await environment.request('GET', '/.well-known/jwks.json')
    expect([status, headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      200,
      'public, max-age=300',
      '*',
    ])
    expect(body.keys).toHaveLength(1)
    const [{ kid, x, ...rest }] = body.keys
    expect(rest).toEqual({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' })
    expect(kid).toBe(await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x }))
    const etag = headers.get('etag')!
    for (const knownNames of [etag, `W/${etag}`, `"otra", ${etag}`, '*']) {
      const other = await environment.request('GET', '/.well-known/jwks.json', {
        headers: { 'If-None-Match': knownNames },
      })
      expect([knownNames, other.status, other.body]).toEqual([knownNames, 304, undefined])
    }
    expect(
      (await environment.request('GET', '/.well-known/jwks.json', { headers: { 'If-None-Match': '"x"' } })).status,
    ).toBe(200)
  })
})
