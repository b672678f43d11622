import { connect } from 'node:net'
import { setTimeout as dormir } from 'node:timers/promises'

// The generator shares the cores with what it measures, so it does little: one keep-alive socket per connection, one
// request at a time on each, and no more HTTP than both sides speak (answers with Content-Length).

export interface Peticion {
  metodo: 'GET' | 'POST'
  ruta: string
  llave: string
  cuerpo?: string
  cabeceras?: Readonly<Record<string, string>>
}

export interface Carga {
  url: string
  conexiones: number
  segundos: number
  siguiente: (conexion: number) => Peticion
  /** The status that every answer must have; any, where answers aren't the point. */
  espera?: number
  /**
   * Requests a second on each connection; without it, one after another as fast as they are answered. A request counts from
   * when it should have begun, so that those which wait for a slow one aren't left out.
   */
  ritmo?: number
  /** Whether an answer's body is what it should be. */
  revisar?: (cuerpo: string) => boolean
}

export interface Resultado {
  total: number
  porSegundo: number
  /** Milliseconds. */
  p50: number
  p95: number
  p99: number
}

const PLAZO = 30_000

/** Loads the server for some seconds. A single answer other than the expected one fails the run. */
export async function cargar({
  url,
  conexiones,
  segundos,
  siguiente,
  espera,
  ritmo,
  revisar,
}: Carga): Promise<Resultado> {
  const latencias: number[] = []
  const inicio = performance.now()
  const fin = inicio + segundos * 1000
  const conducir = async (conexion: number) => {
    const enchufe = abrirEnchufe(url)
    try {
      // Each connection begins at a moment of its own.
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

export interface Respuesta {
  status: number
  cuerpo: () => string
}

export interface Enchufe {
  pedir(peticion: Peticion): Promise<Respuesta>
  cerrar(): void
}

/** One connection. Requests on it go one after another. */
export function abrirEnchufe(url: string): Enchufe {
  const { hostname, port, host } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let recibido: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  let espera: PromiseWithResolvers<Respuesta> | undefined
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
      const cabeza = `${metodo} ${ruta} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${llave}\r\n${otras.join('')}`
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

/** undefined: not all of it is there yet. */
function leerRespuesta(bytes: Buffer): Respuesta | undefined {
  const corte = bytes.indexOf('\r\n\r\n')
  if (corte < 0) return undefined
  const cabeza = bytes.toString('latin1', 0, corte)
  const largo = /\r\ncontent-length: *(\d+)/i.exec(cabeza)?.[1]
  if (largo === undefined) throw new Error(`una respuesta sin Content-Length:\n${cabeza}`)
  const inicio = corte + 4
  if (bytes.length < inicio + Number(largo)) return undefined
  return { status: Number(cabeza.slice(9, 12)), cuerpo: () => bytes.toString('utf8', inicio) }
}
