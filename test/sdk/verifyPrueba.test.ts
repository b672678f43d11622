import { execFile } from 'node:child_process'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type ClavesPublicas, Guias } from '@guias/sdk'
import { ErrorPrueba, type PruebaPorVerificar, verificarPrueba } from '@guias/sdk/verificar'
import { CompactSign, compactVerify, createLocalJWKSet } from 'jose'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { shareEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'

const environment = shareEnvironment()
let guia: string
let manifiesto: string
let keys: ClavesPublicas
/** Photo, signature and PDF. */
let archivos: Uint8Array<ArrayBuffer>[]

beforeAll(async () => {
  const comercio = await environment.createComercio()
  guia = (await createDeliveredGuia(environment, comercio)).guia
  const prueba = await waitUntil(async () => {
    const read = await comercio.api.guias.pruebaEntrega(guia)
    return read.pdf !== null && read
  })
  manifiesto = prueba.manifiesto!
  keys = await comercio.api.guias.clavesPublicas()
  archivos = await Promise.all(
    [prueba.fotos[0]!, prueba.firma!, prueba.pdf!].map(
      async ({ url }) => new Uint8Array(await (await fetch(url)).arrayBuffer()),
    ),
  )
})

const codigoOf = async (cambios: Partial<Record<keyof PruebaPorVerificar, unknown>>) => {
  const error = await verificarPrueba({ manifiesto, claves: keys, ...cambios } as PruebaPorVerificar).then(
    () => 'nothing was thrown',
    (motivo: unknown) => motivo,
  )
  expect(error).toBeInstanceOf(ErrorPrueba)
  const { codigo, name, message } = error as ErrorPrueba
  expect([name, message.length > 20]).toEqual(['ErrorPrueba', true])
  return codigo
}

/** A manifest that somebody else signed, or that we never would. */
async function firmado(
  cambios: { jwsHeader?: object; contenido?: unknown } = {},
  { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject } = generateKeyPairSync('ed25519'),
) {
  const key = { ...(publicKey.export({ format: 'jwk' }) as { kty: string; crv: string; x: string }), kid: 'suya' }
  const header = { alg: 'EdDSA', kid: 'suya', typ: 'prueba-entrega+jws', ...cambios.jwsHeader }
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const contenido = cambios.contenido ?? JSON.parse(Buffer.from(manifiesto.split('.')[1]!, 'base64url').toString())
  const input = `${part(header)}.${part(contenido)}`
  const sello = sign(null, Buffer.from(input), privateKey).toString('base64url')
  return { manifiesto: `${input}.${sello}`, claves: { keys: [key] } }
}

describe('verificarPrueba()', () => {
  it('says what was signed, and which file is which', async () => {
    const {
      manifiesto: contenido,
      archivos: verifiedArchivos,
      kid,
    } = await verificarPrueba({ guia, manifiesto, claves: keys, archivos })
    expect(contenido).toMatchObject({ version: 1, guia, modo: 'test', emisor: environment.url })
    expect(verifiedArchivos.map(({ tipo }) => tipo)).toEqual(['foto', 'firma', 'pdf'])
    expect(verifiedArchivos.map(({ sha256 }) => sha256)).toEqual(
      archivos.map((bytes) => createHash('sha256').update(bytes).digest('hex')),
    )
    expect(kid).toBe(keys.keys[0]!.kid)
    // In any order, in any wrapping, or none at all.
    const others = await verificarPrueba({
      manifiesto,
      claves: keys,
      archivos: [archivos[2]!.buffer, Buffer.from(archivos[0]!)],
    })
    expect(others.archivos.map(({ tipo }) => tipo)).toEqual(['pdf', 'foto'])
    expect((await verificarPrueba({ manifiesto, claves: keys })).archivos).toEqual([])
    // As others see it.
    const { payload } = await compactVerify(manifiesto, createLocalJWKSet(keys as never))
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual(contenido)
  })

  it('needs no network, and nothing beside its package', async () => {
    vi.stubGlobal('fetch', () => {
      throw new Error('offline')
    })
    await verificarPrueba({ manifiesto, claves: keys, archivos })
    vi.unstubAllGlobals()
    // The built package, in a process of its own; CommonJS too.
    const codigo = `const { verificarPrueba } = require('@guias/sdk/verificar')
      verificarPrueba(${JSON.stringify({ manifiesto, claves: keys })}).then(({ manifiesto }) => console.log(manifiesto.guia))`
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', codigo])
    expect(stdout.trim()).toBe(guia)
  })

  it('refuses the manifest with any one character changed, taken away or added', async () => {
    const seen = new Map<string, number>()
    for (let i = 0; i < manifiesto.length; i++) {
      // The neighbour in the alphabet differs in the last bit: at the end of a part that bit may mean nothing.
      const letter = manifiesto[i]!
      const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const other = letter === '.' ? 'A' : ALPHABET[ALPHABET.indexOf(letter) ^ 1]!
      const codigo = await codigoOf({ manifiesto: manifiesto.slice(0, i) + other + manifiesto.slice(i + 1) })
      seen.set(codigo, (seen.get(codigo) ?? 0) + 1)
      if (i % 7 === 0) await codigoOf({ manifiesto: manifiesto.slice(0, i) + manifiesto.slice(i + 1) })
    }
    expect([...seen.values()].reduce((a, b) => a + b)).toBe(manifiesto.length)
    expect(seen.get('firma')).toBeGreaterThan(500)
    for (const more of ['=', '==', ' ', '\n', 'A', '.', '.AAAA']) await codigoOf({ manifiesto: manifiesto + more })
    for (const more of [' ', '\uFEFF', 'A', '.']) await codigoOf({ manifiesto: more + manifiesto })
  })

  it('refuses files that were altered, cut, or are another proof’s', async () => {
    for (const [i, bytes] of archivos.entries()) {
      for (const place of [0, bytes.length >> 1, bytes.length - 1]) {
        const other = bytes.slice()
        other[place]! ^= 1
        const all = archivos.with(i, other)
        expect(await codigoOf({ archivos: all })).toBe('archivo')
      }
      expect(await codigoOf({ archivos: [bytes.slice(0, -1)] })).toBe('archivo')
      expect(await codigoOf({ archivos: [Buffer.concat([bytes, Buffer.from('\n')])] })).toBe('archivo')
    }
    for (const nothing of [new Uint8Array(), 'texto', null, {}])
      expect(await codigoOf({ archivos: [nothing] })).toBe('archivo')
    expect(await codigoOf({ guia: '000000000000' })).toBe('guia')
  })

  it('believes no key but the ones it is given', async () => {
    const foreign = await firmado()
    // What they signed is good for their key and for no other.
    expect((await verificarPrueba(foreign)).manifiesto.guia).toBe(guia)
    expect(await codigoOf({ manifiesto: foreign.manifiesto })).toBe('clave_desconocida')
    expect(await codigoOf({ claves: foreign.claves })).toBe('clave_desconocida')
    const [foreignKey] = foreign.claves.keys
    const { kid } = keys.keys[0]!
    expect(await codigoOf({ claves: { keys: [{ ...foreignKey, kid }] } })).toBe('firma')
    expect(await codigoOf({ ...(await firmado({ jwsHeader: { kid } })), claves: keys })).toBe('firma')
    for (const badCases of [undefined, null, {}, [], 'x', { keys: {} }])
      expect(await codigoOf({ claves: badCases })).toBe('claves')
    for (const bad of [
      { kty: 'EC' },
      { crv: 'X25519' },
      { crv: 'Ed448' },
      { x: 'AAAA' },
      { x: 7 },
      { x: `${keys.keys[0]!.x}=` },
    ])
      expect(await codigoOf({ claves: { keys: [{ ...keys.keys[0], ...bad }] } })).toBe('claves')
    expect(await codigoOf({ claves: { keys: [null, 'x'] } })).toBe('clave_desconocida')
  })

  it('lets the manifest choose neither algorithm nor meaning', async () => {
    for (const jwsHeader of [
      ...['none', 'None', 'HS256', 'RS256', 'ES256', 'Ed448', 'EDDSA', '', null, 7, undefined].map((alg) => ({ alg })),
      ...['JWT', 'prueba-entrega+jwt', '', null, undefined].map((typ) => ({ typ })),
      { crit: ['b64'], b64: false },
    ])
      expect([jwsHeader, await codigoOf(await firmado({ jwsHeader }))]).toEqual([jwsHeader, 'algoritmo'])
    // The public key as the secret of an HMAC: the oldest of these tricks.
    const secret = Buffer.from(keys.keys[0]!.x, 'base64url')
    const hmac = await new CompactSign(Buffer.from(manifiesto.split('.')[1]!, 'base64url'))
      .setProtectedHeader({ alg: 'HS256', kid: keys.keys[0]!.kid, typ: 'prueba-entrega+jws' })
      .sign(secret)
    expect(await codigoOf({ manifiesto: hmac })).toBe('algoritmo')
    const [head, body] = manifiesto.split('.')
    expect(await codigoOf({ manifiesto: `${head}.${body}.` })).toBe('manifiesto_ilegible')
    expect(await codigoOf({ manifiesto: `${head}.${body}.${'A'.repeat(86)}` })).toBe('firma')
    for (const kid of [undefined, '', 7, null])
      expect(await codigoOf(await firmado({ jwsHeader: { kid } }))).toBe('manifiesto_ilegible')
    // The newer name of the same algorithm is good, so that the service may go over to it.
    await verificarPrueba(await firmado({ jwsHeader: { alg: 'Ed25519' } }))
  })

  it('knows what is no manifest', async () => {
    const good = JSON.parse(Buffer.from(manifiesto.split('.')[1]!, 'base64url').toString())
    for (const contenido of [
      null,
      [],
      'texto',
      {},
      { ...good, version: 2 },
      { ...good, guia: 7 },
      { ...good, archivos: null },
      { ...good, archivos: [null] },
      { ...good, archivos: [{ ...good.archivos[0], sha256: null }] },
    ])
      expect([contenido, await codigoOf(await firmado({ contenido: contenido ?? 'null' }))]).toEqual([
        contenido,
        'contenido',
      ])
    // It may grow.
    await verificarPrueba(await firmado({ contenido: { ...good, nuevo: true } }))
    for (const bad of [null, undefined, 7, '', 'x', 'a.b', 'a.b.c', '..', '{}'])
      expect([bad, await codigoOf({ manifiesto: bad })]).toEqual([bad, 'manifiesto_ilegible'])
  })

  it('says what the environment lacks', async () => {
    const { subtle } = globalThis.crypto
    vi.stubGlobal('crypto', {})
    expect(await codigoOf({})).toBe('entorno')
    vi.stubGlobal('crypto', {
      subtle: { importKey: () => Promise.reject(new DOMException('Unrecognized name', 'NotSupportedError')) },
    })
    expect(await codigoOf({})).toBe('entorno')
    vi.unstubAllGlobals()
    expect(globalThis.crypto.subtle).toBe(subtle)
  })
})

describe('api.guias.clavesPublicas()', () => {
  it('asks for them without the key', async () => {
    const sentRequests: [string, unknown][] = []
    const api = new Guias({
      llave: 'guia_test_secreta',
      baseUrl: environment.url,
      fetch: (url, init) => {
        sentRequests.push([url, init.headers])
        return fetch(url, init)
      },
    })
    expect(await api.guias.clavesPublicas()).toEqual(keys)
    expect(sentRequests.map(([url]) => url)).toEqual([`${environment.url}/.well-known/jwks.json`])
    expect(JSON.stringify(sentRequests)).not.toContain('secreta')
  })
})
