import tls from 'node:tls'
import type { Dispatcher } from 'undici'
import { type HostResolver, readDestination } from '../../../platform/outbound/destination.ts'
import type { ExchangeResult } from '../attempt.ts'
import {
  type ConnectionOwner,
  type ConnectionPool,
  createConnectionPool,
  type EndExchange,
  openSocket,
  type ReceiverConnection,
} from './connections.ts'
import { type Arrived, describeResult, isClosed, TIMED_OUT, TOO_MANY_INFORMATIONAL } from './response.ts'

// Sends a POST request to a receiver that may be slow, broken or hostile. The exchange is always bounded in time and in
// bytes, and never throws. The receiver belongs to a merchant, so each error has a text for the merchant.

/** Request to an endpoint. */
export interface SendRequest extends ConnectionOwner {
  url: string
  /** Parsed `url`, if `readDestination` has already checked it. */
  direccion?: URL | undefined
  /** Headers to send, with names in lower case. */
  cabeceras: Readonly<Record<string, string>>
  cuerpo: string
}

/** Sender of requests to endpoints. */
export interface Sender {
  /** Sends one request and returns its result. The promise never rejects. */
  send(solicitud: SendRequest): Promise<ExchangeResult>
  /** Closes the sender. Exchanges in progress end at once with a connection error. */
  close(): Promise<void>
}

interface SenderOptions {
  resolver: HostResolver
  /** Deadline for the whole exchange, from DNS to the last byte, in milliseconds. */
  timeout?: number
  /** Maximum number of bytes that are read of a response body. */
  max?: number
  /** Maximum number of idle connections that stay open, over all endpoints. */
  maxIdle?: number
  /** Certificate authorities to trust instead of the well-known ones, in PEM. */
  ca?: string
}

/** Maximum duration of an exchange, in milliseconds. */
export const EXCHANGE_TIMEOUT_MS = 15_000

/** Creates a sender with connections of its own. */
export function createSender({
  resolver,
  timeout = EXCHANGE_TIMEOUT_MS,
  max = 16_384,
  maxIdle = 4_000,
  ca,
}: SenderOptions): Sender {
  const secureContext = tls.createSecureContext({ ca })
  const connectionPool = createConnectionPool(
    (connection, url, loopback) => openSocket(connection, url, { resolver, loopback }, secureContext),
    maxIdle,
  )
  return {
    send: (solicitud) => exchangeOnce(solicitud, connectionPool, { timeout, max }),
    close: () => connectionPool.close(),
  }
}

const MAX_INFORMATIONAL = 16
const BODY_TOO_LONG = new Error('the response body exceeds the size limit')

interface ExchangeLimits {
  timeout: number
  max: number
}

function exchangeOnce(
  solicitud: SendRequest,
  connectionPool: ConnectionPool,
  { timeout, max }: ExchangeLimits,
): Promise<ExchangeResult> {
  const startedAt = performance.now()
  const arrived: Arrived = { status: null, cabeceras: {}, chunks: [], bytes: 0, complete: false, firstByte: null }
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>()
  let connection: ReceiverConnection | null = null
  let finished = false

  // The first call decides the result. Causes are the end of the response, an error, the deadline, or the closing of
  // the sender.
  const finish: EndExchange = (cause) => {
    if (finished) return
    finished = true
    clearTimeout(timer)
    resolve(describeResult(arrived, cause, connection, startedAt))
    if (!connection) return
    if (arrived.complete) connectionPool.release(connection)
    else connectionPool.discard(connection)
  }
  const timer = setTimeout(finish, timeout, TIMED_OUT)

  const dispatch = (url: URL, newConnection: ReceiverConnection): void => {
    connection = newConnection
    const fail = (error: Error) => {
      // The receiver may have closed an idle connection just before this request used it. The receiver has not seen the
      // request, so a new connection may repeat it.
      const isStale = newConnection.reused && arrived.firstByte === null && isClosed(error)
      if (finished || !isStale) return finish(error)
      connectionPool.discard(newConnection)
      dispatch(url, connectionPool.open(solicitud, url, finish))
    }
    newConnection.client.dispatch(
      toRequestOptions(solicitud, url),
      createResponseHandler(newConnection, arrived, max, finish, fail),
    )
  }

  try {
    const url = solicitud.direccion ?? readDestination(solicitud.url, solicitud)
    dispatch(url, connectionPool.take(solicitud, url, finish))
  } catch (error) {
    finish(error)
  }
  return promise
}

const toRequestOptions = ({ cabeceras, cuerpo }: SendRequest, url: URL): Dispatcher.DispatchOptions => ({
  method: 'POST',
  path: url.pathname + url.search,
  // The response is never decompressed, so a decompression bomb stays small.
  headers: { ...cabeceras, 'accept-encoding': 'identity' },
  body: cuerpo,
})

function createResponseHandler(
  connection: ReceiverConnection,
  arrived: Arrived,
  max: number,
  finish: EndExchange,
  fail: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let informationalCount = 0
  return {
    onRequestStart() {
      connection.interim?.restart()
    },
    onResponseStarted() {
      arrived.firstByte ??= performance.now()
    },
    onResponseStart(control, status, headers) {
      if (status >= 200) {
        arrived.status = status
        arrived.cabeceras = headers
      } else if (++informationalCount > MAX_INFORMATIONAL) control.abort(TOO_MANY_INFORMATIONAL)
    },
    onResponseData(control, chunk) {
      const isTooLong = arrived.bytes + chunk.length > max
      arrived.chunks.push(isTooLong ? chunk.subarray(0, max - arrived.bytes) : chunk)
      arrived.bytes += chunk.length
      if (isTooLong) control.abort(BODY_TOO_LONG)
    },
    onResponseEnd() {
      arrived.complete = true
      finish(null)
    },
    onResponseError: (_control, error) => fail(error),
  }
}
