import { once } from 'node:events'
import { IncomingMessage, request } from 'node:http'
import { connect, Socket } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { addressOf } from '../../server/api/http/networkGate.ts'
import { newLlave } from '../../server/domain/identities/llave.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'

// Nothing comes back while the limits' clock stands. Each test calls from a loopback address of its own.
let ms = 0
const environment = useEnvironment({ limitsClock: () => ms }, () => ({ REQUESTS_PER_NETWORK: '5' }))
const BURST = 50
const PATH = '/r/AAAAAAAAAAAA'

let tests = 1
let address = ''
beforeEach(() => {
  address = `127.0.1.${++tests}`
})

interface Options {
  method?: string
  headers?: Record<string, string>
}

/** One request on a connection of its own. */
async function ask(path: string, { method = 'GET', headers = {} }: Options = {}) {
  const req = request(environment.url + path, { method, headers, localAddress: address, agent: false })
  const [res] = (await once(req.end(), 'response')) as [IncomingMessage]
  let body = ''
  for await (const chunk of res) body += chunk
  return { status: res.statusCode, headers: res.headers, body }
}

const statusOf = async (path: string, options?: Options) => (await ask(path, options)).status
/** Status of a request, or undefined where no connection is taken. */
const tryToAsk = (path: string) =>
  statusOf(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET') throw error
  })

/** Spends what the test's network may ask for, pages or operations, and is refused once. */
async function exhaust(path = PATH) {
  for (let i = 0; i < BURST; i++) expect(await statusOf(path)).not.toBe(503)
  const refused = await ask(path)
  expect(refused.status).toBe(429)
  return refused
}

async function open(): Promise<Socket> {
  const socket = connect({ port: Number(new URL(environment.url).port), host: '127.0.0.1', localAddress: address })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

describe('a network that has no requests left', () => {
  it('gets the declared problem, with its rate and when to come again', async () => {
    const { headers, body } = await exhaust('/healthz')
    expect(JSON.parse(body)).toMatchObject({
      codigo: 'demasiadas_solicitudes',
      mensaje: 'Se agotó el ritmo de solicitudes de su red (5 por segundo, 50 seguidas). Repita en 1 segundo.',
      estado_http: 429,
      id_solicitud: headers['x-request-id'],
    })
    expect(headers).toMatchObject({
      'retry-after': '1',
      ratelimit: '"solicitudes";r=0;t=10',
      'ratelimit-policy': '"solicitudes";q=50;w=10',
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
    })
    const rfc9457 = await ask('/healthz', { headers: { Accept: 'application/problem+json' } })
    expect(rfc9457.headers['content-type']).toBe('application/problem+json')
    const id = rfc9457.headers['x-request-id']
    expect(JSON.parse(rfc9457.body)).toMatchObject({ status: 429, instance: `urn:guias:solicitud:${id}` })
  })

  it('gets a page that a person can read where a browser asks for one', async () => {
    await exhaust()
    const { status, headers, body } = await ask(PATH, { headers: { Accept: 'text/html,*/*;q=0.8' } })
    expect([status, headers['content-type'], headers['retry-after']]).toEqual([429, 'text/html; charset=utf-8', '1'])
    expect(body).toContain('Espere un momento')
    expect(headers['content-security-policy']).toMatch(/style-src 'sha256-/)
    // Operations answer as the contract says, whatever a browser accepts.
    await exhaust('/healthz')
    expect((await ask('/healthz', { headers: { Accept: 'text/html' } })).headers['content-type']).toBe(
      'application/json',
    )
  })

  it('is told apart by pages and operations, and comes back with time', async () => {
    await exhaust()
    expect(await statusOf('/healthz')).toBe(200)
    ms += 1_000
    for (let i = 0; i < 5; i++) expect(await statusOf(PATH)).toBe(404)
    expect(await statusOf(PATH)).toBe(429)
  })

  it('is charged for requests to protected operations that bring no credential', async () => {
    for (let i = 0; i < BURST; i++) expect(await statusOf('/api/v1/guias')).toBe(401)
    expect(await statusOf('/api/v1/guias')).toBe(429)
    expect(await statusOf(PATH)).toBe(429)
    expect(await statusOf('/healthz')).toBe(200)
    const { llave } = await environment.createComercio()
    expect(await statusOf('/api/v1/guias', { headers: { Authorization: `Bearer ${llave}` } })).toBe(200)
  })

  it('is not charged for requests of assistants that bring a known key, and for those that bring none', async () => {
    const { llave } = await environment.createComercio()
    const withKey = { method: 'POST', headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'text/plain' } }
    for (let i = 0; i < BURST + 5; i++) expect(await statusOf('/mcp', withKey)).toBe(400)
    for (let i = 0; i < BURST; i++) expect(await statusOf('/mcp', { method: 'POST' })).toBe(401)
    expect(await statusOf('/mcp', { method: 'POST' })).toBe(429)
    expect(await statusOf('/mcp', withKey)).toBe(400)
  })

  it('may try few invalid keys, and then as many as it may send requests without a key', async () => {
    const withKey = (llave: string) => statusOf('/api/v1/guias', { headers: { Authorization: `Bearer ${llave}` } })
    const { llave } = await environment.createComercio()
    expect(await withKey(llave)).toBe(200)
    for (let i = 0; i < 10; i++) expect(await withKey(i % 2 ? 'x' : newLlave('test').llave)).toBe(401)
    for (let i = 0; i < BURST; i++) expect(await withKey(newLlave('test').llave)).toBe(429)
    const lines = environment.log.length
    for (let i = 0; i < 20; i++) expect(await withKey('x')).toBe(429)
    expect(await withKey(llave)).toBe(200)
    const newGuias = environment.log.slice(lines).map((line) => JSON.parse(line))
    expect(newGuias.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(1)
  })

  it('pays for the requests of a revoked or expired key as for those of an unknown key', async () => {
    const { body: comercio } = await environment.asOperador('POST', '/comercios', { nombre: 'Tienda La Ceiba' })
    const vence_en = new Date(environment.clock().getTime() + 60_000).toISOString()
    const crearLlave = async (body: object) =>
      (await environment.asOperador('POST', `/comercios/${comercio.comercio}/llaves`, { modo: 'test', ...body })).body
    const [revokedLlave, expired] = [await crearLlave({}), await crearLlave({ vence_en })]
    const withKey = ({ llave }: { llave: string }) =>
      statusOf('/api/v1/guias', { headers: { Authorization: `Bearer ${llave}` } })
    expect([await withKey(revokedLlave), await withKey(expired)]).toEqual([200, 200])
    await environment.asOperador('POST', `/llaves/${revokedLlave.id}/revocar`)
    environment.advance(61_000)
    try {
      for (const [i, ended] of [revokedLlave, expired].entries()) {
        address = `127.0.2.${i + 1}`
        await waitUntil(async () => (await withKey(ended)) !== 200)
        await waitUntil(async () => (await withKey(ended)) === 429)
        for (let n = 0; n < BURST; n++) expect(await withKey(ended)).toBe(429)
        // The network has spent what it may ask for, so it gets no page either.
        expect(await statusOf(PATH)).toBe(429)
      }
    } finally {
      environment.advance(-61_000)
    }
  })

  it('loses its connection after three refusals, and opens no other for a second', async () => {
    await exhaust()
    const socket = await open()
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(8))
    await once(socket, 'close')
    expect(received.match(/HTTP\/1\.1 429/g)).toHaveLength(3)
    expect(received.match(/\r\nConnection: close/gi)).toHaveLength(1)
    expect(await tryToAsk('/healthz')).toBeUndefined()
    ms += 1_000
    expect(await tryToAsk('/healthz')).toBe(200)
  })

  it('opens connections all the same within a minute of a valid key or session', async () => {
    const { llave } = await environment.createComercio()
    const withKey = () => statusOf('/api/v1/guias', { headers: { Authorization: `Bearer ${llave}` } })
    expect(await withKey()).toBe(200)
    await exhaust()
    const refuseThrice = async () => {
      const socket = await open()
      socket.resume().write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(3))
      await once(socket, 'close')
    }
    await refuseThrice()
    expect(await withKey()).toBe(200)
    ms += 60_000
    await exhaust()
    await refuseThrice()
    expect(await tryToAsk(PATH)).toBeUndefined()
    ms += 1_000
  })

  it('is logged as a count, by a network that names nobody', async () => {
    address = '127.9.9.9'
    const before = environment.log.length
    await exhaust('/healthz')
    for (let i = 0; i < 200; i++) expect(await statusOf('/healthz')).toBe(429)
    await environment.reset()
    const lines = environment.log.slice(before).map((line) => JSON.parse(line))
    expect(lines.filter(({ msg, status }) => msg === 'request' && status === 429)).toEqual([])
    const refused = lines.filter(({ msg, red }) => msg === 'requests refused' && red === '127.9.9.0/24')
    expect(refused[0]).toMatchObject({ motivo: 'network operaciones', status: 429, solicitudes: 1 })
    // A slow machine writes more than one count.
    expect(refused.length).toBeLessThan(20)
    expect(refused.reduce((sum, { solicitudes }) => sum + solicitudes, 0)).toBe(201)
  })
})

describe('the address that is charged', () => {
  it.each([
    [0, '203.0.113.7', '127.0.0.1'],
    [1, undefined, '127.0.0.1'],
    [1, '203.0.113.7', '203.0.113.7'],
    [1, '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    [2, '198.51.100.1, 203.0.113.7', '198.51.100.1'],
    [3, '198.51.100.1,203.0.113.7', '198.51.100.1'],
  ])('behind %i proxies that wrote %s is %s', (proxies, forwarded, expected) => {
    const req = new IncomingMessage(new Socket())
    Object.defineProperty(req.socket, 'remoteAddress', { value: '127.0.0.1' })
    if (forwarded !== undefined) req.headers['x-forwarded-for'] = forwarded
    expect(addressOf(req, proxies)).toBe(expected)
  })
})
