import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf, siteOf } from '../api/http/network.ts'
import { bringsBody } from '../api/http/networkGate.ts'
import { byAccept } from '../api/http/rfc9457.ts'
import { Counter } from '../api/limits/count.ts'
import { SITE_FACTOR } from '../api/limits/networkLimit.ts'
import type { Health } from '../domain/deps.ts'
import type { Config } from '../platform/config/config.ts'
import { Problema, unavailable } from '../platform/errors.ts'
import { listen, stopListening } from './listen.ts'
import { SlowReaders } from './slowReaders.ts'

/** Longest wait of a stop for the requests under way, in milliseconds. */
const DRAIN_DEADLINE_MS = 20_000

/** Requests of one connection: one in progress, if any, and those that wait for it. */
interface ConnectionTurns {
  inProgress: boolean
  waiters: (() => void)[]
}

/** HTTP server of the API. It answers from the moment it listens, and its stop lets requests under way finish. */
export class ApiServer {
  /**
   * Base of every link that the service gives out, without a final slash. Default: the address on which the server
   * listens.
   */
  url: string
  /** Handler of requests. Until the service has started, it answers 503: the service is starting. */
  serve: RequestListener = (req, res) => answerStarting(req, res, this.url)
  /** Reports whether new connections of a network are refused at this moment. Not called behind a proxy. */
  isBanned: (network: string) => boolean = () => false
  /** Called for each request that is refused because too many are under way. No handler sees such a request. */
  onSaturated: () => void = () => {}
  #isDraining = false
  readonly #perNetwork = new Counter()
  readonly #perSite = new Counter()
  readonly #connectionsPerNetwork: number
  readonly #behindProxy: boolean
  readonly #inProgress = new Set<ServerResponse>()
  readonly #slowReaders = new SlowReaders(this.#inProgress)
  /** Responses under way whose request's body has not arrived completely. */
  readonly #arriving = new Set<ServerResponse>()
  readonly #turns = new WeakMap<Socket, ConnectionTurns>()
  readonly #connections = new Set<Duplex>()
  readonly #http = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 },
    (req, res) => {
      this.#inTurn(req, res, () => {
        if (this.#isDraining) res.setHeader('Connection', 'close')
        if (this.#inProgress.size - this.#arriving.size > MAX_IN_PROGRESS && !HEALTH_PATHS.includes(pathOf(req))) {
          this.onSaturated()
          return refuse(req, res, this.url, SATURATED)
        }
        this.serve(req, res)
      })
    },
  )

  constructor({
    publicUrl,
    proxies,
    connectionsPerNetwork,
  }: Pick<Config, 'publicUrl' | 'proxies' | 'connectionsPerNetwork'>) {
    this.url = publicUrl ?? ''
    this.#behindProxy = proxies > 0
    // Behind a proxy, every connection comes from the proxy's address. A limit per network would then limit all clients
    // together.
    this.#connectionsPerNetwork = this.#behindProxy ? Number.POSITIVE_INFINITY : connectionsPerNetwork
    this.#http.on('connection', (socket) => this.#admit(socket))
    this.#http.on('clientError', (error, socket) => refuseUnreadable(error, socket, this.url))
  }

  /** Refuses a connection if its network may open none now, or already has as many as it may have. */
  #admit(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? '')
    const site = siteOf(network) ?? network
    const fits =
      this.#perNetwork.de(network) < this.#connectionsPerNetwork &&
      this.#perSite.de(site) < SITE_FACTOR * this.#connectionsPerNetwork
    if (!fits || (!this.#behindProxy && this.isBanned(network))) return void socket.destroy()
    this.#perNetwork.add(network)
    this.#perSite.add(site)
    this.#connections.add(socket)
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#perNetwork.subtract(network)
      this.#perSite.subtract(site)
    })
  }

  /**
   * Handles the requests of a connection one after another. Pipelined requests would otherwise all be under way at
   * once. Their responses would stay in memory until the client had read the earlier ones.
   */
  #inTurn(req: IncomingMessage, res: ServerResponse, handle: () => void): void {
    const { socket } = req
    if (socket.destroyed) return
    const turns = this.#turns.get(socket) ?? { inProgress: false, waiters: [] }
    this.#turns.set(socket, turns)
    // The list leaves out the request under way, so the count adds 1.
    if (turns.waiters.length + 1 >= REQUESTS_PER_CONNECTION) return void socket.destroy()
    this.#follow(req, res)
    if (turns.inProgress) {
      turns.waiters.push(handle)
      return
    }
    turns.inProgress = true
    handle()
  }

  #next(socket: Socket): void {
    const turns = this.#turns.get(socket)!
    // After a response with `Connection: close`, the connection takes no more data.
    const handle = socket.destroyed || socket.writableEnded ? undefined : turns.waiters.shift()
    if (handle) handle()
    else turns.inProgress = false
  }

  /** Counts a request as under way until its response is over. */
  #follow(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req
    const sentBefore = socket.bytesWritten
    this.#inProgress.add(res)
    // A request whose body is still arriving does not count towards the maximum. It waits only for its client, and for
    // a limited time.
    if (bringsBody(req)) {
      this.#arriving.add(res)
      req.once('end', () => this.#arriving.delete(res))
    }
    res.once('close', () => {
      this.#inProgress.delete(res)
      this.#arriving.delete(res)
      this.#slowReaders.noteSent(socket, socket.bytesWritten - sentBefore)
      this.#next(socket)
    })
  }

  async listen(port: number, host: string): Promise<void> {
    const local = await listen(this.#http, port, host)
    this.url ||= local
  }

  /**
   * Stops accepting requests. For `farewellMs` milliseconds the server still accepts connections: a client may be
   * sending a request, and load balancers must see the stop at `/readyz`. Each response closes its connection, so
   * connections that remain afterwards were idle all the time. This wait ends early when no connection is open. Behind
   * a proxy it does not, because a proxy opens another connection for the next request. Requests under way then have
   * {@link DRAIN_DEADLINE_MS} to finish.
   */
  async drain(farewellMs: number): Promise<void> {
    this.#isDraining = true
    for (const res of this.#inProgress) if (!res.headersSent) res.setHeader('Connection', 'close')
    this.#endStreams()
    await until(() => !this.#behindProxy && this.#connections.size === 0, farewellMs)
    this.#http.close()
    this.#http.closeIdleConnections()
    this.#endStreams()
    await until(() => this.#inProgress.size === 0, DRAIN_DEADLINE_MS)
  }

  /** Ends the event streams, which never finish by themselves. Browsers open them again, at another process. */
  #endStreams(): void {
    for (const res of this.#inProgress) if (res.getHeader('Content-Type') === 'text/event-stream') res.end()
  }

  close(): Promise<void> {
    this.#slowReaders.stop()
    return stopListening(this.#http)
  }
}

/** Answers requests before the service has started: `/healthz` succeeds, `/readyz` and all other paths get a 503. */
function answerStarting(req: IncomingMessage, res: ServerResponse, publicUrl: string) {
  const path = pathOf(req)
  if (path === '/healthz') return responder(res, randomUUID(), 200, { ok: true })
  const health: Health = { ok: false, base_de_datos: false, escritura: false, cola: false, migraciones: false }
  if (path === '/readyz') return responder(res, randomUUID(), 503, health, { 'Retry-After': '1' })
  refuse(req, res, publicUrl, 'El servicio está arrancando. Repita la solicitud en unos segundos.')
}

/** Maximum requests of one connection that are in progress or waiting. A client without pipelining has one. */
const REQUESTS_PER_CONNECTION = 16
/**
 * Maximum requests in progress; further requests are refused, because they would only wait. At full load, these
 * requests are some tenths of a second's work.
 */
const MAX_IN_PROGRESS = 1_000
const SATURATED = 'El servicio está saturado. No se hizo nada: repita la solicitud en unos segundos.'
const HEALTH_PATHS: readonly string[] = ['/healthz', '/readyz']

const pathOf = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0]!

function refuse(req: IncomingMessage, res: ServerResponse, publicUrl: string, message: string) {
  const id = randomUUID()
  const { tipo, body } = byAccept(unavailable(message).present(id, publicUrl), req.headers.accept)
  responder(res, id, 503, body, { 'Content-Type': tipo, 'Retry-After': '1' })
}

const responder = (res: ServerResponse, id: string, status: number, body: object, headers = {}) =>
  void res
    .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': id, ...headers })
    .end(JSON.stringify(body))

/**
 * Answers input that Node rejects before a request exists: unreadable or oversized headers, or a client that is too
 * slow.
 */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, publicUrl: string) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [estado, detail] = UNREADABLE_RESPONSES[error.code ?? ''] ?? [
    '400 Bad Request',
    'La solicitud no es HTTP legible.',
  ]
  const body = JSON.stringify({
    ...new Problema('parametro_invalido', detail).present(randomUUID(), publicUrl),
    estado_http: Number(estado.slice(0, 3)),
  })
  socket.end(
    `HTTP/1.1 ${estado}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
const UNREADABLE_RESPONSES: Readonly<Record<string, readonly [estado: string, detalle: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Las cabeceras pasan de 16 KB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'La solicitud tardó demasiado en llegar.'],
}

async function until(listo: () => boolean, timeout: number) {
  for (const deadline = performance.now() + timeout; !listo() && performance.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
