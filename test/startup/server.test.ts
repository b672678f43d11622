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

const toClose: (() => unknown)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close()
})

async function serve({ proxies = 0, conexionesPorRed = 500 } = {}) {
  const server = new ApiServer({ publicUrl: undefined, proxies, connectionsPerNetwork: conexionesPorRed })
  await server.listen(0, '127.0.0.1')
  toClose.push(() => server.close())
  return server
}

async function connectSocket(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  toClose.push(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

const requestData = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** The first answer's status; undefined if the connection ended without one. */
async function ask(socket: Socket, path = '/healthz'): Promise<number | undefined> {
  socket.write(requestData(path))
  const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])
  const status = /^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1]
  return status === undefined ? undefined : Number(status)
}

describe('the server', () => {
  it('holds so many connections of one network, and takes another once one is gone', async () => {
    const { url } = await serve({ conexionesPorRed: 3 })
    const tres = []
    for (let i = 0; i < 3; i++) tres.push(await connectSocket(url))
    for (const socket of tres) expect(await ask(socket)).toBe(200)
    expect(await ask(await connectSocket(url))).toBeUndefined()
    tres[0]!.destroy()
    await waitUntil(async () => (await ask(await connectSocket(url))) === 200)
    expect(await ask(tres[1]!)).toBe(200)
  })

  it('serves a network again however many of its connections have ended', async () => {
    const { url } = await serve({ conexionesPorRed: 1 })
    for (let i = 0; i <= SITE_FACTOR; i++) {
      await waitUntil(async () => {
        const socket = await connectSocket(url)
        const status = await ask(socket)
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
    const { url } = await serve({ conexionesPorRed: 1, proxies: 1 })
    for (let i = 0; i < 3; i++) expect(await ask(await connectSocket(url))).toBe(200)
  })

  it('answers 503 at once when more is under way than it could do soon, but for its health, and reports it', async () => {
    const server = await serve({ conexionesPorRed: 2_000 })
    let saturatedCount = 0
    server.onSaturated = () => saturatedCount++
    const heldResponses: ServerResponse[] = []
    server.serve = (req, res) => {
      if (req.url === '/lenta') heldResponses.push(res)
      else res.writeHead(200).end('{}')
    }
    for (let i = 0; i < 1_000; i++) (await connectSocket(server.url)).write(requestData('/lenta'))
    await waitUntil(async () => heldResponses.length === 1_000)
    const other = await connectSocket(server.url)
    expect(await ask(other, '/api/v1/guias')).toBe(503)
    expect(await ask(other, '/healthz')).toBe(200)
    const { headers } = await fetch(`${server.url}/api/v1/guias`)
    expect(headers.get('retry-after')).toBe('1')
    expect(saturatedCount).toBe(2)
    for (const res of heldResponses) res.end()
    await waitUntil(async () => (await ask(await connectSocket(server.url), '/api/v1/guias')) === 200)
  })

  it('ends a connection that asks for more and more without waiting for an answer', async () => {
    const server = await serve()
    const heldResponses: ServerResponse[] = []
    let seen = 0
    server.serve = (_req, res) => {
      seen++
      heldResponses.push(res)
    }
    const greedySocket = await connectSocket(server.url)
    const end = once(greedySocket, 'close')
    greedySocket.resume().write(requestData('/lenta').repeat(2_000))
    await end
    expect(seen).toBe(1)
    // A client that waits for each answer goes on for as long as it likes.
    server.serve = (_req, res) => void res.end('{}')
    const patientClient = await connectSocket(server.url)
    for (let i = 0; i < 40; i++) expect(await ask(patientClient, '/otra')).toBe(200)
  })

  it('answers pipelined requests one after another, in their order', async () => {
    const server = await serve()
    let underWay = 0
    let most = 0
    server.serve = (req, res) => {
      most = Math.max(most, ++underWay)
      setImmediate(() => {
        underWay--
        res.end(req.url)
      })
    }
    const socket = await connectSocket(server.url)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    const paths = Array.from({ length: 15 }, (_, i) => `/p${i}.`)
    socket.write(paths.map(requestData).join(''))
    await waitUntil(async () => received.includes('/p14.'))
    expect(received.match(/\/p\d+\./g)).toEqual(paths)
    expect(most).toBe(1)
  })

  it('answers nothing more on a connection that an answer closed', async () => {
    const server = await serve()
    let seen = 0
    server.serve = (_req, res) => {
      seen++
      res.writeHead(429, { Connection: 'close' }).end()
    }
    const socket = await connectSocket(server.url)
    const end = once(socket, 'close')
    socket.resume().write(requestData('/x').repeat(5))
    await end
    expect(seen).toBe(1)
  })

  it('refuses new connections of a network while told so, but not behind a proxy', async () => {
    const server = await serve()
    const openSocket = await connectSocket(server.url)
    server.isBanned = () => true
    expect(await ask(await connectSocket(server.url))).toBeUndefined()
    expect(await ask(openSocket)).toBe(200)
    const proxiedServer = await serve({ proxies: 1 })
    proxiedServer.isBanned = () => true
    expect(await ask(await connectSocket(proxiedServer.url))).toBe(200)
  })

  it('serves others while more than it could do is still being sent', async () => {
    const server = await serve({ conexionesPorRed: 2_000 })
    let arrivals = 0
    server.serve = (req, res) => {
      if (req.method === 'GET') return void res.end('{}')
      arrivals++
      req.resume().once('end', () => res.end('{}'))
    }
    const longItems = []
    for (let i = 0; i < 1_100; i++) {
      const socket = await connectSocket(server.url)
      socket.write('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{')
      longItems.push(socket)
    }
    await waitUntil(async () => arrivals === 1_100)
    expect(await ask(await connectSocket(server.url), '/api/v1/guias')).toBe(200)
    longItems[0]!.write('}')
    const [chunk] = await once(longItems[0]!, 'data')
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
    toClose.push(
      () => server.close(),
      () => readers.stop(),
    )
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, underWay, seen }
  }

  async function connectAndIgnore(url: string): Promise<Socket> {
    const socket = await connectSocket(url)
    socket.pause()
    socket.write(requestData('/'))
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
    toClose.push(() => readers.stop())
    await waitUntil(async () => dropped.length > 0 || performance.now() > begin + 6_000)
    expect(new Set(dropped)).toEqual(new Set(['slow']))
  })

  it('that takes what it can gets all of it', async () => {
    const { url, seen } = await serveLarge(32 * 2 ** 20, { interval: 2_000 })
    const socket = await connectSocket(url)
    let taken = 0
    socket.on('data', ({ length }) => {
      taken += length
      socket.pause()
      setTimeout(() => socket.resume(), 1)
    })
    socket.write(requestData('/'))
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
