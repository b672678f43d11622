import { connect } from 'node:net'
import { setTimeout as dormir } from 'node:timers/promises'

// The generator shares the cores with the measured server, so it does little: one keep-alive socket per connection, one
// request at a time, and only the HTTP that both sides need (answers with Content-Length).

/** One HTTP request of the load. */
export interface Peticion {
  metodo: 'GET' | 'POST'
  ruta: string
  /** Key of the header `Authorization`; undefined for a request that has none. */
  llave?: string
  cuerpo?: string
  cabeceras?: Readonly<Record<string, string>>
}

/** Parameters of one load on a server. */
export interface ParametrosDeCarga {
  url: string
  conexiones: number
  segundos: number
  siguiente: (conexion: number) => Peticion
  /** Status that every answer must have. Undefined accepts any status. */
  espera?: number
  /**
   * Requests per second on each connection. Undefined sends each request as soon as the previous one is answered.
   * Latency counts from the scheduled start of a request, so that it includes the wait behind a slow request.
   */
  ritmo?: number
  /** Returns false if the body of an answer is not the expected one. */
  revisar?: (cuerpo: string) => boolean
}

/** Requests of one load, with their rate and latencies. */
export interface ResultadoDeCarga {
  total: number
  porSegundo: number
  /** Latency in milliseconds, like `p95` and `p99`. */
  p50: number
  p95: number
  p99: number
}

const PLAZO = 30_000

/**
 * Loads the server for `segundos` seconds.
 * @throws if a single answer has another status or body than expected
 */
export async function cargar({
  url,
  conexiones,
  segundos,
  siguiente,
  espera,
  ritmo,
  revisar,
}: ParametrosDeCarga): Promise<ResultadoDeCarga> {
  const latencias: number[] = []
  const inicio = performance.now()
  const fin = inicio + segundos * 1000
  const conducir = async (conexion: number) => {
    const enchufe = abrirEnchufe(url)
    try {
      // `n` starts at a fraction of 1, which staggers the starts of the connections.
      for (let n = conexion / conexiones; performance.now() < fin; n++) {
        const salida = ritmo ? inicio + (n / ritmo) * 1_000 : performance.now()
        if (salida > performance.now()) await dormir(salida - performance.now())
        const peticion = siguiente(conexion)
        const { status, cuerpo } = await enchufe.pedir(peticion)
        latencias.push(performance.now() - salida)
        if ((espera !== undefined && status !== espera) || revisar?.(cuerpo()) === false) {
          throw new Error(`${peticion.metodo} ${peticion.ruta}: ${status} ${cuerpo().slice(0, 1000)}`)
        }
      }
    } finally {
      enchufe.cerrar()
    }
  }
  await Promise.all(Array.from({ length: conexiones }, (_, i) => conducir(i)))
  const duracion = (performance.now() - inicio) / 1000
  latencias.sort((a, b) => a - b)
  const percentil = (p: number) =>
    latencias[Math.min(latencias.length - 1, Math.floor(latencias.length * p))] ?? Number.NaN
  const { length: total } = latencias
  return { total, porSegundo: total / duracion, p50: percentil(0.5), p95: percentil(0.95), p99: percentil(0.99) }
}

/** Answer to a request. `cuerpo` decodes the body on demand. */
export interface RespuestaDeCarga {
  status: number
  cuerpo: () => string
}

/** One keep-alive connection to a server. */
export interface Enchufe {
  pedir(peticion: Peticion): Promise<RespuestaDeCarga>
  cerrar(): void
}

/** Opens one connection. Its requests go one after another: the caller awaits each before the next. */
export function abrirEnchufe(url: string): Enchufe {
  const { hostname, port, host } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let recibido: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  let espera: PromiseWithResolvers<RespuestaDeCarga> | undefined
  const fallar = (error: Error) => {
    espera?.reject(error)
    espera = undefined
    socket.destroy()
  }
  socket.setTimeout(PLAZO, () => fallar(new Error(`${host} no respondió en ${PLAZO / 1000} s`)))
  socket.on('error', fallar)
  socket.on('close', () => fallar(new Error(`${host} cerró la conexión`)))
  socket.on('data', (trozo) => {
    recibido = recibido.length === 0 ? trozo : Buffer.concat([recibido, trozo])
    try {
      const respuesta = leerRespuesta(recibido)
      if (!respuesta || !espera) return
      recibido = Buffer.alloc(0)
      const { resolve } = espera
      espera = undefined
      resolve(respuesta)
    } catch (error) {
      fallar(error as Error)
    }
  })
  return {
    pedir({ metodo, ruta, llave, cuerpo, cabeceras = {} }) {
      if (socket.destroyed) return Promise.reject(new Error(`${host} cerró la conexión`))
      espera = Promise.withResolvers()
      const otras = Object.entries(cabeceras).map(([nombre, valor]) => `${nombre}: ${valor}\r\n`)
      const cabeza = `${metodo} ${ruta} HTTP/1.1\r\nHost: ${host}\r\n${llave === undefined ? '' : `Authorization: Bearer ${llave}\r\n`}${otras.join('')}`
      socket.write(
        cuerpo === undefined
          ? `${cabeza}\r\n`
          : `${cabeza}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(cuerpo)}\r\n\r\n${cuerpo}`,
      )
      return espera.promise
    },
    cerrar: () => socket.destroy(),
  }
}

/**
 * Reads one HTTP response; undefined while bytes of it are missing.
 * @throws if the response has no Content-Length
 */
function leerRespuesta(bytes: Buffer): RespuestaDeCarga | undefined {
  const corte = bytes.indexOf('\r\n\r\n')
  if (corte < 0) return undefined
  const cabeza = bytes.toString('latin1', 0, corte)
  const largo = /\r\ncontent-length: *(\d+)/i.exec(cabeza)?.[1]
  if (largo === undefined) throw new Error(`una respuesta sin Content-Length:\n${cabeza}`)
  const inicio = corte + 4
  if (bytes.length < inicio + Number(largo)) return undefined
  return { status: Number(cabeza.slice(9, 12)), cuerpo: () => bytes.toString('utf8', inicio) }
}
