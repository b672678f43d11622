import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Config } from '../config/config.ts'
import type { Salud } from '../deps.ts'
import { noDisponible, Problema } from '../errores.ts'
import { bringsBody } from '../http/networkGate.ts'
import { redDe, sitioDe } from '../http/red.ts'
import { segunAccept } from '../http/rfc9457.ts'
import { Conteo } from '../limites/conteo.ts'
import { VECES_DE_SITIO } from '../limites/porRed.ts'
import { dejarDeEscuchar, escuchar } from './escuchar.ts'
import { SlowReaders } from './slowReaders.ts'

/** How long an end waits for the requests under way, in milliseconds. */
const PLAZO_DE_DRENAJE = 20_000

/** Requests of one connection: whether one is under way, and those that wait for it. */
interface Turnos {
  enCurso: boolean
  esperan: (() => void)[]
}

/** The API's HTTP server: it answers from the moment it listens, and its end lets what is under way finish. */
export class Servidor {
  /** Base of every link given out, without a final slash: unless one is configured, the address it listens on. */
  url: string
  /** Handler of requests; until the service is put together, one that says so. */
  atender: RequestListener = (req, res) => arrancando(req, res, this.url)
  /** Reports whether new connections of a network are refused at this moment. Not called behind a proxy. */
  vetada: (red: string) => boolean = () => false
  #despidiendo = false
  readonly #porRed = new Conteo()
  readonly #porSitio = new Conteo()
  readonly #conexionesPorRed: number
  readonly #trasProxy: boolean
  readonly #enCurso = new Set<ServerResponse>()
  readonly #slowReaders = new SlowReaders(this.#enCurso)
  /** Those of them whose body hasn't come whole. */
  readonly #llegando = new Set<ServerResponse>()
  readonly #turnos = new WeakMap<Socket, Turnos>()
  readonly #conexiones = new Set<Duplex>()
  readonly #http = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 },
    (req, res) => {
      this.#enSuTurno(req, res, () => {
        if (this.#despidiendo) res.setHeader('Connection', 'close')
        if (this.#enCurso.size - this.#llegando.size > SATURADO && !DE_SALUD.includes(rutaDe(req)))
          return rechazar(req, res, this.url, LLENO)
        this.atender(req, res)
      })
    },
  )

  constructor({ publicUrl, proxies, conexionesPorRed }: Pick<Config, 'publicUrl' | 'proxies' | 'conexionesPorRed'>) {
    this.url = publicUrl ?? ''
    this.#trasProxy = proxies > 0
    // Behind a proxy all connections are the proxy's.
    this.#conexionesPorRed = this.#trasProxy ? Number.POSITIVE_INFINITY : conexionesPorRed
    this.#http.on('connection', (socket) => this.#admitir(socket))
    this.#http.on('clientError', (error, socket) => rechazarIlegible(error, socket, this.url))
  }

  /** Refuses a connection of a network that may open none now, or that has as many as it may have. */
  #admitir(socket: Socket): void {
    const red = redDe(socket.remoteAddress ?? '')
    const sitio = sitioDe(red) ?? red
    const cabe =
      this.#porRed.de(red) < this.#conexionesPorRed &&
      this.#porSitio.de(sitio) < VECES_DE_SITIO * this.#conexionesPorRed
    if (!cabe || (!this.#trasProxy && this.vetada(red))) return void socket.destroy()
    this.#porRed.sumar(red)
    this.#porSitio.sumar(sitio)
    this.#conexiones.add(socket)
    socket.once('close', () => {
      this.#conexiones.delete(socket)
      this.#porRed.restar(red)
      this.#porSitio.restar(sitio)
    })
  }

  /**
   * Answers the requests of a connection one after another. Pipelined requests would otherwise all be under way at once,
   * and their answers kept in memory until the ones before were read.
   */
  #enSuTurno(req: IncomingMessage, res: ServerResponse, atender: () => void): void {
    const { socket } = req
    if (socket.destroyed) return
    const turnos = this.#turnos.get(socket) ?? { enCurso: false, esperan: [] }
    this.#turnos.set(socket, turnos)
    // The first one is under way, the others wait.
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
    // After an answer with `Connection: close` nothing more can be written.
    const atender = socket.destroyed || socket.writableEnded ? undefined : turnos.esperan.shift()
    if (atender) atender()
    else turnos.enCurso = false
  }

  /** A request is under way until its answer is over. */
  #seguir(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req
    const sentBefore = socket.bytesWritten
    this.#enCurso.add(res)
    // A body that is still arriving keeps nobody else from being served: it waits for its sender, and not for long.
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

  async escuchar(port: number, host: string): Promise<void> {
    const local = await escuchar(this.#http, port, host)
    this.url ||= local
  }

  /**
   * Whoever has a connection open may be sending just now, and whoever asks /readyz should find out: it goes on accepting
   * for so many milliseconds, each answer closes its connection, and what is left after that has been idle all along. Nobody
   * connected means that nobody will come, unless a proxy stands before it, which opens another for the next request.
   */
  async drenar(despedida: number): Promise<void> {
    this.#despidiendo = true
    for (const res of this.#enCurso) if (!res.headersSent) res.setHeader('Connection', 'close')
    await hasta(() => !this.#trasProxy && this.#conexiones.size === 0, despedida)
    this.#http.close()
    this.#http.closeIdleConnections()
    await hasta(() => this.#enCurso.size === 0, PLAZO_DE_DRENAJE)
  }

  cerrar(): Promise<void> {
    this.#slowReaders.stop()
    return dejarDeEscuchar(this.#http)
  }
}

/** Answers before the service is put together: it lives, and is not ready. */
function arrancando(req: IncomingMessage, res: ServerResponse, urlPublica: string) {
  const ruta = rutaDe(req)
  if (ruta === '/healthz') return responder(res, randomUUID(), 200, { ok: true })
  const salud: Salud = { ok: false, base_de_datos: false, escritura: false, cola: false, migraciones: false }
  if (ruta === '/readyz') return responder(res, randomUUID(), 503, salud, { 'Retry-After': '1' })
  rechazar(req, res, urlPublica, 'El servicio está arrancando. Repita la solicitud en unos segundos.')
}

/** Requests of one connection that may be under way or wait; a client that doesn't pipeline has one. */
const POR_CONEXION = 16
/** Requests under way beyond which another one would only wait: at full load it is some tenths of a second's work. */
const SATURADO = 1_000
const LLENO = 'El servicio está saturado. No se hizo nada: repita la solicitud en unos segundos.'
const DE_SALUD: readonly string[] = ['/healthz', '/readyz']

const rutaDe = ({ url = '' }: IncomingMessage) => url.split('?', 1)[0]!

function rechazar(req: IncomingMessage, res: ServerResponse, urlPublica: string, mensaje: string) {
  const id = randomUUID()
  const { tipo, cuerpo } = segunAccept(noDisponible(mensaje).presentar(id, urlPublica), req.headers.accept)
  responder(res, id, 503, cuerpo, { 'Content-Type': tipo, 'Retry-After': '1' })
}

const responder = (res: ServerResponse, id: string, status: number, cuerpo: object, cabeceras = {}) =>
  void res
    .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': id, ...cabeceras })
    .end(JSON.stringify(cuerpo))

/** What Node itself refuses before there is a request: unreadable or oversized headers, a client that is too slow. */
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
