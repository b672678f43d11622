import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createCertificate, encodeIpName } from '../certificate.ts'
import { findFreePort } from '../ports.ts'
import { ENDLESS_HEADER, useSdkWithClock } from './clock.ts'
import { GUIA, json, partialSignIn, useFakeServer } from './server.ts'

const { sdk, clock, fetch } = useSdkWithClock()
const { ErrorConexion, ErrorTiempo } = sdk
const server = useFakeServer({ fetch }, sdk)
const { client, respondWith: answer, faultWith } = server

describe('connection and time', () => {
  it('cut before the answer', async () => {
    const error = await faultWith(ErrorConexion, (res) => res.destroy())
    expect(error.name).toBe('ErrorConexion')
    expect(error.message).toContain(server.baseUrl)
    expect(error.message).toContain('external_ref')
    expect(error.cause).toBeInstanceOf(Error)
    expect([error.pudoLlegar, error.message]).toEqual([true, expect.stringContaining('pudo haber recibido')])
  })

  it.each([201, 404])('cut in the middle of a %i', async (status) => {
    const error = await faultWith(ErrorConexion, partialSignIn(status))
    expect(error.name).toBe('ErrorConexion')
  })

  const nobody = async () => `http://127.0.0.1:${await findFreePort()}`
  const ofCipher = () => server.baseUrl.replace('http:', 'https:')
  it.each([
    ['nobody listens', nobody, 'ECONNREFUSED'],
    ['nobody listens at any address of a name', async () => `http://localhost:${await findFreePort()}`, 'ECONNREFUSED'],
    ['a name that nobody has', () => 'http://no-existe.invalid', /ENOTFOUND|EAI_AGAIN/],
    ['a port that fetch leaves alone', () => 'http://127.0.0.1:22', 'bad port'],
    ['https where http is spoken', ofCipher, 'wrong version number'],
  ])('%s: it says where and why, and that nothing was received', async (_, place, explanation) => {
    const baseUrl = await place()
    const error = await faultWith(ErrorConexion, () => {}, { baseUrl })
    expect(error.pudoLlegar).toBe(false)
    expect(error.message).toContain(`No se pudo conectar con ${baseUrl}: `)
    expect(error.message).toMatch(explanation)
    expect(error.message).toContain('La solicitud no llegó a enviarse.')
    expect(error.message).not.toContain('pudo haber recibido')
  })

  it('a certificate that nobody vouches for: nothing was received', async () => {
    const received: string[] = []
    const listener = createServer(createCertificate([encodeIpName(127, 0, 0, 1)]), (req) =>
      received.push(String(req.url)),
    )
    await new Promise<void>((listo) => listener.listen(0, '127.0.0.1', listo))
    try {
      const { port } = listener.address() as AddressInfo
      const error = await faultWith(ErrorConexion, () => {}, { baseUrl: `https://127.0.0.1:${port}` })
      expect([error.pudoLlegar, received]).toEqual([false, []])
    } finally {
      listener.close()
    }
  })

  it.each([
    [
      'Node, cut in the handshake',
      new TypeError('fetch failed', {
        cause: Object.assign(
          new Error('Client network socket disconnected before secure TLS connection was established'),
          { code: 'ECONNRESET' },
        ),
      }),
    ],
    [
      'Node, slow to connect',
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
      }),
    ],
    [
      'Bun',
      Object.assign(new Error('Unable to connect. Is the computer able to access the url?'), {
        code: 'ConnectionRefused',
      }),
    ],
    [
      'Deno',
      new TypeError(
        'error sending request for url (http://127.0.0.1:9/): client error (Connect): tcp connect error: Connection refused (os error 111)',
      ),
    ],
  ])('knows that nothing was received by the words of %s', async (_, causa) => {
    const error = await faultWith(ErrorConexion, () => {}, { fetch: () => Promise.reject(causa) })
    expect(error.pudoLlegar).toBe(false)
  })

  it.each([
    ['a page', new TypeError('Failed to fetch')],
    [
      'a TLS alert after the handshake',
      Object.assign(new Error('tlsv13 alert certificate required'), {
        code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      }),
    ],
    [
      'a socket that was closed',
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
      }),
    ],
  ])('believes nothing of the sort of %s', async (_, causa) => {
    const error = await faultWith(ErrorConexion, () => {}, { fetch: () => Promise.reject(causa) })
    expect(error.pudoLlegar).toBe(true)
  })

  it.each([
    ['no answer', () => clock.jumpToNext()],
    [
      'a body that never ends',
      (res: ServerResponse) => res.writeHead(200, { 'Content-Type': 'application/json', ...ENDLESS_HEADER }).write('{'),
    ],
    ['an error whose body never ends', (res: ServerResponse) => res.writeHead(500, ENDLESS_HEADER).write('{')],
  ])('gives up on %s, and hangs up', async (_, response) => {
    let hangingRequest: Promise<unknown> | undefined
    const start = clock.now
    const error = await faultWith(
      ErrorTiempo,
      (res) => {
        hangingRequest = once(res, 'close')
        response(res)
      },
      { tiempoLimite: 60 },
    )
    expect(error).toBeInstanceOf(ErrorConexion)
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 60, message: expect.stringContaining('60 ms') })
    expect(clock.now - start).toBe(60)
    expect(await hangingRequest).toBeDefined()
  })

  it('gives up on a fetch that ignores the signal', async () => {
    const hangForever = () => {
      setImmediate(clock.jumpToNext)
      return new Promise<never>(() => {})
    }
    await faultWith(ErrorTiempo, () => {}, { tiempoLimite: 30, fetch: hangForever })
  })

  it.each([5000, Infinity, 2 ** 40])('waits for a slow answer within the time: %s', async (tiempoLimite) => {
    answer((res) => {
      clock.avanzar(4_999)
      json(200, GUIA)(res)
    })
    expect(await client({ tiempoLimite }).guias.obtener('A')).toEqual(GUIA)
  })
})
