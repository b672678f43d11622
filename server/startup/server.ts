import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { networkOf, siteOf } from '../api/http/network.ts'
import { bringsBody } from '../api/http/networkGate.ts'
import { byAccept } from '../api/http/rfc9457.ts'
import { Counter } from '../api/limits/count.ts'
import { SITE_FACTOR } from '../api/limits/networkLimit.ts'
import type { Salud } from '../domain/deps.ts'
import type { Config } from '../platform/config/config.ts'
import { Problema, unavailable } from '../platform/errors.ts'
import { listen, stopListening } from './listen.ts'
import { SlowReaders } from './slowReaders.ts'

/** Longest wait of a stop for the requests under way, in milliseconds. */
const PLAZO_DE_DRENAJE = 20_000

/** Requests of one connection: one in progress, if any, and those that wait for it. */
interface Turnos {
  enCurso: boolean
  esperan: (() => void)[]
}

/** HTTP server of the API. It answers from the moment it listens, and its stop lets requests under way finish. */
export class ApiServer {
  /**
   * Base of every link that the service gives out, without a final slash. Default: the address on which the server
   * listens.
   */
  url: string
  /** Handler of requests. Until the service has started, it answers 503: the service is starting. */
  serve: RequestListener = (req, res) => arrancando(req, res, this.url)
  /** Reports whether new connections of a network are refused at this moment. Not called behind a proxy. */
  isBanned: (red: string) => boolean = () => false
  /** Called for each request that is refused because too many are under way. No handler sees such a request. */
  onSaturated: () => void = () => {}
  #despidiendo = false
  readonly #porRed = new Counter()
  readonly #porSitio = new Counter()
  readonly #conexionesPorRed: number
  readonly #trasProxy: boolean
  readonly #enCurso = new Set<ServerResponse>()
  readonly #slowReaders = new SlowReaders(this.#enCurso)
  /** Responses under way whose request's body has not arrived completely. */
  readonly #llegando = new Set<ServerResponse>()
  readonly #turnos = new WeakMap<Socket, Turnos>()
  readonly #conexiones = new Set<Duplex>()
  readonly #http = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 },
    (req, res) => {
      this.#enSuTurno(req, res, () => {
        if (this.#despidiendo) res.setHeader('Connection', 'close')
        if (this.#enCurso.size - this.#llegando.size > SATURADO && !DE_SALUD.includes(rutaDe(req))) {
          this.onSaturated()
          return rechazar(req, res, this.url, LLENO)
        }
        this.serve(req, res)
      })
    },
  )

  constructor({ publicUrl, proxies, conexionesPorRed }: Pick<Config, 'publicUrl' | 'proxies' | 'conexionesPorRed'>) {
    this.url = publicUrl ?? ''
    this.#trasProxy = proxies > 0
    // Behind a proxy, every connection comes from the proxy's address. A limit per network would then limit all clients
    // together.
    this.#conexionesPorRed = this.#trasProxy ? Number.POSITIVE_INFINITY : conexionesPorRed
    this.#http.on('connection', (socket) => this.#admitir(socket))
    this.#http.on('clientError', (error, socket) => rechazarIlegible(error, socket, this.url))
  }

  /** Refuses a connection if its network may open none now, or already has as many as it may have. */
  #admitir(socket: Socket): void {
    const red = networkOf(socket.remoteAddress ?? '')
    const sitio = siteOf(red) ?? red
    const cabe =
      this.#porRed.de(red) < this.#conexionesPorRed && this.#porSitio.de(sitio) < SITE_FACTOR * this.#conexionesPorRed
    if (!cabe || (!this.#trasProxy && this.isBanned(red))) return void socket.destroy()
    this.#porRed.add(red)
    this.#porSitio.add(sitio)
    this.#conexiones.add(socket)
    socket.once('close', () => {
      this.#conexiones.delete(socket)
      this.#porRed.subtract(red)
      this.#porSitio.subtract(sitio)
    })
  }

  /**
   * Handles the requests of a connection one after another. Pipelined requests would otherwise all be under way at
   * once. Their responses would stay in memory until the client had read the earlier ones.
   */
  #enSuTurno(req: IncomingMessage, res: ServerResponse, atender: () => void): void {
    const { socket } = req
    if (socket.destroyed) return
    const turnos = this.#turnos.get(socket) ?? { enCurso: false, esperan: [] }
    this.#turnos.set(socket, turnos)
    // The list leaves out the request under way, so the count adds 1.
    if (turnos.esperan.length + 1 >= POR_CONEXION) return void socket.destroy()
    this.#seguir(req, res)
    if (turnos.enCurso) {
      turnos.esperan.push(atender)
      return
    }
    turnos.enCurso = true
    atender()
  }

  #siguiente(socket: Socket): void {
    const turnos = this.#turnos.get(socket)!
    // After a response with `Connection: close`, the connection takes no more data.
    const atender = socket.destroyed || socket.writableEnded ? undefined : turnos.esperan.shift()
    if (atender) atender()
    else turnos.enCurso = false
  }

  /** Counts a request as under way until its response is over. */
  #seguir(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req
    const sentBefore = socket.bytesWritten
    this.#enCurso.add(res)
    // A request whose body is still arriving does not count towards the maximum. It waits only for its client, and for
    // a limited time.
    if (bringsBody(req)) {
      this.#llegando.add(res)
      req.once('end', () => this.#llegando.delete(res))
    }
    res.once('close', () => {
      this.#enCurso.delete(res)
      this.#llegando.delete(res)
      this.#slowReaders.noteSent(socket, socket.bytesWritten - sentBefore)
      this.#siguiente(socket)
    })
  }

  async listen(port: number, host: string): Promise<void> {
    const local = await listen(this.#http, port, host)
    this.url ||= local
  }

  /**
   * Stops accepting requests. For `despedida` milliseconds the server still accepts connections: a client may be
   * sending a request, and load balancers must see the stop at `/readyz`. Each response closes its connection, so
   * connections that remain afterwards were idle all the time. This wait ends early when no connection is open. Behind
   * a proxy it does not, because a proxy opens another connection for the next request. Requests under way then have
   * {@link PLAZO_DE_DRENAJE} to finish.
   */
  async drain(despedida: number): Promise<void> {
    this.#despidiendo = true
    for (const res of this.#enCurso) if (!res.headersSent) res.setHeader('Connection', 'close')
    this.#endStreams()
    await hasta(() => !this.#trasProxy && this.#conexiones.size === 0, despedida)
    this.#http.close()
    this.#http.closeIdleConnections()
    this.#endStreams()
    await hasta(() => this.#enCurso.size === 0, PLAZO_DE_DRENAJE)
  }

  /** Ends the event streams, which never finish by themselves. Browsers open them again, at another process. */
  #endStreams(): void {
    for (const res of this.#enCurso) if (res.getHeader('Content-Type') === 'text/event-stream') res.end()
  }

  close(): Promise<void> {
    this.#slowReaders.stop()
    return stopListening(this.#http)
  }
}

/** Answers requests before the service has started: `/healthz` succeeds, `/readyz` and all other paths get a 503. */
function arrancando(req: IncomingMessage, res: ServerResponse, urlPublica: string) {
  const ruta = rutaDe(req)
  if (ruta === '/healthz') return responder(res, randomUUID(), 200, { ok: true })
  const salud: Salud = { ok: false, base_de_datos: false, escritura: false, cola: false, migraciones: false }
  if (ruta === '/readyz') return responder(res, randomUUID(), 503, salud, { 'Retry-After': '1' })
  rechazar(req, res, urlPublica, 'El servicio está arrancando. Repita la solicitud en unos segundos.')
}

/** Maximum requests of one connection that are in progress or waiting. A client without pipelining has one. */
const POR_CONEXION = 16
/**
 * Maximum requests in progress; further requests are refused, because they would only wait. At full load, these
 * requests are some tenths of a second's work.
 */
const SATURADO = 1_000
const LLENO = 'El servicio está saturado. No se hizo nada: repita la solicitud en unos segundos.'
const DE_SALUD: readonly string[] = ['/healthz', '/readyz']

const rutaDe = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0]!

function rechazar(req: IncomingMessage, res: ServerResponse, urlPublica: string, mensaje: string) {
  const id = randomUUID()
  const { tipo, cuerpo } = byAccept(unavailable(mensaje).presentar(id, urlPublica), req.headers.accept)
  responder(res, id, 503, cuerpo, { 'Content-Type': tipo, 'Retry-After': '1' })
}

const responder = (res: ServerResponse, id: string, status: number, cuerpo: object, cabeceras = {}) =>
  void res
    .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': id, ...cabeceras })
    .end(JSON.stringify(cuerpo))

/**
 * Answers input that Node rejects before a request exists: unreadable or oversized headers, or a client that is too
 * slow.
 */
function rechazarIlegible(error: NodeJS.ErrnoException, socket: Duplex, urlPublica: string) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [estado, detalle] = ILEGIBLES[error.code ?? ''] ?? ['400 Bad Request', 'La solicitud no es HTTP legible.']
  const cuerpo = JSON.stringify({
    ...new Problema('parametro_invalido', detalle).presentar(randomUUID(), urlPublica),
    estado_http: Number(estado.slice(0, 3)),
  })
  socket.end(
    `HTTP/1.1 ${estado}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(cuerpo)}\r\nConnection: close\r\n\r\n${cuerpo}`,
  )
}
const ILEGIBLES: Readonly<Record<string, readonly [estado: string, detalle: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Las cabeceras pasan de 16 KB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'La solicitud tardó demasiado en llegar.'],
}

async function hasta(listo: () => boolean, plazo: number) {
  for (const fin = performance.now() + plazo; !listo() && performance.now() < fin; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
