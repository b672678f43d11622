import net from 'node:net'
import tls from 'node:tls'
import { Client } from 'undici'
import { hostOf, type OutboundPolicy, resolveDestination } from '../../../platform/outbound/destination.ts'
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
  client: Client
  socket: net.Socket | null
  /** Answers before the final one on `socket`. */
  interim: InterimAnswers | null
  /** Ends the exchange in progress; null while the connection is idle. */
  interrupt: EndExchange | null
  /** True if the connection has served an exchange before the present one. */
  reused: boolean
  discarded: boolean
  /** Phase of the connection while it is opened; `lista` when it is ready. */
  phase: 'dns' | 'tcp' | 'tls' | 'ready'
  ip: string | null
  dns: number | null
  tcp: number | null
  tls: number | null
}

/** Ends an exchange with an error, or with null when the response is complete. */
export type EndExchange = (cause: unknown) => void
type ConnectSocket = (connection: ReceiverConnection, url: URL, loopback: boolean) => Promise<net.Socket>

export interface ConnectionPool {
  /** Takes an idle connection of the endpoint, or else opens a new one. */
  take(titular: ConnectionOwner, url: URL, interrupt: EndExchange): ReceiverConnection
  /** Opens a new connection. */
  open(titular: ConnectionOwner, url: URL, interrupt: EndExchange): ReceiverConnection
  /** Makes a connection idle after a complete exchange, so that another exchange can use it. */
  release(connection: ReceiverConnection): void
  /** Closes a connection and removes it. */
  discard(connection: ReceiverConnection): void
  /** Closes all connections. Exchanges in progress end with {@link INTERRUPTED}. */
  close(): Promise<void>
}

const UNOPENED = {
  socket: null,
  interim: null,
  reused: false,
  phase: 'dns',
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
const CLIENT_OPTIONS = {
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

const keyOf = ({ canal }: ConnectionOwner, url: URL) => `${canal} ${url.origin}`

/** Removes a connection from the idle ones of its endpoint. */
function removeIdle(freeByKey: Map<string, ReceiverConnection[]>, connection: ReceiverConnection): void {
  const sameKey = freeByKey.get(connection.clave) ?? []
  const i = sameKey.indexOf(connection)
  if (i >= 0) sameKey.splice(i, 1)
  if (sameKey.length === 0) freeByKey.delete(connection.clave)
}

/**
 * Creates a pool of connections in use and of idle connections that are still open. Endpoints that were silent for long
 * use no resources.
 * @param maxIdle maximum idle connections over all endpoints; each one is a file descriptor
 */
export function createConnectionPool(connectSocket: ConnectSocket, maxIdle: number): ConnectionPool {
  const openConnections = new Set<ReceiverConnection>()
  const freeByKey = new Map<string, ReceiverConnection[]>()
  // Idle connections are in order of idle time, the longest first.
  const idleConnections = new Set<ReceiverConnection>()
  let closed = false

  const open: ConnectionPool['open'] = (titular, url, interrupt) => {
    if (closed) throw INTERRUPTED
    // The closure must not hold all of `titular`. Its other members, such as a body, would live as long as the
    // connection.
    const { loopback } = titular
    const client = new Client(url.origin, {
      ...CLIENT_OPTIONS,
      connect: (_options, callback) => {
        connectSocket(connection, url, loopback).then(
          (socket) => callback(null, socket),
          (error) => callback(error, null),
        )
      },
    })
    const clave = keyOf(titular, url)
    const connection: ReceiverConnection = { ...UNOPENED, clave, client, interrupt, discarded: false }
    client.on('disconnect', (_origin, _clients, error) => {
      if (!connection.interrupt) discard(connection)
      // If a receiver sends or closes before a request, the client would reconnect for as long as the receiver does so.
      // The client may reconnect once, if an idle socket turns out to be closed.
      else if (!connection.reused) connection.interrupt(error)
    })
    openConnections.add(connection)
    return connection
  }

  const take: ConnectionPool['take'] = (titular, url, interrupt) => {
    const available = freeByKey.get(keyOf(titular, url))
    // The last connection is taken first, so that connections in excess stay idle. A destroyed socket is removed by its
    // 'disconnect' event.
    for (let connection = available?.pop(); connection; connection = available?.pop()) {
      idleConnections.delete(connection)
      if (connection.socket?.destroyed) continue
      connection.interrupt = interrupt
      return connection
    }
    return open(titular, url, interrupt)
  }

  const release: ConnectionPool['release'] = (connection) => {
    connection.interrupt = null
    connection.reused = true
    const sameKey = freeByKey.get(connection.clave)
    if (sameKey) sameKey.push(connection)
    else freeByKey.set(connection.clave, [connection])
    const [oldestConnection] = idleConnections.add(connection)
    if (oldestConnection && idleConnections.size > maxIdle) discard(oldestConnection)
  }

  const discard: ConnectionPool['discard'] = (connection) => {
    if (!openConnections.delete(connection)) return
    connection.discarded = true
    idleConnections.delete(connection)
    removeIdle(freeByKey, connection)
    connection.client.destroy(() => {})
    // The HTTP client does not know the socket until it is connected. Until then, the pool itself must destroy it.
    connection.socket?.destroy()
  }

  const close = async () => {
    closed = true
    const closings = [...openConnections].map((connection) => {
      const { socket } = connection
      connection.interrupt?.(INTERRUPTED)
      discard(connection)
      return socket && !socket.closed && new Promise((resolve) => socket.once('close', resolve))
    })
    await Promise.all(closings)
  }

  return { open, take, release, discard, close }
}

/**
 * Opens the socket of a connection. Records the phase, the IP address and the times of DNS, TCP and TLS in
 * milliseconds. Connects only to addresses that `policy` allows.
 * @throws ForbiddenDestination; {@link INTERRUPTED} if the connection is discarded or closed before it is open
 */
export async function openSocket(
  connection: ReceiverConnection,
  url: URL,
  policy: OutboundPolicy,
  secureContext: tls.SecureContext,
): Promise<net.Socket> {
  Object.assign(connection, UNOPENED)
  let until = performance.now()
  const measure = () => {
    const from = until
    until = performance.now()
    return until - from
  }
  const addresses = await resolveDestination(url, policy)
  connection.dns = measure()
  if (connection.discarded) throw INTERRUPTED
  connection.phase = 'tcp'
  const isSecure = url.protocol === 'https:'
  const name = hostOf(url)
  // The socket connects only to the checked addresses. Node does not call `lookup` for a literal IP address, which was
  // checked as it stands.
  const lookup: net.LookupFunction = (_name, _options, responder) => responder(null, [...addresses])
  const options = {
    host: name,
    port: Number(url.port || (isSecure ? 443 : 80)),
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 2000,
    noDelay: true,
  }
  const servername = net.isIP(name) ? '' : name
  const socket = isSecure
    ? tls.connect({ ...options, servername, secureContext, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] })
    : net.connect(options)
  connection.socket = socket
  connection.interim = new InterimAnswers(socket)
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>()
  // The error listener stays, because an error before the client adds its own listener would be uncaught.
  socket.on('error', reject).once('close', () => reject(INTERRUPTED))
  socket.once('connect', () => {
    connection.tcp = measure()
    connection.ip = socket.remoteAddress ?? null
    connection.phase = isSecure ? 'tls' : 'ready'
    if (!isSecure) resolve(socket)
  })
  socket.once('secureConnect', () => {
    connection.tls = measure()
    connection.phase = 'ready'
    resolve(socket)
  })
  return promise
}
