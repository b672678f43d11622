import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A network between a phone and the service, whose faults are the test's to choose. */
export interface NetworkBridge {
  url: string
  /** Every request that reached the service, as `POST /repartidor/v1/…`. */
  forwardedRequests: string[]
  /** The answer to the next request that matches is lost on its way back: the service has done it all the same. */
  loseResponse(pattern: RegExp, times?: number): void
  /** The next request that matches never gets there. */
  cutRequest(pattern: RegExp, times?: number): void
  /** The next request that matches is answered 503 by somebody on the way. */
  reject(pattern: RegExp, seconds: number): void
  /** The answer to the next request that matches waits on its way until it is let go. */
  holdResponse(pattern: RegExp): () => void
  /** Requests that match are answered by somebody on the way: with a page of his own, or with that problem. */
  answerWith(pattern: RegExp, status: number, problema?: object): void
  /** Changes what is answered. */
  change?: ((path: string, body: string) => string) | undefined
  /** How many answers were lost and requests cut off since the last healing. */
  fallas(): number
  /** No faults any more. */
  heal(): void
  close(): void
}

/** Starts a proxy that causes faults. One function, because its server and its commands share the faults. */
export async function createBridge(destino: () => string): Promise<NetworkBridge> {
  const lossPatterns: RegExp[] = []
  const cutPatterns: RegExp[] = []
  let wait = 0
  const rejectedPatterns: RegExp[] = []
  let heldResponse: { pattern: RegExp; untilReleased: Promise<void> } | undefined
  let faults = 0
  let stubbedAnswer: { pattern: RegExp; status: number; problema: object | undefined } | undefined
  const tomar = (patterns: RegExp[], requestLine: string) => {
    const i = patterns.findIndex((pattern) => pattern.test(requestLine))
    if (i >= 0) patterns.splice(i, 1)
    return i >= 0
  }
  const server: Server = createServer((req, res) => {
    const requestLine = `${req.method} ${req.url}`
    if (tomar(cutPatterns, requestLine)) {
      faults++
      return void res.destroy()
    }
    if (tomar(rejectedPatterns, requestLine)) return void res.writeHead(503, { 'Retry-After': wait }).end()
    if (stubbedAnswer?.pattern.test(requestLine)) {
      const { status, problema } = stubbedAnswer
      const [tipo, body] = problema
        ? ['application/problem+json', JSON.stringify(problema)]
        : ['text/html', '<h1>nginx</h1>']
      return void req.resume().on('end', () => res.writeHead(status, { 'Content-Type': tipo }).end(body))
    }
    bridge.forwardedRequests.push(requestLine)
    const onwardRequest = request(
      destino() + req.url,
      { method: req.method, headers: req.headers },
      async (upstreamResponse) => {
        if (heldResponse?.pattern.test(requestLine)) {
          const { untilReleased } = heldResponse
          heldResponse = undefined
          await untilReleased
        }
        if (tomar(lossPatterns, requestLine)) {
          faults++
          upstreamResponse.resume().on('end', () => res.destroy())
          return
        }
        const { change } = bridge
        if (!change || !req.url?.endsWith('.js')) {
          res.writeHead(upstreamResponse.statusCode!, upstreamResponse.headers)
          return void upstreamResponse.pipe(res)
        }
        const chunks: Buffer[] = []
        upstreamResponse.on('data', (chunk) => chunks.push(chunk))
        upstreamResponse.on('end', () => {
          const { 'content-length': _largo, ...headers } = upstreamResponse.headers
          res.writeHead(upstreamResponse.statusCode!, headers)
          res.end(change(req.url!, Buffer.concat(chunks).toString()))
        })
      },
    )
    if (bridge.change) onwardRequest.removeHeader('accept-encoding')
    onwardRequest.on('error', () => res.destroy())
    req.pipe(onwardRequest)
  })
  const bridge: NetworkBridge = {
    url: '',
    forwardedRequests: [],
    loseResponse: (pattern, times = 1) => void lossPatterns.push(...Array(times).fill(pattern)),
    cutRequest: (pattern, times = 1) => void cutPatterns.push(...Array(times).fill(pattern)),
    reject(pattern, seconds) {
      rejectedPatterns.push(pattern)
      wait = seconds
    },
    holdResponse(pattern) {
      const { promise, resolve } = Promise.withResolvers<void>()
      heldResponse = { pattern, untilReleased: promise }
      return resolve
    },
    answerWith(pattern, status, problema) {
      stubbedAnswer = { pattern, status, problema }
    },
    fallas: () => faults,
    heal() {
      faults = 0
      heldResponse = undefined
      stubbedAnswer = undefined
      rejectedPatterns.length = 0
      lossPatterns.length = 0
      cutPatterns.length = 0
      bridge.change = undefined
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  bridge.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return bridge
}
