import { once } from 'node:events'
import type http from 'node:http'
import net from 'node:net'
import { describe, expect, test } from 'vitest'
import { createShortLinkResolver } from '../../server/platform/maps/shortLinks.ts'
import type { Address, HostResolver } from '../../server/platform/outbound/destination.ts'
import { useDeadlines } from '../deadlines.ts'
import { G } from './linkTable.ts'
import {
  buildHtmlPage,
  buildMapsFailure,
  COORDINATES_RESULT,
  NO_COORDINATES,
  POINT_LINK,
  PUBLIC_ADDRESS,
  pair,
  resolvePublicly,
  SHORT_LINK,
  useMaps,
} from './maps.ts'

const { readString: chain, close, connections, redirectConnections, resolver, paths, expectNoSockets, seen } = useMaps()

/** The deadline of a way unless it is told, in ms. */
const deadlines = useDeadlines(10_000)

let dropCount = 0
function drip(stream: NodeJS.WritableStream, start: string, drop: string) {
  if (start) stream.write(start)
  const clock = setInterval(() => {
    stream.write(drop)
    dropCount++
  }, 20)
  stream.on('close', () => clearInterval(clock))
}

describe('failures', () => {
  test.each<[number, boolean, RegExp]>([
    [404, false, /no existe o venció/],
    [410, false, /no existe o venció/],
    [400, false, /400/],
    [403, false, /403/],
    [300, false, /300/],
    [304, false, /304/],
    [408, true, /408/],
    [429, true, /429/],
    [500, true, /500/],
    [503, true, /503/],
  ])('%d', async (status, isTransient, motivo) => {
    paths.set(SHORT_LINK, [status, { 'content-type': 'text/html' }])
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(isTransient, motivo))
  })

  test('a redirection to nowhere', async () => {
    paths.set(SHORT_LINK, [302])
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(false, /sin decir adónde/))
  })

  test('the DNS fails or knows no address', async () => {
    for (const resolver of [() => Promise.reject(new Error('SERVFAIL')), async () => []] as HostResolver[]) {
      expect(await createShortLinkResolver({ resolver }).resolver(SHORT_LINK)).toEqual(buildMapsFailure(true, /DNS/))
    }
  })

  test('nobody listens', async () => {
    const free = net.createServer()
    await once(free.listen(0, '127.0.0.1'), 'listening')
    const { port } = free.address() as net.AddressInfo
    free.close()
    redirectConnections(port)
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(true, /ECONNREFUSED/))
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closes', (socket) => socket.destroy()],
    ['answers no HTTP', (socket) => socket.end('220 hola\r\n')],
    [
      'closes in the middle of the page',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<p>'),
    ],
    ['sends endless headers', (socket) => socket.end(`HTTP/1.1 302 X\r\nLocation: ${'a'.repeat(20_000)}\r\n\r\n`)],
  ])('a server that %s', async (_case, breakOff) => {
    paths.set(SHORT_LINK, (req) => breakOff(req.socket))
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(true, /No se pudo consultar/))
  })

  test('an endless page is read for 64 KB', async () => {
    let enviados = 0
    paths.set(SHORT_LINK, (req, res) => {
      res.writeHead(200, { 'content-type': 'text/html' })
      const fill = () => {
        while (!req.socket.destroyed && res.write(' '.repeat(16_384))) enviados += 16_384
      }
      res.on('drain', fill)
      fill()
    })
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
    await expectNoSockets()
    // What the buffers of both kernels hold, and no more.
    expect(enviados).toBeLessThan(20_000_000)
  })

  test('the body of a redirection or of an error is not read, however long', async () => {
    let enviados = 0
    const answerEndlessly =
      (status: number, headers: http.OutgoingHttpHeaders): http.RequestListener =>
      (req, res) => {
        res.writeHead(status, headers)
        const fill = () => {
          while (!req.socket.destroyed && res.write(' '.repeat(16_384))) enviados += 16_384
        }
        res.on('drain', fill)
        fill()
      }
    paths.set(SHORT_LINK, answerEndlessly(302, { location: POINT_LINK }))
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    paths.set(SHORT_LINK, answerEndlessly(503, { 'content-type': 'text/html' }))
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(true, /503/))
    await expectNoSockets()
    expect(enviados).toBeLessThan(20_000_000)
  })

  test('a target after the first 64 KB is not seen', async () => {
    const body = `<meta http-equiv="refresh" content="0;url=${POINT_LINK}">`
    paths.set(SHORT_LINK, buildHtmlPage(' '.repeat(65_536) + body))
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
    paths.set(SHORT_LINK, buildHtmlPage(' '.repeat(65_536 - body.length) + body))
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
  })

  test.each<[string, http.RequestListener, boolean]>([
    ['answers nothing', () => {}, false],
    ['drips headers', (req) => drip(req.socket, 'HTTP/1.1 302 Found\r\n', 'X: 1\r\n'), true],
    ['drips 1xx answers', (req) => drip(req.socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'), true],
    ['drips a page', (_req, res) => drip(res.writeHead(200, { 'content-type': 'text/html' }), '<p>', ' '), true],
  ])('the resolver waits until the deadline for a server that %s', async (_case, listener, drips) => {
    dropCount = 0
    paths.set(SHORT_LINK, listener)
    const resolution = resolver(SHORT_LINK)
    await expect.poll(() => seen.length === 1 && (!drips || dropCount > 3)).toBe(true)
    expect(await Promise.race([resolution, 'waiting'])).toBe('waiting')
    deadlines.expireAll()
    expect(await resolution).toEqual(buildMapsFailure(true, /plazo/))
    await expectNoSockets()
  })

  test('the deadline is for the whole way, and for the DNS, too', async () => {
    chain(SHORT_LINK, `${G}/a`, `${G}/b`)
    paths.set(`${G}/b`, () => {})
    const resolution = resolver(SHORT_LINK)
    await expect.poll(() => seen.length).toBe(3)
    expect(deadlines.countPending()).toBe(1)
    deadlines.expireAll()
    expect(await resolution).toEqual(buildMapsFailure(true, /plazo/))
    const silentServer = createShortLinkResolver({ resolver: () => new Promise(() => {}) }).resolver(SHORT_LINK)
    await expect.poll(deadlines.countPending).toBe(1)
    deadlines.expireAll()
    expect(await silentServer).toEqual(buildMapsFailure(true, /plazo/))
  })

  test('a DNS that answers after the deadline opens no connection', async () => {
    const { promise, resolve } = Promise.withResolvers<Address[]>()
    const tardo = createShortLinkResolver({ resolver: () => promise, ca: pair.cert }).resolver(SHORT_LINK)
    await expect.poll(deadlines.countPending).toBe(1)
    deadlines.expireAll()
    expect(await tardo).toEqual(buildMapsFailure(true, /plazo/))
    resolve([PUBLIC_ADDRESS])
    // Whoever asks afterwards is connected, and is the only one.
    chain(SHORT_LINK, POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    expect(connections).toHaveLength(1)
  })

  test('closing ends what is under way, and nothing begins after it', async () => {
    paths.set(SHORT_LINK, () => {})
    const running = resolver(SHORT_LINK)
    await expect.poll(() => seen.length).toBe(1)
    await close()
    expect(await running).toEqual(buildMapsFailure(true, /se detuvo/))
    expect(await resolver(SHORT_LINK)).toEqual(buildMapsFailure(true, /se detuvo/))
    expect(seen).toHaveLength(1)
    await expectNoSockets()
  })

  test('many at a time leave nothing open', async () => {
    chain(SHORT_LINK, `${G}/a`, POINT_LINK)
    const patientClient = createShortLinkResolver({ resolver: resolvePublicly, ca: pair.cert })
    const all = await Promise.all(Array.from({ length: 100 }, () => patientClient.resolver(SHORT_LINK)))
    expect(all.filter(({ tipo }) => tipo === 'coordenadas').length).toBe(100)
    await expectNoSockets()
  })
})
