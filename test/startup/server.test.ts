import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { SITE_FACTOR } from '../../server/api/limits/networkLimit.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { readKernelQueues } from '../../server/startup/kernelQueues.ts'
import { publicUrlOf } from '../../server/startup/listen.ts'
import { ApiServer } from '../../server/startup/server.ts'
import { SlowReaders } from '../../server/startup/slowReaders.ts'
import { waitUntil } from '../factories.ts'

const porCerrar: (() => unknown)[] = []
afterEach(async () => {
  for (const close of porCerrar.splice(0).reverse()) await close()
})

async function servir({ proxies = 0, conexionesPorRed = 500 } = {}) {
  const server = new ApiServer({ publicUrl: undefined, proxies, connectionsPerNetwork: conexionesPorRed })
  await server.listen(0, '127.0.0.1')
  porCerrar.push(() => server.close())
  return server
}

async function conectar(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  porCerrar.push(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

const pedido = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** The first answer's status; undefined if the connection ended without one. */
async function preguntar(socket: Socket, path = '/healthz'): Promise<number | undefined> {
  socket.write(pedido(path))
  const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])
  const status = /^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1]
  return status === undefined ? undefined : Number(status)
}

describe('the server', () => {
  it('holds so many connections of one network, and takes another once one is gone', async () => {
    const { url } = await servir({ conexionesPorRed: 3 })
    const tres = []
    for (let i = 0; i < 3; i++) tres.push(await conectar(url))
    for (const socket of tres) expect(await preguntar(socket)).toBe(200)
    expect(await preguntar(await conectar(url))).toBeUndefined()
    tres[0]!.destroy()
    await waitUntil(async () => (await preguntar(await conectar(url))) === 200)
    expect(await preguntar(tres[1]!)).toBe(200)
  })

  it('serves a network again however many of its connections have ended', async () => {
    const { url } = await servir({ conexionesPorRed: 1 })
    for (let i = 0; i <= SITE_FACTOR; i++) {
      await waitUntil(async () => {
        const socket = await conectar(url)
        const status = await preguntar(socket)
        socket.destroy()
        return status === 200
      })
    }
  })

  it('is addressed with brackets where it listens on IPv6', () => {
    const config = (HOST: string) => readConfig({ HOST, PORT: '3000' }, '/')
    expect(['::1', '::', '127.0.0.1'].map((host) => publicUrlOf(config(host)))).toEqual([
      'http://[::1]:3000',
      'http://127.0.0.1:3000',
      'http://127.0.0.1:3000',
    ])
  })

  it('counts no connections behind a proxy, whose all of them are', async () => {
    const { url } = await servir({ conexionesPorRed: 1, proxies: 1 })
    for (let i = 0; i < 3; i++) expect(await preguntar(await conectar(url))).toBe(200)
  })

  it('answers 503 at once when more is under way than it could do soon, but for its health, and reports it', async () => {
    const server = await servir({ conexionesPorRed: 2_000 })
    let saturadas = 0
    server.onSaturated = () => saturadas++
    const retenidas: ServerResponse[] = []
    server.serve = (req, res) => {
      if (req.url === '/lenta') retenidas.push(res)
      else res.writeHead(200).end('{}')
    }
    for (let i = 0; i < 1_000; i++) (await conectar(server.url)).write(pedido('/lenta'))
    await waitUntil(async () => retenidas.length === 1_000)
    const other = await conectar(server.url)
    expect(await preguntar(other, '/api/v1/guias')).toBe(503)
    expect(await preguntar(other, '/healthz')).toBe(200)
    const { headers } = await fetch(`${server.url}/api/v1/guias`)
    expect(headers.get('retry-after')).toBe('1')
    expect(saturadas).toBe(2)
    for (const res of retenidas) res.end()
    await waitUntil(async () => (await preguntar(await conectar(server.url), '/api/v1/guias')) === 200)
  })

  it('ends a connection that asks for more and more without waiting for an answer', async () => {
    const server = await servir()
    const retenidas: ServerResponse[] = []
    let seen = 0
    server.serve = (_req, res) => {
      seen++
      retenidas.push(res)
    }
    const avida = await conectar(server.url)
    const end = once(avida, 'close')
    avida.resume().write(pedido('/lenta').repeat(2_000))
    await end
    expect(seen).toBe(1)
    // A client that waits for each answer goes on for as long as it likes.
    server.serve = (_req, res) => void res.end('{}')
    const paciente = await conectar(server.url)
    for (let i = 0; i < 40; i++) expect(await preguntar(paciente, '/otra')).toBe(200)
  })

  it('answers pipelined requests one after another, in their order', async () => {
    const server = await servir()
    let underWay = 0
    let most = 0
    server.serve = (req, res) => {
      most = Math.max(most, ++underWay)
      setImmediate(() => {
        underWay--
        res.end(req.url)
      })
    }
    const socket = await conectar(server.url)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    const paths = Array.from({ length: 15 }, (_, i) => `/p${i}.`)
    socket.write(paths.map(pedido).join(''))
    await waitUntil(async () => received.includes('/p14.'))
    expect(received.match(/\/p\d+\./g)).toEqual(paths)
    expect(most).toBe(1)
  })

  it('answers nothing more on a connection that an answer closed', async () => {
    const server = await servir()
    let seen = 0
    server.serve = (_req, res) => {
      seen++
      res.writeHead(429, { Connection: 'close' }).end()
    }
    const socket = await conectar(server.url)
    const end = once(socket, 'close')
    socket.resume().write(pedido('/x').repeat(5))
    await end
    expect(seen).toBe(1)
  })

  it('refuses new connections of a network while told so, but not behind a proxy', async () => {
    const server = await servir()
    const abierta = await conectar(server.url)
    server.isBanned = () => true
    expect(await preguntar(await conectar(server.url))).toBeUndefined()
    expect(await preguntar(abierta)).toBe(200)
    const trasProxy = await servir({ proxies: 1 })
    trasProxy.isBanned = () => true
    expect(await preguntar(await conectar(trasProxy.url))).toBe(200)
  })

  it('serves others while more than it could do is still being sent', async () => {
    const server = await servir({ conexionesPorRed: 2_000 })
    let llegadas = 0
    server.serve = (req, res) => {
      if (req.method === 'GET') return void res.end('{}')
      llegadas++
      req.resume().once('end', () => res.end('{}'))
    }
    const largos = []
    for (let i = 0; i < 1_100; i++) {
      const socket = await conectar(server.url)
      socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{')
      largos.push(socket)
    }
    await waitUntil(async () => llegadas === 1_100)
    expect(await preguntar(await conectar(server.url), '/api/v1/guias')).toBe(200)
    largos[0]!.write('}')
    const [chunk] = await once(largos[0]!, 'data')
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 200/)
  })
})

describe('a reader', () => {
  /** A server whose answers are larger than what the kernel keeps for a reader that takes nothing. */
  async function serveLarge(bytes: number, options: ConstructorParameters<typeof SlowReaders>[1]) {
    const underWay = new Set<ServerResponse>()
    const readers = new SlowReaders(underWay, options)
    const seen = { cut: 0, closed: 0 }
    const server = createServer((_req, res) => {
      const { socket } = res
      underWay.add(res)
      res.once('close', () => {
        seen.cut += Number(!res.writableFinished)
        underWay.delete(res)
        readers.noteSent(socket!, bytes)
      })
      res.end(Buffer.alloc(bytes))
    })
    server.on('connection', (socket) => socket.once('close', () => seen.closed++))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    porCerrar.push(
      () => server.close(),
      () => readers.stop(),
    )
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, underWay, seen }
  }

  async function connectAndIgnore(url: string): Promise<Socket> {
    const socket = await conectar(url)
    socket.pause()
    socket.write(pedido('/'))
    return socket
  }

  it('that takes nothing is let go', async () => {
    const { url, underWay, seen } = await serveLarge(32 * 2 ** 20, { interval: 50 })
    await connectAndIgnore(url)
    await waitUntil(async () => seen.cut === 1)
    expect(underWay.size).toBe(0)
  })

  it('that would need more than a minute for what waits is let go, and a faster one is not', async () => {
    const pending = 32 * 2 ** 20
    const begin = performance.now()
    const dropped: string[] = []
    /** A connection whose reader takes so many bytes per millisecond. */
    const reading = (name: string, rate: number) => {
      const left = () => pending - Math.floor(rate * (performance.now() - begin))
      const _handle = {
        get writeQueueSize() {
          return left()
        },
      }
      const resetAndDestroy = () => dropped.push(name)
      return { socket: { destroyed: false, writableLength: 1, bytesWritten: pending, _handle, resetAndDestroy } }
    }
    const responses = [reading('slow', 100), reading('fast', 5_000)] as unknown as ServerResponse[]
    const readers = new SlowReaders(new Set(responses), { interval: 100 })
    porCerrar.push(() => readers.stop())
    await waitUntil(async () => dropped.length > 0 || performance.now() > begin + 6_000)
    expect(new Set(dropped)).toEqual(new Set(['slow']))
  })

  it('that takes what it can gets all of it', async () => {
    const { url, seen } = await serveLarge(32 * 2 ** 20, { interval: 2_000 })
    const socket = await conectar(url)
    let taken = 0
    socket.on('data', ({ length }) => {
      taken += length
      socket.pause()
      setTimeout(() => socket.resume(), 1)
    })
    socket.write(pedido('/'))
    await waitUntil(async () => taken > 32 * 2 ** 20)
    expect(seen.cut).toBe(0)
  })

  it.skipIf(process.platform !== 'linux')('with an answer that waits in the kernel is let go, too', async () => {
    const { url, seen } = await serveLarge(2 ** 20, { interval: 50 })
    await connectAndIgnore(url)
    await waitUntil(async () => seen.closed === 1)
  })

  it.skipIf(process.platform !== 'linux')('is let go when all of them hold too much', async () => {
    const maxTotal = 8 * 2 ** 20
    const { url, seen } = await serveLarge(2 ** 20, { interval: 3_600_000, maxTotal, lookAfter: 2 ** 20 })
    for (let i = 0; i < 40; i++) await connectAndIgnore(url)
    await waitUntil(async () => seen.closed >= 30)
    const port = Number(new URL(url).port).toString(16).padStart(4, '0').toUpperCase()
    const inKernel = [...readKernelQueues()].flatMap(([key, bytes]) => (key.startsWith(port) ? bytes : []))
    expect(inKernel.reduce((a, b) => a + b, 0)).toBeLessThan(maxTotal + 3 * 2 ** 20)
  })
})
