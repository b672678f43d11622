import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A network between a phone and the service, whose faults are the test's to choose. */
export interface NetworkBridge {
  url: string
  /** Every request that reached the service, as `POST /repartidor/v1/…`. */
  pasados: string[]
  /** The answer to the next request that matches is lost on its way back: the service has done it all the same. */
  perder(cual: RegExp, veces?: number): void
  /** The next request that matches never gets there. */
  cortar(cual: RegExp, veces?: number): void
  /** The next request that matches is answered 503 by somebody on the way. */
  reject(cual: RegExp, segundos: number): void
  /** The answer to the next request that matches waits on its way until it is let go. */
  retener(cual: RegExp): () => void
  /** Requests that match are answered by somebody on the way: with a page of his own, or with that problem. */
  contestar(cual: RegExp, status: number, problema?: object): void
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
  const perdidas: RegExp[] = []
  const cortadas: RegExp[] = []
  let espera = 0
  const rechazadas: RegExp[] = []
  let retenida: { cual: RegExp; suelta: Promise<void> } | undefined
  let fallas = 0
  let contestadas: { cual: RegExp; status: number; problema: object | undefined } | undefined
  const tomar = (lista: RegExp[], que: string) => {
    const i = lista.findIndex((cual) => cual.test(que))
    if (i >= 0) lista.splice(i, 1)
    return i >= 0
  }
  const servidor: Server = createServer((req, res) => {
    const que = `${req.method} ${req.url}`
    if (tomar(cortadas, que)) {
      fallas++
      return void res.destroy()
    }
    if (tomar(rechazadas, que)) return void res.writeHead(503, { 'Retry-After': espera }).end()
    if (contestadas?.cual.test(que)) {
      const { status, problema } = contestadas
      const [tipo, cuerpo] = problema
        ? ['application/problem+json', JSON.stringify(problema)]
        : ['text/html', '<h1>nginx</h1>']
      return void req.resume().on('end', () => res.writeHead(status, { 'Content-Type': tipo }).end(cuerpo))
    }
    puente.pasados.push(que)
    const ida = request(destino() + req.url, { method: req.method, headers: req.headers }, async (vuelta) => {
      if (retenida?.cual.test(que)) {
        const { suelta } = retenida
        retenida = undefined
        await suelta
      }
      if (tomar(perdidas, que)) {
        fallas++
        vuelta.resume().on('end', () => res.destroy())
        return
      }
      const { cambiar } = puente
      if (!cambiar || !req.url?.endsWith('.js')) {
        res.writeHead(vuelta.statusCode!, vuelta.headers)
        return void vuelta.pipe(res)
      }
      const trozos: Buffer[] = []
      vuelta.on('data', (trozo) => trozos.push(trozo))
      vuelta.on('end', () => {
        const { 'content-length': _largo, ...cabeceras } = vuelta.headers
        res.writeHead(vuelta.statusCode!, cabeceras)
        res.end(cambiar(req.url!, Buffer.concat(trozos).toString()))
      })
    })
    if (puente.cambiar) ida.removeHeader('accept-encoding')
    ida.on('error', () => res.destroy())
    req.pipe(ida)
  })
  const puente: NetworkBridge = {
    url: '',
    pasados: [],
    perder: (cual, veces = 1) => void perdidas.push(...Array(veces).fill(cual)),
    cortar: (cual, veces = 1) => void cortadas.push(...Array(veces).fill(cual)),
    reject(cual, segundos) {
      rechazadas.push(cual)
      espera = segundos
    },
    retener(cual) {
      const { promise, resolve } = Promise.withResolvers<void>()
      retenida = { cual, suelta: promise }
      return resolve
    },
    contestar(cual, status, problema) {
      contestadas = { cual, status, problema }
    },
    fallas: () => fallas,
    sanar() {
      fallas = 0
      retenida = undefined
      contestadas = undefined
      rechazadas.length = 0
      perdidas.length = 0
      cortadas.length = 0
      puente.cambiar = undefined
    },
    close() {
      servidor.closeAllConnections()
      servidor.close()
    },
  }
  await new Promise<void>((resolve) => servidor.listen(0, '127.0.0.1', resolve))
  puente.url = `http://127.0.0.1:${(servidor.address() as AddressInfo).port}`
  return puente
}
