import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A network between a phone and the service, whose faults are the test's to choose. */
export interface NetworkBridge {
  url: string
  /** Every request that reached the service, as `POST /repartidor/v1/…`. */
  pasados: string[]
  /** The answer to the next request that matches is lost on its way back: the service has done it all the same. */
  perder(pattern: RegExp, veces?: number): void
  /** The next request that matches never gets there. */
  cortar(pattern: RegExp, veces?: number): void
  /** The next request that matches is answered 503 by somebody on the way. */
  reject(pattern: RegExp, segundos: number): void
  /** The answer to the next request that matches waits on its way until it is let go. */
  retener(pattern: RegExp): () => void
  /** Requests that match are answered by somebody on the way: with a page of his own, or with that problem. */
  answerWith(pattern: RegExp, status: number, problema?: object): void
  /** Changes what is answered. */
  cambiar?: ((ruta: string, cuerpo: string) => string) | undefined
  /** How many answers were lost and requests cut off since the last healing. */
  fallas(): number
  /** No faults any more. */
  sanar(): void
  close(): void
}

/** Starts a proxy that causes faults. One function, because its server and its commands share the faults. */
export async function createBridge(destino: () => string): Promise<NetworkBridge> {
  const lossPatterns: RegExp[] = []
  const cortadas: RegExp[] = []
  let espera = 0
  const rechazadas: RegExp[] = []
  let retenida: { pattern: RegExp; suelta: Promise<void> } | undefined
  let fallas = 0
  let contestadas: { pattern: RegExp; status: number; problema: object | undefined } | undefined
  const tomar = (patterns: RegExp[], requestLine: string) => {
    const i = patterns.findIndex((pattern) => pattern.test(requestLine))
    if (i >= 0) patterns.splice(i, 1)
    return i >= 0
  }
  const server: Server = createServer((req, res) => {
    const requestLine = `${req.method} ${req.url}`
    if (tomar(cortadas, requestLine)) {
      fallas++
      return void res.destroy()
    }
    if (tomar(rechazadas, requestLine)) return void res.writeHead(503, { 'Retry-After': espera }).end()
    if (contestadas?.pattern.test(requestLine)) {
      const { status, problema } = contestadas
      const [tipo, cuerpo] = problema
        ? ['application/problem+json', JSON.stringify(problema)]
        : ['text/html', '<h1>nginx</h1>']
      return void req.resume().on('end', () => res.writeHead(status, { 'Content-Type': tipo }).end(cuerpo))
    }
    puente.pasados.push(requestLine)
    const onwardRequest = request(destino() + req.url, { method: req.method, headers: req.headers }, async (vuelta) => {
      if (retenida?.pattern.test(requestLine)) {
        const { suelta } = retenida
        retenida = undefined
        await suelta
      }
      if (tomar(lossPatterns, requestLine)) {
        fallas++
        vuelta.resume().on('end', () => res.destroy())
        return
      }
      const { cambiar } = puente
      if (!cambiar || !req.url?.endsWith('.js')) {
        res.writeHead(vuelta.statusCode!, vuelta.headers)
        return void vuelta.pipe(res)
      }
      const chunks: Buffer[] = []
      vuelta.on('data', (chunk) => chunks.push(chunk))
      vuelta.on('end', () => {
        const { 'content-length': _largo, ...cabeceras } = vuelta.headers
        res.writeHead(vuelta.statusCode!, cabeceras)
        res.end(cambiar(req.url!, Buffer.concat(chunks).toString()))
      })
    })
    if (puente.cambiar) onwardRequest.removeHeader('accept-encoding')
    onwardRequest.on('error', () => res.destroy())
    req.pipe(onwardRequest)
  })
  const puente: NetworkBridge = {
    url: '',
    pasados: [],
    perder: (pattern, veces = 1) => void lossPatterns.push(...Array(veces).fill(pattern)),
    cortar: (pattern, veces = 1) => void cortadas.push(...Array(veces).fill(pattern)),
    reject(pattern, segundos) {
      rechazadas.push(pattern)
      espera = segundos
    },
    retener(pattern) {
      const { promise, resolve } = Promise.withResolvers<void>()
      retenida = { pattern, suelta: promise }
      return resolve
    },
    answerWith(pattern, status, problema) {
      contestadas = { pattern, status, problema }
    },
    fallas: () => fallas,
    sanar() {
      fallas = 0
      retenida = undefined
      contestadas = undefined
      rechazadas.length = 0
      lossPatterns.length = 0
      cortadas.length = 0
      puente.cambiar = undefined
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  puente.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return puente
}
