import type net from 'node:net'
import { describe, expect, test } from 'vitest'
import type { ExchangeResult } from '../../../server/domain/webhooks/attempt.ts'
import { createSender } from '../../../server/domain/webhooks/sending/sender.ts'
import { dripText, EMPTY_RESPONSE, openHttp, openRawReceiver, responder, useSender } from './sender.ts'

const { send, deadlines, expireAll } = useSender()

test('the request arrives as it was signed, byte by byte', async () => {
  const received: unknown[] = []
  await using receptor = await openHttp(async (req, res) => {
    const { method, url, headers } = req
    received.push({ method, url, headers, body: Buffer.concat(await req.toArray()).toString() })
    res.writeHead(204).end()
  })
  const response = await send(`${receptor.url}?a=%20ñ`, {
    cabeceras: { 'content-type': 'application/json', 'webhook-id': 'evt_1' },
    cuerpo: '{"ñ":"\u{1f69a}"}',
  })
  expect(response.status).toBe(204)
  expect(received).toEqual([
    {
      method: 'POST',
      url: '/hooks?a=%20%C3%B1',
      headers: {
        host: `127.0.0.1:${receptor.port}`,
        connection: 'keep-alive',
        'content-type': 'application/json',
        'webhook-id': 'evt_1',
        'accept-encoding': 'identity',
        'content-length': '13',
      },
      body: '{"ñ":"\u{1f69a}"}',
    },
  ])
})

describe('bounded in time', () => {
  const agotado = (response: ExchangeResult) =>
    expect(response).toMatchObject({ status: null, error: 'tiempo_agotado', cabeceras: null, cuerpo: null })
  /** What a receiver does that goes on for ever; the deadline passes once five drops have had time to arrive. */
  const drip =
    (text: string, start = '') =>
    (socket: net.Socket) =>
      dripText(socket, text, start, (dropCount) => dropCount === 6 && expireAll())
  /** Drops of nothing. */
  const silence = (start = '') => drip('', start)

  test.each<[string, (socket: net.Socket) => void]>([
    ['no answer', silence()],
    ['half a status line', silence('HTTP/1.')],
    ['half a header', silence('HTTP/1.1 200 OK\r\nContent-')],
    ['headers that drip', drip('X-A: b\r\n', 'HTTP/1.1 200 OK\r\n')],
    ['a header that drips', drip('a', 'HTTP/1.1 200 OK\r\nX-A: ')],
    ['a reason that drips', drip('a', 'HTTP/1.1 200 ')],
    ['empty lines that drip', drip('\r\n')],
    ['1xx and then nothing', silence('HTTP/1.1 102 Processing\r\n\r\n')],
    ['100 and then nothing', silence('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('%s', async (_case, handle) => {
    await using receptor = await openRawReceiver(handle)
    const response = await send(receptor.url)
    agotado(response)
    expect(response.ip).toBe('127.0.0.1')
    expect(response.detalle).toContain('respuesta')
    await expect.poll(() => receptor.openSockets.size).toBe(0)
    expect(receptor.connections()).toBe(1)
  })

  test('a name that takes too long', async () => {
    const slow = createSender({ resolver: () => new Promise(() => {}) })
    const pending = send('http://localhost:9/', {}, slow)
    expireAll()
    const response = await pending
    agotado(response)
    expect(response.detalle).toContain('nombre')
    await slow.close()
  })

  test('a body that drips: what came counts', async () => {
    await using receptor = await openRawReceiver(drip('a', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'))
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: 200, error: null, detalle: null, cuerpo_truncado: true })
    expect(response.cuerpo).toMatch(/^a{3,100}$/)
    // The answer had begun well before the deadline.
    expect(response.primer_byte_ms).toBeLessThan(response.total_ms)
    await expect.poll(() => receptor.openSockets.size).toBe(0)
  })

  test('a body that stops, with an error status', async () => {
    await using receptor = await openRawReceiver(silence('HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\nfal'))
    expect(await send(receptor.url)).toMatchObject({
      status: 500,
      error: 'http',
      cuerpo: 'fal',
      cuerpo_truncado: true,
    })
  })

  test('a second try has no deadline of its own', async () => {
    await using receptor = await openRawReceiver((socket, solicitudes) => {
      if (receptor.connections() > 1) return
      if (solicitudes === 1) socket.write(EMPTY_RESPONSE)
      else socket.destroy()
    })
    expect((await send(receptor.url)).status).toBe(204)
    const pending = send(receptor.url)
    await expect.poll(() => receptor.connections()).toBe(2)
    expect(deadlines()).toBe(1)
    expireAll()
    agotado(await pending)
    expect(receptor.connections()).toBe(2)
  })

  test('fifty that hang delay no other', async () => {
    await using hangingReceiver = await openRawReceiver(() => {})
    await using fastServer = await openHttp(responder(204))
    const hangingExchanges = Array.from({ length: 50 }, (_, i) => send(hangingReceiver.url, { canal: `c${i}` }))
    const fastResults = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send(fastServer.url, { canal: `r${i}` })),
    )
    for (const { status } of fastResults) expect(status).toBe(204)
    expect(deadlines()).toBe(50)
    expireAll()
    for (const response of await Promise.all(hangingExchanges)) expect(response.error).toBe('tiempo_agotado')
  })
})

describe('the network fails', () => {
  test('a port where nobody listens', async () => {
    const receptor = await openHttp(responder(204))
    await receptor[Symbol.asyncDispose]()
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: null, error: 'conexion', ip: null, conexion_ms: null, cuerpo: null })
    expect(response.detalle).toContain('rechazó la conexión')
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closes at once', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['closes in the middle of its headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-')],
  ])('%s: one try on a fresh connection', async (_case, handle) => {
    await using receptor = await openRawReceiver(handle)
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: null, error: 'conexion', ip: '127.0.0.1', cuerpo: null })
    expect(response.detalle).toContain('cerró la conexión')
    expect(receptor.connections()).toBe(1)
  })

  test('closes in the middle of its body: the status decides', async () => {
    await using receptor = await openRawReceiver((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhola'),
    )
    expect(await send(receptor.url)).toMatchObject({
      status: 200,
      error: null,
      cuerpo: 'hola',
      cuerpo_truncado: true,
    })
  })
})

describe('answers that are not HTTP/1.1', () => {
  test.each([
    ['SSH', 'SSH-2.0-OpenSSH_9.9\r\n', 'HTTP/1.1'],
    ['HTTP/0.9', '<html>hola</html>', 'HTTP/1.1'],
    ['binary', '\x16\x03\x01\x02\0\x01', 'HTTP/1.1'],
    ['HTTP/2', '\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64', 'HTTP/1.1'],
    ['a version that does not exist', 'HTTP/7.3 200 OK\r\n\r\n', 'HTTP/1.1'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'HTTP/1.1'],
    ['status 099', 'HTTP/1.1 099 X\r\n\r\n', 'HTTP/1.1'],
    ['an upgrade', 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'HTTP/1.1'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 'HTTP/1.1'],
    ['a header with NUL', 'HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n', 'HTTP/1.1'],
    ['huge headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, '16 KB'],
    ['many headers', `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(5000)}\r\n`, '16 KB'],
    ['endless 1xx', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100), '1xx'],
    ['endless 100', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(100), '1xx'],
    ['100 with a status of four digits', 'HTTP/1.1 1000 OK\r\n\r\n', 'HTTP/1.1'],
  ])('%s', async (_case, bytes, detalle) => {
    await using receptor = await openRawReceiver((socket) => socket.write(bytes, 'latin1'))
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: null, error: 'respuesta_invalida', cabeceras: null, cuerpo: null })
    expect(response.detalle).toContain(detalle)
    await expect.poll(() => receptor.openSockets.size).toBe(0)
    expect(receptor.connections()).toBe(1)
  })

  test('a few 1xx before the answer are fine', async () => {
    await using receptor = await openRawReceiver((socket) =>
      socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 X\r\n\r\n${EMPTY_RESPONSE}`),
    )
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: 204, error: null })
    expect(response.cabeceras).not.toHaveProperty('link')
  })

  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
  test.each([
    ['100', CONTINUE],
    ['100 without a reason', 'HTTP/1.1 100\r\n\r\n'],
    ['100 with headers', 'HTTP/1.1 100 Continue\r\nX: HTTP/1.1 100\r\nDate: x\r\n\r\n'],
    ['several 100', CONTINUE.repeat(3)],
    ['100 after 103', `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${CONTINUE}`],
    ['103 after 100', `${CONTINUE}HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`],
  ])(
    '%s before the answer is skipped, at every request of a connection, in one piece or in many',
    async (_case, before) => {
      const BODY = 'HTTP/1.1 100 Continue\r\n\r\n'
      const bytes = `${before}HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`
      await using receptor = await openRawReceiver((socket, solicitudes) => {
        if (solicitudes === 1) socket.write(bytes)
        else for (const byte of bytes) socket.write(byte)
      })
      for (const _round of [1, 2, 3])
        expect(await send(receptor.url)).toMatchObject({
          status: 200,
          error: null,
          cuerpo: BODY,
          cuerpo_truncado: false,
        })
      expect(receptor.connections()).toBe(1)
    },
  )
})

test('the sender never rejects its promise, for any input', async () => {
  for (const url of ['', 'x', 'ftp://a.b/', 'https://10.0.0.1/', 'http://8.8.8.8/']) {
    const response = await send(url)
    expect(response).toMatchObject({ status: null, error: 'destino_no_permitido', ip: null, dns_ms: null })
    expect(response.detalle).toMatch(/\.$/)
  }
  for (const [name, value] of [
    ['x-a', 'b\r\nc: d'] as const,
    ['mala cabecera', 'x'] as const,
    ['upgrade', 'x'] as const,
  ]) {
    expect(await send('http://127.0.0.1:9/', { cabeceras: { [name]: value } })).toMatchObject({
      status: null,
      error: 'conexion',
    })
  }
  const fallido = createSender({ resolver: () => Promise.reject(new Error('SERVFAIL')) })
  const response = await send('https://recibe.ejemplo.com/', {}, fallido)
  expect(response).toMatchObject({ status: null, error: 'dns', detalle: expect.stringContaining('DNS') })
})
