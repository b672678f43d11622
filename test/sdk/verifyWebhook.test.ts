import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { type CabecerasRecibidas, ErrorFirma, ErrorGuias, firmarWebhook, verificarWebhook } from '@guias/sdk'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fault } from './server.ts'
import { AVISO, headers, ID, mac, motivo, now, OTHER_SECRETO, SECRETO, SIGNED_BODY } from './signatures.ts'

const root = new URL('../../', import.meta.url)

// The second stands still: what is as old as is allowed doesn't grow older while it is looked at.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: now() * 1000 })
})
afterAll(() => {
  vi.useRealTimers()
})

describe('the signature', () => {
  it('gives what was sent, as text, Buffer, part of a buffer, ArrayBuffer', async () => {
    const bytes = Buffer.from(SIGNED_BODY)
    const looseBuffer = Buffer.concat([Buffer.from('xxx'), bytes, Buffer.from('xxx')])
    const isReleased = new Uint8Array(bytes).buffer
    for (const body of [SIGNED_BODY, bytes, looseBuffer.subarray(3, -3), new Uint8Array(isReleased), isReleased]) {
      expect(await verificarWebhook(body, headers(), SECRETO)).toEqual(AVISO)
      expect((await firmarWebhook(body, { id: ID, timestamp: 7, secreto: SECRETO }))['webhook-signature']).toBe(
        mac(SECRETO, ID, 7, SIGNED_BODY),
      )
    }
  })

  it('is taken of the bytes at the call: the caller may use its buffer again', async () => {
    const bytes = Buffer.from(SIGNED_BODY)
    const request = verificarWebhook(bytes, headers(), SECRETO)
    bytes.fill(0)
    expect(await request).toEqual(AVISO)
  })

  const llave = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((b) => `whsec_${Buffer.from(b).toString('base64')}`)
  const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/)
  const datos = fc.record({ tipo: fc.string({ unit: 'grapheme' }), datos: fc.jsonValue() })

  it('agrees with standardwebhooks and svix: what they sign is accepted here, what is signed here they accept', async () => {
    await fc.assert(
      fc.asyncProperty(llave, id, datos, fc.integer({ min: -290, max: 290 }), async (secreto, id, datos, hace) => {
        const body = JSON.stringify(datos)
        const timestamp = now() - hace
        const signedHeaders = await firmarWebhook(body, { id, timestamp, secreto })
        for (const OtherLibrary of [StandardWebhook, Svix]) {
          const other = new OtherLibrary(secreto)
          expect(other.sign(id, new Date(timestamp * 1000), body)).toBe(signedHeaders['webhook-signature'])
          expect(other.verify(body, signedHeaders)).toEqual(JSON.parse(body))
        }
        expect(await verificarWebhook(body, signedHeaders, secreto)).toEqual(JSON.parse(body))
      }),
      { numRuns: 150 },
    )
  })

  it('agrees with them about what is not to be accepted', async () => {
    const items = fc.constantFrom(SECRETO, OTHER_SECRETO)
    const firma = fc.constantFrom('buena', 'de otro', 'v1a', 'sin versión', 'vacía', 'cortada', 'basura')
    await fc.assert(
      fc.asyncProperty(
        items,
        fc.array(firma, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: -400, max: 400 }),
        fc.boolean(),
        async (secret, firmas, hace, altered) => {
          const timestamp = now() - hace
          const goodSignature = mac(secret, ID, timestamp, SIGNED_BODY)
          const asSpecified: Record<string, string> = {
            buena: goodSignature,
            'de otro': mac(`whsec_${Buffer.alloc(32, 7).toString('base64')}`, ID, timestamp, SIGNED_BODY),
            v1a: goodSignature.replace('v1,', 'v1a,'),
            'sin versión': goodSignature.slice(3),
            vacía: 'v1,',
            cortada: goodSignature.slice(0, -2),
            basura: 'v1,ñ=,=',
          }
          const all = headers({ 'webhook-signature': firmas.map((f) => asSpecified[f]).join(' ') }, timestamp)
          const body = altered ? SIGNED_BODY.replace('entregado', 'devuelto!') : SIGNED_BODY
          const accepts = async (act: () => unknown) => {
            try {
              await act()
              return true
            } catch {
              return false
            }
          }
          const projectResult = await accepts(() => verificarWebhook(body, all, secret))
          expect(projectResult).toBe(await accepts(() => new StandardWebhook(secret).verify(body, all)))
          expect(projectResult).toBe(await accepts(() => new Svix(secret).verify(body, all)))
          expect(projectResult).toBe(firmas.includes('buena') && Math.abs(hace) <= 300 && !altered)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('fails with one bit of the body changed, wherever', async () => {
    const goodHeaders = headers()
    const bytes = Buffer.from(SIGNED_BODY)
    for (let i = 0; i < bytes.length; i++) {
      const altered = Buffer.from(bytes)
      altered[i]! ^= 1 << (i % 8)
      expect(await motivo(altered, goodHeaders, SECRETO), `byte ${i}`).toBe('firma')
    }
    for (const other of [bytes.subarray(1), bytes.subarray(0, -1), Buffer.concat([bytes, Buffer.from(' ')])]) {
      expect(await motivo(other, goodHeaders, SECRETO)).toBe('firma')
    }
  })

  it('fails with one character of the signature, the id or the time changed, wherever', async () => {
    const timestamp = now() - 10
    const goodHeaders = headers({}, timestamp)
    for (const name of ['webhook-signature', 'webhook-id', 'webhook-timestamp'] as const) {
      for (let i = 0; i < goodHeaders[name].length; i++) {
        const letter = goodHeaders[name][i] as string
        // Also the last character before `=`, of whose bits base64 ignores two.
        const other = /\d/.test(letter) ? String((Number(letter) + 1) % 10) : letter === 'B' ? 'A' : 'B'
        const alteredText = goodHeaders[name].slice(0, i) + other + goodHeaders[name].slice(i + 1)
        expect(['firma', 'marca_de_tiempo']).toContain(
          await motivo(SIGNED_BODY, { ...goodHeaders, [name]: alteredText }, SECRETO),
        )
      }
    }
    const canonicalFirma = goodHeaders['webhook-signature']
    for (const other of [
      `${canonicalFirma}=`,
      canonicalFirma.slice(0, -1),
      canonicalFirma.replace(/\+/g, '-').replace(/\//g, '_').slice(0, -1),
      `${canonicalFirma},`,
    ]) {
      expect(await motivo(SIGNED_BODY, { ...goodHeaders, 'webhook-signature': other }, SECRETO)).toBe('firma')
    }
  })

  it('may be one of several, and only of version v1', async () => {
    const timestamp = now()
    const headersWith = (firma: string) => headers({ 'webhook-signature': firma }, timestamp)
    const [good, foreign] = [mac(SECRETO, ID, timestamp, SIGNED_BODY), mac(OTHER_SECRETO, ID, timestamp, SIGNED_BODY)]
    for (const firma of [
      `${foreign} ${good}`,
      `${good} ${foreign}`,
      `v1a,xyz ${good}`,
      `${good}  v2,x`,
      `${foreign}, ${good}`,
      `${good}, ${foreign}`,
    ]) {
      expect(await verificarWebhook(SIGNED_BODY, headersWith(firma), SECRETO), firma).toEqual(AVISO)
    }
    const loneSignatures = ['v1a,', 'v2,', 'V1,', 'v1', '', ',', 'v1=', 'v1,v1,'].map((v) => good.replace('v1,', v))
    for (const firma of [foreign, ...loneSignatures, ' '])
      expect(await motivo(SIGNED_BODY, headersWith(firma), SECRETO), firma).toBe('firma')
  })

  it('takes several secrets, and signs with several, as in a rotation', async () => {
    expect(await verificarWebhook(SIGNED_BODY, headers(), [OTHER_SECRETO, SECRETO])).toEqual(AVISO)
    expect(await verificarWebhook(SIGNED_BODY, headers(), [` ${SECRETO}\n`])).toEqual(AVISO)
    expect(await motivo(SIGNED_BODY, headers(), OTHER_SECRETO)).toBe('firma')
    const dos = await firmarWebhook(SIGNED_BODY, { id: ID, secreto: [OTHER_SECRETO, SECRETO] })
    expect(dos['webhook-signature'].split(' ')).toHaveLength(2)
    for (const secret of [SECRETO, OTHER_SECRETO]) {
      expect(await verificarWebhook(SIGNED_BODY, dos, secret)).toEqual(AVISO)
      expect(new StandardWebhook(secret).verify(SIGNED_BODY, dos)).toEqual(AVISO)
    }
  })
})

describe('the time', () => {
  it('may differ by 300 s either way, or by what is said', async () => {
    const t = 1_795_187_045
    const headersWith = (seconds: number, options = {}) =>
      [SIGNED_BODY, headers({}, t), SECRETO, { ahora: new Date((t + seconds) * 1000), ...options }] as const
    for (const seconds of [-300, -1, 0, 1, 300]) expect(await verificarWebhook(...headersWith(seconds))).toEqual(AVISO)
    for (const seconds of [-301, 301, 86_400]) expect(await motivo(...headersWith(seconds))).toBe('marca_de_tiempo')
    expect(await verificarWebhook(...headersWith(1000, { toleranciaSegundos: 1000 }))).toEqual(AVISO)
    expect(await verificarWebhook(...headersWith(1e9, { toleranciaSegundos: Infinity }))).toEqual(AVISO)
    expect(await verificarWebhook(...headersWith(0, { toleranciaSegundos: 0 }))).toEqual(AVISO)
    expect(await motivo(...headersWith(1, { toleranciaSegundos: 0 }))).toBe('marca_de_tiempo')
    expect((await fault<ErrorFirma>(verificarWebhook(...headersWith(600)))).message).toContain('hace 600 s')
    expect((await fault<ErrorFirma>(verificarWebhook(...headersWith(-600)))).message).toContain('600 s en el futuro')
  })

  it.each([
    '1795187045.5',
    '1.8e9',
    ' 1795187045',
    '-1795187045',
    '+1795187045',
    '0x6B00B0E5',
    '01795187045',
    'hoy',
    '1795187045123456',
    'NaN',
    '1795187045, 1795187045',
  ])('is a whole number of seconds, not %j', async (timestamp) => {
    const options = { toleranciaSegundos: Infinity }
    expect(await motivo(SIGNED_BODY, headers({}, timestamp), SECRETO, options)).toBe('marca_de_tiempo')
  })

  it('never passes because an option is not one', async () => {
    for (const options of [
      { toleranciaSegundos: Number.NaN },
      { toleranciaSegundos: -1 },
      { toleranciaSegundos: 'mucho' as never },
      { ahora: new Date('nunca') },
    ]) {
      const error = await fault<ErrorFirma>(verificarWebhook(SIGNED_BODY, headers(), SECRETO, options))
      expect(error).toBeInstanceOf(ErrorGuias)
      expect(error).not.toBeInstanceOf(ErrorFirma)
    }
  })
})

describe('the headers', () => {
  const goodHeaders = headers()
  const {
    'webhook-id': webhookId,
    'webhook-timestamp': webhookTimestamp,
    'webhook-signature': webhookSignature,
  } = goodHeaders
  const pairs = Object.entries(goodHeaders) as [string, string][]
  it.each<[string, CabecerasRecibidas]>([
    ['Headers', new Headers(goodHeaders)],
    ['a Map', new Map(pairs)],
    ['pairs', pairs],
    [
      'another case',
      { 'Webhook-Id': webhookId, 'WEBHOOK-TIMESTAMP': webhookTimestamp, 'webhook-Signature': webhookSignature },
    ],
    [
      'lists, as in Lambda',
      {
        'webhook-id': [webhookId],
        'webhook-timestamp': [webhookTimestamp],
        'webhook-signature': ['v1,x', webhookSignature],
      },
    ],
    ['others that are undefined', { ...goodHeaders, host: undefined, 'set-cookie': ['a', 'b'] }],
    ['no prototype', Object.assign(Object.create(null), goodHeaders)],
    ['pairs of a signature that came twice', [...pairs, ['Webhook-Signature', 'v1,x']]],
  ])('come as %s', async (_, asSpecified) => {
    expect(await verificarWebhook(SIGNED_BODY, asSpecified, SECRETO)).toEqual(AVISO)
  })

  it('come as node:http gives them', async () => {
    const arrivals = await new Promise<IncomingMessage>((listo) => {
      const server = createServer((req, res) => {
        listo(req)
        res.end(() => server.close())
      }).listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo
        request({
          port,
          host: '127.0.0.1',
          method: 'POST',
          headers: { ...goodHeaders, 'webhook-signature': ['v1,x', webhookSignature] },
        }).end()
      })
    })
    expect(await verificarWebhook(SIGNED_BODY, arrivals.headers, SECRETO)).toEqual(AVISO)
  })

  it.each(Object.keys(goodHeaders))('fail without %s', async (name) => {
    for (const value of [undefined, '']) {
      const error = await fault<ErrorFirma>(verificarWebhook(SIGNED_BODY, { ...goodHeaders, [name]: value }, SECRETO))
      expect([error.motivo, error.message.includes(name)]).toEqual(['cabecera_ausente', true])
    }
  })

  it('fail when there are none, or an id came twice', async () => {
    for (const nothing of [{}, [], new Headers(), undefined, null, 'webhook-id', 7, [['a']]]) {
      expect(await motivo(SIGNED_BODY, nothing as never, SECRETO)).toBe('cabecera_ausente')
    }
    expect(await motivo(SIGNED_BODY, [...pairs, ['webhook-id', ID]], SECRETO)).toBe('firma')
    expect(await motivo(SIGNED_BODY, [...pairs, ['webhook-timestamp', webhookTimestamp]], SECRETO)).toBe(
      'marca_de_tiempo',
    )
  })
})

describe('the body and the secret', () => {
  it.each<[string, unknown, string]>([
    ['an object, as express.json() gives it', AVISO, 'ya leído'],
    ['an empty object, as express.raw() gives it for another type', {}, 'ya leído'],
    ['a list', [AVISO], 'ya leído'],
    ['an object made text', String(AVISO), 'ya leído'],
    ['nothing', undefined, 'no llegó'],
    ['null', null, 'no llegó'],
  ])('%s is told from a wrong signature', async (_, body, dice) => {
    for (const act of [
      () => verificarWebhook(body as never, headers(), SECRETO),
      () => firmarWebhook(body as never, { id: ID, secreto: SECRETO }),
    ]) {
      const error = await fault<ErrorFirma>(act())
      expect([error.name, error.motivo]).toEqual(['ErrorFirma', 'cuerpo'])
      expect(error.message).toContain(dice)
      expect(error.message).toContain('express.raw')
    }
  })

  it('written anew from what was parsed is another body, and the message says so', async () => {
    const error = await fault<ErrorFirma>(verificarWebhook(JSON.stringify(AVISO, null, 2), headers(), SECRETO))
    expect(error.motivo).toBe('firma')
    expect(error.message).toContain('JSON.stringify')
  })

  it.each<[string, Uint8Array | string]>([
    ['no JSON', 'hola'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['without tipo', '{"id":"evt_1"}'],
    ['bytes that are no UTF-8', Buffer.concat([Buffer.from('{"tipo":"'), Buffer.of(0xff), Buffer.from('"}')])],
  ])('well signed, but %s', async (_, body) => {
    const signedHeaders = await firmarWebhook(body, { id: ID, secreto: SECRETO })
    expect(await motivo(body, signedHeaders, SECRETO)).toBe('cuerpo')
  })

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['empty', ''],
    ['a list of none', []],
    ['a list with a gap', [SECRETO, undefined]],
    ['an API key', 'guia_live_abcdefghijklmnopqrstuvwxyz'],
    ['without its prefix', SECRETO.slice(6)],
    ['with another prefix', `llave_${SECRETO.slice(6)}`],
    ['in quotes', `"${SECRETO}"`],
    ['cut short', SECRETO.slice(0, 30)],
    ['not base64', 'whsec_ñandú ñandú ñandú ñandú ñandú ñandú'],
    ['too long', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['a number', 7],
  ])('a secret that is %s is told from a wrong signature, and not shown', async (_, secret) => {
    for (const act of [
      () => verificarWebhook(SIGNED_BODY, headers(), secret as never),
      () => firmarWebhook(SIGNED_BODY, { id: ID, secreto: secret as never }),
    ]) {
      const error = await fault<ErrorFirma>(act())
      expect([error.name, error.motivo]).toEqual(['ErrorFirma', 'secreto'])
      if (typeof secret === 'string' && secret) expect(inspect(error)).not.toContain(secret.replace(/^"?whsec_/, ''))
    }
  })

  it('signs only what can be sent', async () => {
    for (const bad of [
      { id: '' },
      { id: 'a b' },
      { id: 'ñ' },
      { id: 7 as never },
      { timestamp: 1.5 },
      { timestamp: -1 },
      { timestamp: Number.NaN },
    ]) {
      expect(await fault(firmarWebhook(SIGNED_BODY, { id: ID, secreto: SECRETO, ...bad }))).toMatchObject({
        name: 'ErrorGuias',
      })
    }
    expect((await firmarWebhook(SIGNED_BODY, { id: ID, secreto: SECRETO }))['webhook-timestamp']).toBe(`${now()}`)
  })
})

describe('verificarWebhook outside Node', () => {
  it('verifies with nothing but what the web has, in another realm', async () => {
    const codigo = await readFile(new URL('sdk/dist/index.cjs', root), 'utf8')
    const { crypto, TextEncoder, TextDecoder, atob, btoa, Headers, URL: Url, Request, Response } = globalThis
    const module = { exports: {} as typeof import('@guias/sdk') }
    const web = { crypto, TextEncoder, TextDecoder, atob, btoa, Headers, URL: Url, Request, Response, module }
    runInContext(`((exports) => {${codigo}\n})(module.exports)`, createContext(web))
    const signedHeaders = await module.exports.firmarWebhook(SIGNED_BODY, { id: ID, secreto: SECRETO })
    for (const body of [SIGNED_BODY, Buffer.from(SIGNED_BODY), new Uint8Array(Buffer.from(SIGNED_BODY)).buffer]) {
      expect(JSON.stringify(await module.exports.verificarWebhook(body, new Headers(signedHeaders), [SECRETO]))).toBe(
        SIGNED_BODY,
      )
    }
  })

  it('says so where there is no WebCrypto', async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'crypto') as PropertyDescriptor
    Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true })
    try {
      expect((await fault<ErrorFirma>(verificarWebhook(SIGNED_BODY, headers(), SECRETO))).message).toContain(
        'WebCrypto',
      )
    } finally {
      Object.defineProperty(globalThis, 'crypto', before)
    }
  })
})
