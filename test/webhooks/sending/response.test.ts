import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openHttp, openRawReceiver, responder, useSender } from './sender.ts'

const { send } = useSender()

describe('the status decides', () => {
  test('204: success, with its measures', async () => {
    await using receptor = await openHttp(responder(204))
    const response = await send(receptor.url)
    expect(response).toMatchObject({
      status: 204,
      error: null,
      detalle: null,
      cabeceras: { connection: 'keep-alive' },
      cuerpo: '',
      cuerpo_truncado: false,
      retry_after: null,
      ip: '127.0.0.1',
      tls_ms: null,
    })
    const { dns_ms, conexion_ms, primer_byte_ms, total_ms } = response
    for (const ms of [dns_ms, conexion_ms, primer_byte_ms, total_ms]) {
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBe(Number(ms!.toFixed(1)))
    }
    expect(total_ms).toBeGreaterThanOrEqual(primer_byte_ms!)
    expect(primer_byte_ms).toBeGreaterThanOrEqual(conexion_ms!)
  })

  test('201 with a body', async () => {
    await using receptor = await openHttp(responder(201, '{"recibido":"sí"}'))
    expect(await send(receptor.url)).toMatchObject({
      status: 201,
      error: null,
      cuerpo: '{"recibido":"sí"}',
      cuerpo_truncado: false,
    })
  })

  test.each([300, 301, 302, 303, 307, 308])('%d is not followed', async (status) => {
    await using other = await openHttp(responder(204))
    await using receptor = await openHttp(responder(status, 'allá', { location: other.url }))
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status, error: 'redireccion', cuerpo: 'allá', cabeceras: { location: other.url } })
    expect(response.detalle).toContain('registre la dirección final')
    expect(other.connections()).toBe(0)
  })

  test.each([
    [400, 'rechaza'],
    [401, 'firma'],
    [404, 'admita POST'],
    [410, 'no recibir más'],
    [429, 'menos por segundo'],
    [500, 'registros'],
    [503, 'registros'],
  ])('%d', async (status, remedio) => {
    await using receptor = await openHttp(responder(status, 'algo falló', { 'retry-after': '120' }))
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status, error: 'http', cuerpo: 'algo falló', retry_after: '120' })
    expect(response.detalle).toContain(String(status))
    expect(response.detalle).toContain(remedio)
  })

  test.each([
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    ['-1', '-1'],
    ['mañana', 'ma\u00c3\u00b1ana'],
  ])('Retry-After as it came: %s', async (retryAfter, read) => {
    await using receptor = await openRawReceiver((socket) =>
      socket.end(`HTTP/1.1 429 X\r\nRetry-After: ${retryAfter}\r\nContent-Length: 0\r\n\r\n`),
    )
    expect(await send(receptor.url)).toMatchObject({ status: 429, retry_after: read })
  })

  test('an endless Retry-After is cut to 200 characters', async () => {
    await using receptor = await openHttp(responder(429, '', { 'retry-after': '9'.repeat(5000) }))
    expect((await send(receptor.url)).retry_after).toBe('9'.repeat(200))
  })

  test.each([
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhola\r\n0\r\n\r\n'],
    ['until it closes', '\r\nhola'],
    ['of a known length', 'Content-Length: 4\r\n\r\nhola'],
  ])('a body %s', async (_case, rest) => {
    await using receptor = await openRawReceiver((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`))
    expect(await send(receptor.url)).toMatchObject({ status: 200, cuerpo: 'hola', cuerpo_truncado: false })
  })
})

describe('the stored part of the answer', () => {
  test.each([
    [16_383, 16_383, false],
    [16_384, 16_384, false],
    [16_385, 16_384, true],
    [300_000, 16_384, true],
  ])('%d bytes of body', async (bytes, guardados, truncado) => {
    await using receptor = await openHttp(responder(200, 'x'.repeat(bytes)))
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: 200, error: null, cuerpo_truncado: truncado })
    expect(response.cuerpo).toBe('x'.repeat(guardados))
  })

  test('an endless body is left at once', async () => {
    let writtenDays = 0
    await using receptor = await openHttp((_req, res) => {
      const follow = () => {
        while (!res.destroyed && writtenDays < 1e9 && res.write('x'.repeat(65_536))) writtenDays += 65_536
      }
      res.on('drain', follow)
      follow()
    })
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: 200, error: null, cuerpo_truncado: true })
    expect(response.cuerpo).toHaveLength(16_384)
    await expect.poll(() => receptor.openSockets.size).toBe(0)
    expect(writtenDays).toBeLessThan(1e8)
  })

  test('nothing is inflated', async () => {
    const bomba = gzipSync(Buffer.alloc(50_000_000))
    const smallBody = gzipSync('hola')
    let body = bomba
    await using receptor = await openHttp((req, res) => responder(200, body, { 'content-encoding': 'gzip' })(req, res))
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: 200, cuerpo_truncado: true })
    expect(response.cuerpo!.length).toBeLessThanOrEqual(16_384)
    expect(response.cuerpo!.slice(0, 2)).toBe('\u001f\ufffd')
    body = smallBody
    expect((await send(receptor.url)).cuerpo).toBe(smallBody.toString('utf8').replaceAll('\0', ''))
  })

  test.each([
    ['invalid UTF-8', Buffer.from('a\xffb\xc3', 'latin1'), 'a\ufffdb\ufffd'],
    ['NUL', Buffer.from('a\0b\0'), 'ab'],
    ['a whole character', Buffer.from('ñ\u{1f69a}'), 'ñ\u{1f69a}'],
  ])('%s', async (_case, bytes, text) => {
    await using receptor = await openHttp(responder(200, bytes))
    expect((await send(receptor.url)).cuerpo).toBe(text)
  })

  test('a character that the limit cuts in two is left out', async () => {
    await using receptor = await openHttp(responder(200, `x${'ñ'.repeat(10_000)}`))
    expect((await send(receptor.url)).cuerpo).toBe(`x${'ñ'.repeat(8191)}`)
  })

  test('headers: secrets hidden, lower case, repeated ones joined', async () => {
    await using receptor = await openRawReceiver((socket) =>
      socket.end(
        [
          'HTTP/1.1 200 OK',
          'Set-Cookie: a=1',
          'Set-Cookie: b=2',
          'Authorization: Basic x',
          'WWW-Authenticate: Basic',
          'Proxy-Authenticate: Basic',
          'X-Api-Key: abc',
          'X-Access-TOKEN: abc',
          'x-client-secret: abc',
          'X-Cookie-2: abc',
          'X-Nota: uno',
          'X-Nota: dos',
          'X-Vacia:',
          '__proto__: raro',
          'Content-Length: 0\r\n\r\n',
        ].join('\r\n'),
      ),
    )
    const { cabeceras: headers } = await send(receptor.url)
    const hiddenHeaders = ['set-cookie', 'authorization', 'www-authenticate', 'proxy-authenticate', 'x-api-key']
    for (const name of [...hiddenHeaders, 'x-access-token', 'x-client-secret', 'x-cookie-2']) {
      expect(headers![name]).toBe('***')
    }
    expect(headers).toMatchObject({ 'x-nota': 'uno,dos', 'x-vacia': '' })
    expect(Object.getOwnPropertyDescriptor(headers, '__proto__')?.value).toBe('raro')
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype)
  })

  test('headers: 40 and 4 KB at most', async () => {
    const manyHeaders = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-${i}`, 'v']))
    const longValues = {
      'x-larga': 'l'.repeat(5000),
      ...Object.fromEntries([1, 2, 3].map((i) => [`y-${i}`, 'v'.repeat(2000)])),
    }
    await using receptor = await openHttp((req, res) => {
      res.writeHead(200, req.url === '/muchas' ? manyHeaders : longValues).end()
    })
    const url = new URL(receptor.url)
    expect(Object.keys((await send(new URL('/muchas', url).href)).cabeceras!)).toHaveLength(40)
    const { cabeceras: headers } = await send(new URL('/largas', url).href)
    expect(Object.keys(headers!)).toEqual(expect.arrayContaining(['y-1', 'y-2', 'connection']))
    expect(headers).not.toHaveProperty('x-larga')
    expect(headers).not.toHaveProperty('y-3')
    expect(Object.entries(headers!).flat().join('').length).toBeLessThanOrEqual(4096)
  })
})
