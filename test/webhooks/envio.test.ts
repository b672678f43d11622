import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Resolver } from '../../server/salida/destino.ts'
import { crearEnviador, type Enviador, type Solicitud } from '../../server/webhooks/envio.ts'
import type { Respuesta } from '../../server/webhooks/respuesta.ts'
import { certificado, type Par, paraIp, paraNombre } from '../certificado.ts'

const PLAZO = 400
const resolverLocal: Resolver = async () => [{ address: '127.0.0.1', family: 4 }]
const pausa = (ms: number) => new Promise((listo) => setTimeout(listo, ms))

let enviador: Enviador
beforeEach(() => {
  enviador = crearEnviador({ resolver: resolverLocal, plazo: PLAZO })
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  await enviador.cerrar()
})

const enviar = (url: string, cambios: Partial<Solicitud> = {}, por = enviador): Promise<Respuesta> =>
  por.enviar({ canal: 'uno', url, cabeceras: {}, cuerpo: '{"a":1}', loopback: true, ...cambios })

// --- Receivers ---

interface Receptor extends AsyncDisposable {
  url: string
  port: number
  /** Connections so far. */
  conexiones(): number
  abiertas: Set<net.Socket>
}

async function escuchar(servidor: net.Server): Promise<Receptor> {
  const abiertas = new Set<net.Socket>()
  let conexiones = 0
  servidor.on('connection', (socket) => {
    conexiones++
    abiertas.add(socket)
    socket.on('error', () => {}).on('close', () => abiertas.delete(socket))
  })
  await once(servidor.listen(0, '127.0.0.1'), 'listening')
  const { port } = servidor.address() as net.AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    port,
    conexiones: () => conexiones,
    abiertas,
    async [Symbol.asyncDispose]() {
      const cerrado = once(servidor, 'close')
      servidor.close()
      for (const socket of abiertas) socket.destroy()
      await cerrado
    },
  }
}

/** A receiver that does what it likes with the socket at every request (each fits in one segment), counted from 1. */
const crudo = (atender: (socket: net.Socket, solicitudes: number) => void): Promise<Receptor> =>
  escuchar(
    net.createServer((socket) => {
      let solicitudes = 0
      socket.on('data', () => atender(socket, ++solicitudes))
    }),
  )

const conHttp = (atender: http.RequestListener): Promise<Receptor> => escuchar(http.createServer(atender))

const responder =
  (status: number, cuerpo: string | Buffer = '', cabeceras: http.OutgoingHttpHeaders = {}): http.RequestListener =>
  (_req, res) =>
    res.writeHead(status, cabeceras).end(cuerpo)

function goteo(socket: net.Socket, texto: string, inicio = ''): void {
  if (inicio) socket.write(inicio)
  const reloj = setInterval(() => socket.write(texto), 20)
  socket.on('close', () => clearInterval(reloj))
}

const VACIA = 'HTTP/1.1 204 No Content\r\n\r\n'

// --- What is sent ---

test('the request arrives as it was signed, byte by byte', async () => {
  const recibido: unknown[] = []
  await using receptor = await conHttp(async (req, res) => {
    const { method, url, headers } = req
    recibido.push({ method, url, headers, cuerpo: Buffer.concat(await req.toArray()).toString() })
    res.writeHead(204).end()
  })
  const respuesta = await enviar(`${receptor.url}?a=%20ñ`, {
    cabeceras: { 'content-type': 'application/json', 'webhook-id': 'evt_1' },
    cuerpo: '{"ñ":"\u{1f69a}"}',
  })
  expect(respuesta.status).toBe(204)
  expect(recibido).toEqual([
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
      cuerpo: '{"ñ":"\u{1f69a}"}',
    },
  ])
})

// --- Answers ---

describe('the status decides', () => {
  test('204: success, with its measures', async () => {
    await using receptor = await conHttp(responder(204))
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({
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
    const { dns_ms, conexion_ms, primer_byte_ms, total_ms } = respuesta
    for (const ms of [dns_ms, conexion_ms, primer_byte_ms, total_ms]) {
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBe(Number(ms!.toFixed(1)))
    }
    expect(total_ms).toBeGreaterThanOrEqual(primer_byte_ms!)
    expect(primer_byte_ms).toBeGreaterThanOrEqual(conexion_ms!)
  })

  test('201 with a body', async () => {
    await using receptor = await conHttp(responder(201, '{"recibido":"sí"}'))
    expect(await enviar(receptor.url)).toMatchObject({
      status: 201,
      error: null,
      cuerpo: '{"recibido":"sí"}',
      cuerpo_truncado: false,
    })
  })

  test.each([300, 301, 302, 303, 307, 308])('%d is not followed', async (status) => {
    await using otro = await conHttp(responder(204))
    await using receptor = await conHttp(responder(status, 'allá', { location: otro.url }))
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status, error: 'redireccion', cuerpo: 'allá', cabeceras: { location: otro.url } })
    expect(respuesta.detalle).toContain('registre la dirección final')
    expect(otro.conexiones()).toBe(0)
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
    await using receptor = await conHttp(responder(status, 'algo falló', { 'retry-after': '120' }))
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status, error: 'http', cuerpo: 'algo falló', retry_after: '120' })
    expect(respuesta.detalle).toContain(String(status))
    expect(respuesta.detalle).toContain(remedio)
  })

  test.each([
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT'],
    ['-1', '-1'],
    ['mañana', 'ma\u00c3\u00b1ana'],
  ])('Retry-After as it came: %s', async (escrita, leida) => {
    await using receptor = await crudo((socket) =>
      socket.end(`HTTP/1.1 429 X\r\nRetry-After: ${escrita}\r\nContent-Length: 0\r\n\r\n`),
    )
    expect(await enviar(receptor.url)).toMatchObject({ status: 429, retry_after: leida })
  })

  test('of an endless Retry-After, the beginning', async () => {
    await using receptor = await conHttp(responder(429, '', { 'retry-after': '9'.repeat(5000) }))
    expect((await enviar(receptor.url)).retry_after).toBe('9'.repeat(200))
  })

  test.each([
    ['chunked', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhola\r\n0\r\n\r\n'],
    ['until it closes', '\r\nhola'],
    ['of a known length', 'Content-Length: 4\r\n\r\nhola'],
  ])('a body %s', async (_caso, resto) => {
    await using receptor = await crudo((socket) => socket.end(`HTTP/1.1 200 OK\r\n${resto}`))
    expect(await enviar(receptor.url)).toMatchObject({ status: 200, cuerpo: 'hola', cuerpo_truncado: false })
  })
})

describe('what is kept of the answer', () => {
  test.each([
    [16_383, 16_383, false],
    [16_384, 16_384, false],
    [16_385, 16_384, true],
    [300_000, 16_384, true],
  ])('%d bytes of body', async (bytes, guardados, truncado) => {
    await using receptor = await conHttp(responder(200, 'x'.repeat(bytes)))
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: 200, error: null, cuerpo_truncado: truncado })
    expect(respuesta.cuerpo).toBe('x'.repeat(guardados))
  })

  test('an endless body is left at once', async () => {
    let escritos = 0
    await using receptor = await conHttp((_req, res) => {
      const seguir = () => {
        while (!res.destroyed && escritos < 1e9 && res.write('x'.repeat(65_536))) escritos += 65_536
      }
      res.on('drain', seguir)
      seguir()
    })
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: 200, error: null, cuerpo_truncado: true })
    expect(respuesta.cuerpo).toHaveLength(16_384)
    expect(respuesta.total_ms).toBeLessThan(PLAZO)
    await vi.waitFor(() => expect(receptor.abiertas.size).toBe(0))
    expect(escritos).toBeLessThan(1e8)
  })

  test('nothing is inflated', async () => {
    const bomba = gzipSync(Buffer.alloc(50_000_000))
    const chica = gzipSync('hola')
    let cuerpo = bomba
    await using receptor = await conHttp((req, res) => responder(200, cuerpo, { 'content-encoding': 'gzip' })(req, res))
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: 200, cuerpo_truncado: true })
    expect(respuesta.cuerpo!.length).toBeLessThanOrEqual(16_384)
    expect(respuesta.cuerpo!.slice(0, 2)).toBe('\u001f\ufffd')
    cuerpo = chica
    expect((await enviar(receptor.url)).cuerpo).toBe(chica.toString('utf8').replaceAll('\0', ''))
  })

  test.each([
    ['invalid UTF-8', Buffer.from('a\xffb\xc3', 'latin1'), 'a\ufffdb\ufffd'],
    ['NUL', Buffer.from('a\0b\0'), 'ab'],
    ['a whole character', Buffer.from('ñ\u{1f69a}'), 'ñ\u{1f69a}'],
  ])('%s', async (_caso, bytes, texto) => {
    await using receptor = await conHttp(responder(200, bytes))
    expect((await enviar(receptor.url)).cuerpo).toBe(texto)
  })

  test('a character that the limit cuts in two is left out', async () => {
    await using receptor = await conHttp(responder(200, `x${'ñ'.repeat(10_000)}`))
    expect((await enviar(receptor.url)).cuerpo).toBe(`x${'ñ'.repeat(8191)}`)
  })

  test('headers: secrets hidden, lower case, repeated ones joined', async () => {
    await using receptor = await crudo((socket) =>
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
    const { cabeceras } = await enviar(receptor.url)
    const ocultas = ['set-cookie', 'authorization', 'www-authenticate', 'proxy-authenticate', 'x-api-key']
    for (const nombre of [...ocultas, 'x-access-token', 'x-client-secret', 'x-cookie-2']) {
      expect(cabeceras![nombre]).toBe('***')
    }
    expect(cabeceras).toMatchObject({ 'x-nota': 'uno,dos', 'x-vacia': '' })
    expect(Object.getOwnPropertyDescriptor(cabeceras, '__proto__')?.value).toBe('raro')
    expect(Object.getPrototypeOf(cabeceras)).toBe(Object.prototype)
  })

  test('headers: 40 and 4 KB at most', async () => {
    const muchas = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-${i}`, 'v']))
    const largas = {
      'x-larga': 'l'.repeat(5000),
      ...Object.fromEntries([1, 2, 3].map((i) => [`y-${i}`, 'v'.repeat(2000)])),
    }
    await using receptor = await conHttp((req, res) => {
      res.writeHead(200, req.url === '/muchas' ? muchas : largas).end()
    })
    const url = new URL(receptor.url)
    expect(Object.keys((await enviar(new URL('/muchas', url).href)).cabeceras!)).toHaveLength(40)
    const { cabeceras } = await enviar(new URL('/largas', url).href)
    expect(Object.keys(cabeceras!)).toEqual(expect.arrayContaining(['y-1', 'y-2', 'connection']))
    expect(cabeceras).not.toHaveProperty('x-larga')
    expect(cabeceras).not.toHaveProperty('y-3')
    expect(Object.entries(cabeceras!).flat().join('').length).toBeLessThanOrEqual(4096)
  })
})

// --- Receivers that misbehave ---

describe('bounded in time', () => {
  const agotado = (respuesta: Respuesta) => {
    expect(respuesta).toMatchObject({ status: null, error: 'tiempo_agotado', cabeceras: null, cuerpo: null })
    expect(respuesta.total_ms).toBeGreaterThanOrEqual(PLAZO - 5)
    expect(respuesta.total_ms).toBeLessThan(PLAZO + 300)
  }

  test.each<[string, (socket: net.Socket) => void]>([
    ['no answer', () => {}],
    ['half a status line', (socket) => socket.write('HTTP/1.')],
    ['half a header', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-')],
    ['headers that drip', (socket) => goteo(socket, 'X-A: b\r\n', 'HTTP/1.1 200 OK\r\n')],
    ['a header that drips', (socket) => goteo(socket, 'a', 'HTTP/1.1 200 OK\r\nX-A: ')],
    ['a reason that drips', (socket) => goteo(socket, 'a', 'HTTP/1.1 200 ')],
    ['empty lines that drip', (socket) => goteo(socket, '\r\n')],
    ['1xx and then nothing', (socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n')],
  ])('%s', async (_caso, atender) => {
    await using receptor = await crudo(atender)
    const respuesta = await enviar(receptor.url)
    agotado(respuesta)
    expect(respuesta.ip).toBe('127.0.0.1')
    expect(respuesta.detalle).toContain('respuesta')
    await vi.waitFor(() => expect(receptor.abiertas.size).toBe(0))
    expect(receptor.conexiones()).toBe(1)
  })

  test('a name that takes too long', async () => {
    const lento = crearEnviador({ resolver: () => new Promise(() => {}), plazo: PLAZO })
    const respuesta = await enviar('http://localhost:9/', {}, lento)
    agotado(respuesta)
    expect(respuesta.detalle).toContain('nombre')
    await lento.cerrar()
  })

  test('a body that drips: what came counts', async () => {
    await using receptor = await crudo((socket) =>
      goteo(socket, 'a', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'),
    )
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: 200, error: null, detalle: null, cuerpo_truncado: true })
    expect(respuesta.cuerpo).toMatch(/^a{3,100}$/)
    expect(respuesta.total_ms).toBeGreaterThanOrEqual(PLAZO - 5)
    expect(respuesta.primer_byte_ms).toBeLessThan(PLAZO / 2)
    await vi.waitFor(() => expect(receptor.abiertas.size).toBe(0))
  })

  test('a body that stops, with an error status', async () => {
    await using receptor = await crudo((socket) => socket.write('HTTP/1.1 500 X\r\nContent-Length: 9\r\n\r\nfal'))
    expect(await enviar(receptor.url)).toMatchObject({
      status: 500,
      error: 'http',
      cuerpo: 'fal',
      cuerpo_truncado: true,
    })
  })

  test('a second try has no deadline of its own', async () => {
    await using receptor = await crudo((socket, solicitudes) => {
      if (receptor.conexiones() > 1) return
      if (solicitudes === 1) socket.write(VACIA)
      else setTimeout(() => socket.destroy(), PLAZO / 2)
    })
    expect((await enviar(receptor.url)).status).toBe(204)
    agotado(await enviar(receptor.url))
    expect(receptor.conexiones()).toBe(2)
  })

  test('fifty that hang delay no other', async () => {
    await using colgado = await crudo(() => {})
    await using rapido = await conHttp(responder(204))
    const colgados = Array.from({ length: 50 }, (_, i) => enviar(colgado.url, { canal: `c${i}` }))
    const rapidos = await Promise.all(Array.from({ length: 20 }, (_, i) => enviar(rapido.url, { canal: `r${i}` })))
    for (const { status, total_ms } of rapidos) {
      expect(status).toBe(204)
      expect(total_ms).toBeLessThan(PLAZO)
    }
    for (const respuesta of await Promise.all(colgados)) expect(respuesta.error).toBe('tiempo_agotado')
  })
})

describe('the network fails', () => {
  test('a port where nobody listens', async () => {
    const receptor = await conHttp(responder(204))
    await receptor[Symbol.asyncDispose]()
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: null, error: 'conexion', ip: null, conexion_ms: null, cuerpo: null })
    expect(respuesta.detalle).toContain('rechazó la conexión')
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closes at once', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['closes in the middle of its headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-')],
  ])('%s: one try on a fresh connection', async (_caso, atender) => {
    await using receptor = await crudo(atender)
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: null, error: 'conexion', ip: '127.0.0.1', cuerpo: null })
    expect(respuesta.detalle).toContain('cerró la conexión')
    expect(receptor.conexiones()).toBe(1)
  })

  test('closes in the middle of its body: the status decides', async () => {
    await using receptor = await crudo((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhola'))
    expect(await enviar(receptor.url)).toMatchObject({
      status: 200,
      error: null,
      cuerpo: 'hola',
      cuerpo_truncado: true,
    })
  })
})

describe('what is no HTTP/1.1 answer', () => {
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
  ])('%s', async (_caso, bytes, detalle) => {
    await using receptor = await crudo((socket) => socket.write(bytes, 'latin1'))
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: null, error: 'respuesta_invalida', cabeceras: null, cuerpo: null })
    expect(respuesta.detalle).toContain(detalle)
    expect(respuesta.total_ms).toBeLessThan(PLAZO - 50)
    await vi.waitFor(() => expect(receptor.abiertas.size).toBe(0))
    expect(receptor.conexiones()).toBe(1)
  })

  test('a few 1xx before the answer are fine', async () => {
    await using receptor = await crudo((socket) =>
      socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 X\r\n\r\n${VACIA}`),
    )
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: 204, error: null })
    expect(respuesta.cabeceras).not.toHaveProperty('link')
  })
})

// --- Connections ---

describe('connections', () => {
  test('one is reused by its endpoint, and its phases are not told again', async () => {
    await using receptor = await conHttp(responder(204))
    const primera = await enviar(receptor.url)
    expect(primera.conexion_ms).not.toBeNull()
    for (let i = 0; i < 5; i++) {
      expect(await enviar(receptor.url)).toMatchObject({
        status: 204,
        ip: '127.0.0.1',
        dns_ms: null,
        conexion_ms: null,
      })
    }
    expect(receptor.conexiones()).toBe(1)
  })

  test('none is shared between endpoints, nor between origins of one endpoint', async () => {
    await using receptor = await conHttp(responder(204))
    await enviar(receptor.url, { canal: 'uno' })
    await enviar(receptor.url, { canal: 'dos' })
    expect(receptor.conexiones()).toBe(2)
    await enviar(receptor.url.replace('127.0.0.1', 'localhost'), { canal: 'uno' })
    expect(receptor.conexiones()).toBe(3)
    await enviar(receptor.url, { canal: 'dos' })
    expect(receptor.conexiones()).toBe(3)
  })

  test('the address is judged at every exchange, reused connection or not', async () => {
    await using receptor = await conHttp(responder(204))
    expect((await enviar(receptor.url)).status).toBe(204)
    expect((await enviar(receptor.url, { loopback: false })).error).toBe('destino_no_permitido')
  })

  test.each([
    ['64 at once on one endpoint', () => 'uno', 64],
    ['64 at once on many', (i: number) => `c${i}`, 64],
  ])('%s', async (_caso, canal, esperadas) => {
    const pendientes: http.ServerResponse[] = []
    await using receptor = await conHttp((req, res) => {
      req.resume().on('end', () => {
        if (pendientes.push(res) === 64) for (const [i, uno] of pendientes.entries()) uno.writeHead(200).end(`${i}`)
      })
    })
    const respuestas = await Promise.all(
      Array.from({ length: 64 }, (_, i) => enviar(receptor.url, { canal: canal(i) })),
    )
    expect(new Set(respuestas.map(({ status, cuerpo }) => `${status} ${cuerpo}`)).size).toBe(64)
    expect(receptor.conexiones()).toBe(esperadas)
  })

  test('a name with several addresses: the next one when the first does not answer', async () => {
    await using receptor = await conHttp(responder(204))
    const varios = crearEnviador({
      resolver: async () => [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ],
      plazo: PLAZO,
    })
    const respuesta = await enviar(`http://localhost:${receptor.port}/`, {}, varios)
    await varios.cerrar()
    expect(respuesta).toMatchObject({ status: 204, ip: '127.0.0.1' })
  })

  test('an exchange that has ended leaves no timer behind', async () => {
    const relojes = () => process.getActiveResourcesInfo().filter((tipo) => tipo === 'Timeout').length
    await using receptor = await conHttp(responder(204))
    const antes = relojes()
    for (let i = 0; i < 50; i++) await enviar(receptor.url)
    expect(relojes()).toBeLessThan(antes + 10)
  })

  test('an idle one that the receiver closed is replaced unnoticed', async () => {
    await using receptor = await crudo((socket) => {
      socket.write(VACIA)
      setTimeout(() => socket.end(), 20)
    })
    for (let i = 1; i <= 3; i++) {
      const respuesta = await enviar(receptor.url)
      expect(respuesta).toMatchObject({ status: 204, error: null })
      expect(respuesta.conexion_ms).not.toBeNull()
      expect(receptor.conexiones()).toBe(i)
      await pausa(60)
    }
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])('a reused one %s as the request arrives: once more on a fresh one', async (_caso, cortar) => {
    await using receptor = await crudo((socket, solicitudes) =>
      solicitudes === 1 ? socket.write(VACIA) : cortar(socket),
    )
    await enviar(receptor.url)
    const respuesta = await enviar(receptor.url)
    expect(respuesta).toMatchObject({ status: 204, error: null })
    expect(respuesta.conexion_ms).not.toBeNull()
    expect(receptor.conexiones()).toBe(2)
  })

  test('but not a third time, nor once an answer has begun', async () => {
    let modo = 'bien'
    await using receptor = await crudo((socket) => {
      if (modo === 'bien') socket.write(VACIA)
      else socket.end(modo === 'a medias' ? 'HTTP/1.1 20' : '')
    })
    await enviar(receptor.url)
    modo = 'cierra'
    expect(await enviar(receptor.url)).toMatchObject({ status: null, error: 'conexion' })
    expect(receptor.conexiones()).toBe(2)
    modo = 'bien'
    await enviar(receptor.url)
    modo = 'a medias'
    expect(await enviar(receptor.url)).toMatchObject({ status: null, error: 'conexion' })
    expect(receptor.conexiones()).toBe(3)
  })

  test.each([
    ['garbage', 'basura basura'],
    ['a second answer', 'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n'],
    ['half a second answer', 'HTTP/1.1 500 X\r\nContent-'],
  ])('%s after the answer does not reach the next exchange', async (_caso, sobra) => {
    await using receptor = await crudo((socket) => socket.write(VACIA + sobra))
    for (let i = 1; i <= 3; i++) {
      expect(await enviar(receptor.url)).toMatchObject({ status: 204, error: null })
      await pausa(10)
    }
    await using tarde = await crudo((socket) => {
      socket.write(VACIA)
      setTimeout(() => socket.write(sobra), 15)
    })
    for (let i = 1; i <= 3; i++) {
      expect(await enviar(tarde.url)).toMatchObject({ status: 204, error: null })
      await pausa(40)
    }
    expect(tarde.conexiones()).toBe(3)
  })

  test('an idle one closes when the receiver says so, and nothing of it is kept', async () => {
    const servidor = http.createServer(responder(204))
    servidor.keepAliveTimeout = 2000
    await using receptor = await escuchar(servidor)
    const { connect } = net
    const huellas: WeakRef<net.Socket>[] = []
    net.connect = ((opciones: net.NetConnectOpts) => {
      const socket = connect(opciones)
      huellas.push(new WeakRef(socket))
      return socket
    }) as typeof connect
    await Promise.all(Array.from({ length: 10 }, (_, i) => enviar(receptor.url, { canal: `c${i % 5}` })))
    net.connect = connect
    expect(receptor.abiertas.size).toBe(10)
    // A second before the receiver itself would.
    await pausa(1400)
    expect(receptor.abiertas.size).toBe(0)
    expect(huellas).toHaveLength(10)
    globalThis.gc!()
    // The last one may still be referred to from the stack.
    expect(huellas.filter((huella) => huella.deref()).length).toBeLessThanOrEqual(1)
  })
})

test('of the idle ones of thousands of endpoints, the latest thousand stay open; those in use all do', async () => {
  const sueltas = Promise.withResolvers<void>()
  await using receptor = await conHttp(async (req, res) => {
    if (req.url === '/lenta') await sueltas.promise
    res.writeHead(204).end()
  })
  const paciente = crearEnviador({ resolver: resolverLocal })
  await enviar(receptor.url, { canal: 'lenta' }, paciente)
  const lenta = enviar(new URL('/lenta', receptor.url).href, { canal: 'lenta' }, paciente)
  for (let i = 0; i < 1100; i += 50) {
    const tanda = Array.from({ length: 50 }, (_, j) => enviar(receptor.url, { canal: `c${i + j}` }, paciente))
    expect((await Promise.all(tanda)).every(({ status }) => status === 204)).toBe(true)
  }
  await vi.waitFor(() => expect(receptor.abiertas.size).toBe(1001))
  await enviar(receptor.url, { canal: 'c1099' }, paciente)
  expect(receptor.conexiones()).toBe(1101)
  await enviar(receptor.url, { canal: 'c0' }, paciente)
  expect(receptor.conexiones()).toBe(1102)
  sueltas.resolve()
  expect(await lenta).toMatchObject({ status: 204, conexion_ms: null })
  await paciente.cerrar()
})

describe('closing', () => {
  test('what is under way ends, and no socket is left', async () => {
    const otro = crearEnviador({ resolver: resolverLocal })
    await using colgado = await crudo((socket) => socket.write('HTTP/1.1 '))
    await using rapido = await conHttp(responder(204))
    for (let i = 0; i < 20; i++) await enviar(rapido.url, { canal: `r${i}` }, otro)
    const colgados = Array.from({ length: 20 }, () => enviar(colgado.url, {}, otro))
    await vi.waitFor(() => expect(colgado.abiertas.size).toBe(20))
    expect(rapido.abiertas.size).toBe(20)
    await otro.cerrar()
    for (const respuesta of await Promise.all(colgados)) {
      expect(respuesta).toMatchObject({ status: null, error: 'conexion' })
      expect(respuesta.detalle).toContain('se repetirá')
    }
    await vi.waitFor(() => expect(colgado.abiertas.size + rapido.abiertas.size).toBe(0))
  })

  test('also what is still looking up a name, and nothing starts afterwards', async () => {
    await using receptor = await conHttp(responder(204))
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Resolver>>>()
    const otro = crearEnviador({ resolver: () => promise })
    const pendiente = enviar(`http://localhost:${receptor.port}/`, {}, otro)
    await otro.cerrar()
    expect(await pendiente).toMatchObject({ status: null, error: 'conexion' })
    resolve(await resolverLocal('localhost'))
    expect(await enviar(receptor.url, {}, otro)).toMatchObject({ status: null, error: 'conexion', ip: null })
    await otro.cerrar()
    await pausa(50)
    expect(receptor.conexiones()).toBe(0)
  })
})

test('it never rejects, whatever it is given', async () => {
  for (const url of ['', 'x', 'ftp://a.b/', 'https://10.0.0.1/', 'http://8.8.8.8/']) {
    const respuesta = await enviar(url)
    expect(respuesta).toMatchObject({ status: null, error: 'destino_no_permitido', ip: null, dns_ms: null })
    expect(respuesta.detalle).toMatch(/\.$/)
  }
  for (const [nombre, valor] of [
    ['x-a', 'b\r\nc: d'] as const,
    ['mala cabecera', 'x'] as const,
    ['upgrade', 'x'] as const,
  ]) {
    expect(await enviar('http://127.0.0.1:9/', { cabeceras: { [nombre]: valor } })).toMatchObject({
      status: null,
      error: 'conexion',
    })
  }
  const fallido = crearEnviador({ resolver: () => Promise.reject(new Error('SERVFAIL')) })
  const respuesta = await enviar('https://recibe.ejemplo.com/', {}, fallido)
  expect(respuesta).toMatchObject({ status: null, error: 'dns', detalle: expect.stringContaining('DNS') })
})

// --- TLS ---

describe('TLS', () => {
  const NOMBRE = 'recibe.ejemplo.com'
  const bueno = certificado([paraNombre(NOMBRE), paraIp(8, 8, 8, 8)])

  /** Public addresses are all that https may go to, so the way there is bent here, at the last step, and nothing else. */
  function desviar(port: number, alAbrir = (_socket: tls.TLSSocket): unknown => null) {
    vi.restoreAllMocks()
    const original = tls.connect as (opciones: tls.ConnectionOptions) => tls.TLSSocket
    const destinos: unknown[] = []
    vi.spyOn(tls, 'connect').mockImplementation(((opciones: tls.ConnectionOptions) => {
      opciones.lookup!(opciones.host!, { all: true }, (_error, direcciones) => destinos.push(direcciones))
      const socket = original({ ...opciones, socket: net.connect(port, '127.0.0.1') })
      alAbrir(socket)
      return socket
    }) as typeof tls.connect)
    return destinos
  }
  const publico: Resolver = async () => [{ address: '8.8.8.8', family: 4 }]

  async function probar(par: Par, opciones: { url?: string; ca?: string | undefined } = {}) {
    const { url = `https://${NOMBRE}/hooks`, ca = bueno.cert } = opciones
    const vistos: unknown[] = []
    const servidor = https.createServer(par, (req, res) => {
      vistos.push([(req.socket as tls.TLSSocket).servername, req.headers.host, req.url])
      res.writeHead(204).end()
    })
    servidor.on('tlsClientError', () => {})
    await using receptor = await escuchar(servidor)
    const destinos = desviar(receptor.port)
    const seguro = crearEnviador({ resolver: publico, plazo: PLAZO, ca })
    const respuestas = [await enviar(url, { loopback: false }, seguro), await enviar(url, { loopback: false }, seguro)]
    await seguro.cerrar()
    return { respuesta: respuestas[0]!, segunda: respuestas[1]!, vistos, destinos, conexiones: receptor.conexiones() }
  }

  test('a good certificate, to the address that was checked', async () => {
    const { respuesta, segunda, vistos, destinos, conexiones } = await probar(bueno)
    expect(respuesta).toMatchObject({ status: 204, error: null, ip: '127.0.0.1' })
    expect(respuesta.tls_ms).toBeGreaterThan(0)
    expect(segunda).toMatchObject({ status: 204, tls_ms: null })
    expect(vistos[0]).toEqual([NOMBRE, NOMBRE, '/hooks'])
    expect(destinos).toEqual([[{ address: '8.8.8.8', family: 4 }]])
    expect(conexiones).toBe(1)
  })

  test('a name with its final dot and a port, and a literal with its own certificate', async () => {
    const punto = await probar(bueno, { url: `https://${NOMBRE}.:8443/` })
    expect(punto.respuesta.status).toBe(204)
    expect(punto.vistos[0]).toEqual([NOMBRE, `${NOMBRE}.:8443`, '/'])
    const literal = await probar(bueno, { url: 'https://8.8.8.8/' })
    expect(literal.respuesta.status).toBe(204)
    expect(literal.vistos[0]).toEqual([false, '8.8.8.8', '/'])
  })

  const ajeno = certificado([paraNombre(NOMBRE)])
  const otroNombre = certificado([paraNombre('otro.ejemplo.com')])
  const vencido = certificado([paraNombre(NOMBRE)], ['2020', '2021'])
  const otraIp = certificado([paraIp(1, 1, 1, 1), paraNombre('8.8.8.8')])
  test.each<[string, Par, { url?: string; ca?: string }, string]>([
    ['that nobody vouches for', ajeno, {}, 'autofirmado'],
    ['of another name', otroNombre, { ca: otroNombre.cert }, 'otro nombre'],
    ['of another address', otraIp, { ca: otraIp.cert, url: 'https://8.8.8.8/' }, 'otro nombre'],
    ['past its date', vencido, { ca: vencido.cert }, 'venció'],
  ])('a certificate %s', async (_caso, par, opciones, detalle) => {
    // Not even the usual way to turn verification off may do so here.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const { respuesta, vistos } = await probar(par, opciones)
    expect(respuesta).toMatchObject({ status: null, error: 'tls', cuerpo: null, tls_ms: null })
    expect(respuesta.detalle).toContain(detalle)
    expect(vistos).toEqual([])
  })

  test('without a `ca`, the well-known authorities alone are trusted', async () => {
    const seguro = crearEnviador({ resolver: publico, plazo: PLAZO })
    await using receptor = await escuchar(https.createServer(bueno, responder(204)).on('tlsClientError', () => {}))
    desviar(receptor.port)
    expect((await enviar(`https://${NOMBRE}/`, {}, seguro)).error).toBe('tls')
    await seguro.cerrar()
  })

  test.each([
    ['talks', '220 listo\r\n'],
    ['answers', VACIA],
  ])('who %s before there is a request gets one connection and no request', async (_caso, bytes) => {
    const servidor = tls.createServer(bueno, (socket) => socket.on('error', () => {}).resume())
    await using receptor = await escuchar(servidor)
    // As if it had come together with the end of the handshake.
    desviar(receptor.port, (socket) => socket.once('secureConnect', () => socket.unshift(Buffer.from(bytes))))
    const seguro = crearEnviador({ resolver: publico, plazo: PLAZO, ca: bueno.cert })
    const respuesta = await enviar(`https://${NOMBRE}/`, {}, seguro)
    await seguro.cerrar()
    expect(respuesta).toMatchObject({ status: null, error: 'respuesta_invalida' })
    expect(receptor.conexiones()).toBe(1)
  })

  test('a receiver that wants a certificate of ours, which TLS 1.3 tells after the handshake', async () => {
    await using receptor = await escuchar(tls.createServer(bueno, (socket) => socket.on('error', () => {}).resume()))
    // Node's own server closes without a word; others send this alert.
    const alerta = Object.assign(new Error('alert 116'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' })
    desviar(receptor.port, (socket) => socket.once('secureConnect', () => setTimeout(() => socket.destroy(alerta), 20)))
    const seguro = crearEnviador({ resolver: publico, plazo: PLAZO, ca: bueno.cert })
    const respuesta = await enviar(`https://${NOMBRE}/`, {}, seguro)
    await seguro.cerrar()
    expect(respuesta).toMatchObject({ status: null, error: 'tls', detalle: expect.stringContaining('certificado') })
  })

  test.each<[string, (socket: net.Socket) => void, string]>([
    ['plain HTTP', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'), 'tls'],
    ['closing in the middle of the handshake', (socket) => socket.end(), 'tls'],
    ['hanging in the handshake', () => {}, 'tiempo_agotado'],
  ])('%s on a port of https', async (_caso, atender, error) => {
    const seguro = crearEnviador({ resolver: publico, plazo: PLAZO })
    await using receptor = await crudo(atender)
    desviar(receptor.port)
    const respuesta = await enviar(`https://${NOMBRE}/`, {}, seguro)
    expect(respuesta).toMatchObject({ status: null, error, tls_ms: null })
    expect(respuesta.detalle).toContain('TLS')
    await vi.waitFor(() => expect(receptor.abiertas.size).toBe(0))
    await seguro.cerrar()
  })
})
