import { once } from 'node:events'
import type http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest'
import { createShortLinkResolver, type ShortLinkResolver } from '../../server/platform/maps/shortLinks.ts'
import type { Address, HostResolver } from '../../server/platform/outbound/destination.ts'
import { createCertificate, encodeDnsName } from '../certificate.ts'
import { G } from './linkTable.ts'

export const SHORT_LINK = 'https://maps.app.goo.gl/abc123'
export const POINT_LINK = `${G}/place/Casa/@14.1,-90.1,17z/data=!4m2!3m1!1s0x1:0x2!8m2!3d14.6349!4d-90.5069`
export const COORDINATES_RESULT = { tipo: 'coordenadas', coordinates: { lat: 14.6349, lng: -90.5069 } }
export const NO_COORDINATES = { tipo: 'sin_coordenadas' }
export const PUBLIC_ADDRESS: Address = { address: '142.250.1.1', family: 4 }
export const resolvePublicly: HostResolver = async () => [PUBLIC_ADDRESS]
export const buildMapsFailure = (isTransient: boolean, motivo: RegExp) => ({
  tipo: 'falla',
  transient: isTransient,
  motivo: expect.stringMatching(motivo),
})

/** A string redirects. */
type Respuesta = string | http.RequestListener | [status: number, cabeceras?: http.OutgoingHttpHeaders, cuerpo?: string]

export const buildHtmlPage = (body: string, headers = {}): Respuesta => [
  200,
  { 'content-type': 'text/html; charset=utf-8', ...headers },
  body,
]

/** The authority of the stand-in's certificate. */
export const pair = createCertificate(
  ['maps.app.goo.gl', 'goo.gl', '*.google.com', 'google.com', '*.google.com.gt', 'waze.com', 'maps.apple'].map(
    encodeDnsName,
  ),
)

/** One real https server that stands for every host, and a resolver of links for each test. */
export function useMaps() {
  const openSockets = new Set<net.Socket>()
  const paths = new Map<string, Respuesta>()
  const seenRequests: http.IncomingMessage[] = []
  const connections: { host: string; port: number; addresses: Address[] }[] = []
  const linkOf = (req: http.IncomingMessage) => `https://${req.headers.host}${req.url}`
  let server: https.Server
  let serverPort: number
  let linkResolver: ShortLinkResolver

  function handleRequest(req: http.IncomingMessage, res: http.ServerResponse) {
    seenRequests.push(req)
    const response = paths.get(linkOf(req))
    if (typeof response === 'function') return response(req, res)
    if (typeof response === 'string') return res.writeHead(302, { location: response }).end('<a>aquí</a>')
    const [status, headers, body] = response ?? [404]
    return res.writeHead(status, headers).end(body)
  }

  /** Public addresses are all that it may connect to, so the way there is bent here, at the last step, and nothing else. */
  function redirectConnections(a = serverPort) {
    vi.restoreAllMocks()
    const original = tls.connect as (options: tls.ConnectionOptions) => tls.TLSSocket
    vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) => {
      options.lookup!(options.host!, { all: true }, (_error, addresses) =>
        connections.push({
          host: options.host!,
          port: Number(options.port),
          addresses: addresses as unknown as Address[],
        }),
      )
      return original({ ...options, socket: net.connect(a, '127.0.0.1') })
    }) as typeof tls.connect)
  }

  beforeAll(async () => {
    server = https.createServer(pair, handleRequest).on('tlsClientError', () => {})
    server.on('connection', (socket: net.Socket) => {
      openSockets.add(socket)
      socket.on('error', () => {}).on('close', () => openSockets.delete(socket))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    serverPort = (server.address() as net.AddressInfo).port
  })
  afterAll(() => {
    for (const socket of openSockets) socket.destroy()
    server.close()
  })
  beforeEach(() => {
    paths.clear()
    seenRequests.length = 0
    connections.length = 0
    redirectConnections()
    linkResolver = createShortLinkResolver({ resolver: resolvePublicly, ca: pair.cert })
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await linkResolver.close()
  })

  return {
    paths,
    seen: seenRequests,
    connections,
    redirectConnections,
    resolver: (link: string) => linkResolver.resolver(link),
    close: () => linkResolver.close(),
    /** `a` leads to `b`, `b` to `c`… */
    readString(...links: string[]) {
      for (const [i, link] of links.slice(0, -1).entries()) paths.set(link, links[i + 1]!)
    },
    listVisitedUrls: () => seenRequests.map(linkOf),
    /** Waits until no connection is open. */
    expectNoSockets: () => expect.poll(() => openSockets.size).toBe(0),
  }
}
