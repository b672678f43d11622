import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

// The generator shares the cores with the measured server, so it does little: one keep-alive socket per connection, one
// request at a time, and only the HTTP that both sides need (answers with Content-Length).

/** One HTTP request of the load. */
export interface LoadRequest {
  method: 'GET' | 'POST'
  path: string
  /** Key of the header `Authorization`; undefined for a request that has none. */
  llave?: string
  body?: string
  headers?: Readonly<Record<string, string>>
}

/** Parameters of one load on a server. */
export interface LoadParameters {
  url: string
  connections: number
  segundos: number
  next: (connection: number) => LoadRequest
  /** Status that every answer must have. Undefined accepts any status. */
  expectedStatus?: number
  /**
   * Requests per second on each connection. Undefined sends each request as soon as the previous one is answered.
   * Latency counts from the scheduled start of a request, so that it includes the wait behind a slow request.
   */
  rate?: number
  /** Returns false if the body of an answer is not the expected one. */
  check?: (body: string) => boolean
}

/** Requests of one load, with their rate and latencies. */
export interface LoadResult {
  total: number
  perSecond: number
  /** Latency in milliseconds, like `p95` and `p99`. */
  p50: number
  p95: number
  p99: number
}

const RESPONSE_DEADLINE_MS = 30_000

/**
 * Loads the server for `segundos` seconds.
 * @throws if a single answer has another status or body than expected
 */
export async function runLoad({
  url,
  connections,
  segundos,
  next,
  expectedStatus,
  rate,
  check,
}: LoadParameters): Promise<LoadResult> {
  const latencies: number[] = []
  const start = performance.now()
  const end = start + segundos * 1000
  const drive = async (conexion: number) => {
    const connection = openLoadConnection(url)
    try {
      // `n` starts at a fraction of 1, which staggers the starts of the connections.
      for (let n = conexion / connections; performance.now() < end; n++) {
        const scheduledAt = rate ? start + (n / rate) * 1_000 : performance.now()
        if (scheduledAt > performance.now()) await sleep(scheduledAt - performance.now())
        const request = next(conexion)
        const { status, body } = await connection.request(request)
        latencies.push(performance.now() - scheduledAt)
        if ((expectedStatus !== undefined && status !== expectedStatus) || check?.(body()) === false) {
          throw new Error(`${request.method} ${request.path}: ${status} ${body().slice(0, 1000)}`)
        }
      }
    } finally {
      connection.close()
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, i) => drive(i)))
  const durationSeconds = (performance.now() - start) / 1000
  latencies.sort((a, b) => a - b)
  const percentile = (p: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * p))] ?? Number.NaN
  const { length: total } = latencies
  return {
    total,
    perSecond: total / durationSeconds,
    p50: percentile(0.5),
    p95: percentile(0.95),
    p99: percentile(0.99),
  }
}

/** Answer to a request. `body` decodes the body on demand. */
export interface LoadResponse {
  status: number
  body: () => string
}

/** One keep-alive connection to a server. */
export interface LoadConnection {
  request(request: LoadRequest): Promise<LoadResponse>
  close(): void
}

/** Opens one connection. Its requests go one after another: the caller awaits each before the next. */
export function openLoadConnection(url: string): LoadConnection {
  const { hostname, port, host } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let received: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  let pendingResponse: PromiseWithResolvers<LoadResponse> | undefined
  const fail = (error: Error) => {
    pendingResponse?.reject(error)
    pendingResponse = undefined
    socket.destroy()
  }
  socket.setTimeout(RESPONSE_DEADLINE_MS, () =>
    fail(new Error(`${host} no respondió en ${RESPONSE_DEADLINE_MS / 1000} s`)),
  )
  socket.on('error', fail)
  socket.on('close', () => fail(new Error(`${host} cerró la conexión`)))
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    try {
      const response = readResponse(received)
      if (!response || !pendingResponse) return
      received = Buffer.alloc(0)
      const { resolve } = pendingResponse
      pendingResponse = undefined
      resolve(response)
    } catch (error) {
      fail(error as Error)
    }
  })
  return {
    request({ method, path, llave, body, headers = {} }) {
      if (socket.destroyed) return Promise.reject(new Error(`${host} cerró la conexión`))
      pendingResponse = Promise.withResolvers()
      const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${llave === undefined ? '' : `Authorization: Bearer ${llave}\r\n`}${headerLines.join('')}`
      socket.write(
        body === undefined
          ? `${head}\r\n`
          : `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      )
      return pendingResponse.promise
    },
    close: () => socket.destroy(),
  }
}

/**
 * Reads one HTTP response; undefined while bytes of it are missing.
 * @throws if the response has no Content-Length
 */
function readResponse(bytes: Buffer): LoadResponse | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`una respuesta sin Content-Length:\n${head}`)
  const bodyStart = headEnd + 4
  if (bytes.length < bodyStart + Number(length)) return undefined
  return { status: Number(head.slice(9, 12)), body: () => bytes.toString('utf8', bodyStart) }
}
