import net from 'node:net'
import tls from 'node:tls'
import { Client } from 'undici'
import { hostOf, type OutboundPolicy, resolveDestination } from '../../platform/outbound/destination.ts'
import { InterimAnswers } from './interimAnswers.ts'

// Connections to receivers. A connection serves one exchange at a time and one endpoint only. It is checked when it is
// opened, and kept for a while.

/** Error that ends the exchanges in progress when the sender is closed. */
export const INTERRUPTED = new Error('the sender was closed')

/** Endpoint for which a connection is requested. */
export interface ConnectionOwner {
  /** Key of the endpoint. Endpoints never share a connection. */
  canal: string
  /** True if http on loopback is allowed. */
  loopback: boolean
}

export interface ReceiverConnection {
  /** Key of the endpoint and the origin that the connection serves. */
  clave: string
  cliente: Client
  socket: net.Socket | null
  /** Answers before the final one on `socket`. */
  interim: InterimAnswers | null
  /** Ends the exchange in progress; null while the connection is idle. */
  interrumpir: EndExchange | null
  /** True if the connection has served an exchange before the present one. */
  reutilizada: boolean
  desechada: boolean
  /** Phase of the connection while it is opened; `lista` when it is ready. */
  fase: 'dns' | 'tcp' | 'tls' | 'lista'
  ip: string | null
  dns: number | null
  tcp: number | null
  tls: number | null
}

/** Ends an exchange with an error, or with null when the response is complete. */
export type EndExchange = (causa: unknown) => void
type AbrirSocket = (conexion: ReceiverConnection, url: URL, loopback: boolean) => Promise<net.Socket>

export interface ConnectionPool {
  /** Takes an idle connection of the endpoint, or else opens a new one. */
  tomar(titular: ConnectionOwner, url: URL, interrumpir: EndExchange): ReceiverConnection
  /** Opens a new connection. */
  abrir(titular: ConnectionOwner, url: URL, interrumpir: EndExchange): ReceiverConnection
  /** Makes a connection idle after a complete exchange, so that another exchange can use it. */
  soltar(conexion: ReceiverConnection): void
  /** Closes a connection and removes it. */
  desechar(conexion: ReceiverConnection): void
  /** Closes all connections. Exchanges in progress end with {@link INTERRUPTED}. */
  cerrar(): Promise<void>
}

const SIN_ABRIR = {
  socket: null,
  interim: null,
  reutilizada: false,
  fase: 'dns',
  ip: null,
  dns: null,
  tcp: null,
  tls: null,
} as const
/**
 * Options of the HTTP client. The sender's own deadline covers the whole exchange, so the timeouts are off. An idle
 * connection closes after 8 s, or sooner if the receiver announces so. A connection that is never idle is replaced
 * after 1,000 requests, because its name may have moved to another address.
 */
const OPCIONES = {
  allowH2: false,
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 8000,
  keepAliveMaxTimeout: 8000,
  keepAliveTimeoutThreshold: 1000,
  maxHeaderSize: 16_384,
  maxRequestsPerClient: 1000,
}

const claveDe = ({ canal }: ConnectionOwner, url: URL) => `${canal} ${url.origin}`

/** Removes a connection from the idle ones of its endpoint. */
function quitarDe(libres: Map<string, ReceiverConnection[]>, conexion: ReceiverConnection): void {
  const iguales = libres.get(conexion.clave) ?? []
  const i = iguales.indexOf(conexion)
  if (i >= 0) iguales.splice(i, 1)
  if (iguales.length === 0) libres.delete(conexion.clave)
}

/**
 * Creates a pool of connections in use and of idle connections that are still open. Endpoints that were silent for long
 * use no resources.
 * @param maximas maximum idle connections over all endpoints; each one is a file descriptor
 */
export function createConnectionPool(abrirSocket: AbrirSocket, maximas: number): ConnectionPool {
  const abiertas = new Set<ReceiverConnection>()
  const libres = new Map<string, ReceiverConnection[]>()
  // Idle connections are in order of idle time, the longest first.
  const ociosas = new Set<ReceiverConnection>()
  let cerrada = false

  const abrir: ConnectionPool['abrir'] = (titular, url, interrumpir) => {
    if (cerrada) throw INTERRUPTED
    // The closure must not hold all of `titular`. Its other members, such as a body, would live as long as the
    // connection.
    const { loopback } = titular
    const cliente = new Client(url.origin, {
      ...OPCIONES,
      connect: (_opciones, avisar) => {
        abrirSocket(conexion, url, loopback).then(
          (socket) => avisar(null, socket),
          (error) => avisar(error, null),
        )
      },
    })
    const clave = claveDe(titular, url)
    const conexion: ReceiverConnection = { ...SIN_ABRIR, clave, cliente, interrumpir, desechada: false }
    cliente.on('disconnect', (_origen, _clientes, error) => {
      if (!conexion.interrumpir) desechar(conexion)
      // If a receiver sends or closes before a request, the client would reconnect for as long as the receiver does so.
      // The client may reconnect once, if an idle socket turns out to be closed.
      else if (!conexion.reutilizada) conexion.interrumpir(error)
    })
    abiertas.add(conexion)
    return conexion
  }

  const tomar: ConnectionPool['tomar'] = (titular, url, interrumpir) => {
    const disponibles = libres.get(claveDe(titular, url))
    // The last connection is taken first, so that connections in excess stay idle. A destroyed socket is removed by its
    // 'disconnect' event.
    for (let conexion = disponibles?.pop(); conexion; conexion = disponibles?.pop()) {
      ociosas.delete(conexion)
      if (conexion.socket?.destroyed) continue
      conexion.interrumpir = interrumpir
      return conexion
    }
    return abrir(titular, url, interrumpir)
  }

  const soltar: ConnectionPool['soltar'] = (conexion) => {
    conexion.interrumpir = null
    conexion.reutilizada = true
    const iguales = libres.get(conexion.clave)
    if (iguales) iguales.push(conexion)
    else libres.set(conexion.clave, [conexion])
    const [masAntigua] = ociosas.add(conexion)
    if (masAntigua && ociosas.size > maximas) desechar(masAntigua)
  }

  const desechar: ConnectionPool['desechar'] = (conexion) => {
    if (!abiertas.delete(conexion)) return
    conexion.desechada = true
    ociosas.delete(conexion)
    quitarDe(libres, conexion)
    conexion.cliente.destroy(() => {})
    // The HTTP client does not know the socket until it is connected. Until then, the pool itself must destroy it.
    conexion.socket?.destroy()
  }

  const cerrar = async () => {
    cerrada = true
    const cierres = [...abiertas].map((conexion) => {
      const { socket } = conexion
      conexion.interrumpir?.(INTERRUPTED)
      desechar(conexion)
      return socket && !socket.closed && new Promise((resolve) => socket.once('close', resolve))
    })
    await Promise.all(cierres)
  }

  return { abrir, tomar, soltar, desechar, cerrar }
}

/**
 * Opens the socket of a connection. Records the phase, the IP address and the times of DNS, TCP and TLS in
 * milliseconds. Connects only to addresses that `politica` allows.
 * @throws ForbiddenDestination; {@link INTERRUPTED} if the connection is discarded or closed before it is open
 */
export async function openSocket(
  conexion: ReceiverConnection,
  url: URL,
  politica: OutboundPolicy,
  secureContext: tls.SecureContext,
): Promise<net.Socket> {
  Object.assign(conexion, SIN_ABRIR)
  let hasta = performance.now()
  const medir = () => {
    const desde = hasta
    hasta = performance.now()
    return hasta - desde
  }
  const direcciones = await resolveDestination(url, politica)
  conexion.dns = medir()
  if (conexion.desechada) throw INTERRUPTED
  conexion.fase = 'tcp'
  const segura = url.protocol === 'https:'
  const nombre = hostOf(url)
  // The socket connects only to the checked addresses. Node does not call `lookup` for a literal IP address, which was
  // checked as it stands.
  const lookup: net.LookupFunction = (_nombre, _opciones, responder) => responder(null, [...direcciones])
  const opciones = {
    host: nombre,
    port: Number(url.port || (segura ? 443 : 80)),
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2000,
    noDelay: true,
  }
  const servername = net.isIP(nombre) ? '' : nombre
  const socket = segura
    ? tls.connect({ ...opciones, servername, secureContext, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
    : net.connect(opciones)
  conexion.socket = socket
  conexion.interim = new InterimAnswers(socket)
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>()
  // The error listener stays, because an error before the client adds its own listener would be uncaught.
  socket.on('error', reject).once('close', () => reject(INTERRUPTED))
  socket.once('connect', () => {
    conexion.tcp = medir()
    conexion.ip = socket.remoteAddress ?? null
    conexion.fase = segura ? 'tls' : 'lista'
    if (!segura) resolve(socket)
  })
  socket.once('secureConnect', () => {
    conexion.tls = medir()
    conexion.fase = 'lista'
    resolve(socket)
  })
  return promise
}
