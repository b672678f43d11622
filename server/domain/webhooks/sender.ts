import tls from 'node:tls'
import type { Dispatcher } from 'undici'
import { leerDestino, type Resolver } from '../../platform/outbound/destination.ts'
import { abrirSocket, type Conexion, crearReserva, type Reserva, type Terminar, type Titular } from './connections.ts'
import { AGOTADO, DEMASIADAS_INFORMATIVAS, esCierre, type Llegado, type Respuesta, redactar } from './response.ts'

// Sends a POST request to a receiver that may be slow, broken or hostile. The exchange is always bounded in time and in
// bytes, and never throws. The receiver belongs to a merchant, so each error has a text for the merchant.

/** Request to an endpoint. */
export interface Solicitud extends Titular {
  url: string
  /** Parsed `url`, if `leerDestino` has already checked it. */
  direccion?: URL | undefined
  /** Headers to send, with names in lower case. */
  cabeceras: Readonly<Record<string, string>>
  cuerpo: string
}

/** Sender of requests to endpoints. */
export interface Enviador {
  /** Sends one request and returns its result. The promise never rejects. */
  enviar(solicitud: Solicitud): Promise<Respuesta>
  /** Closes the sender. Exchanges in progress end at once with a connection error. */
  cerrar(): Promise<void>
}

interface OpcionesDeEnvio {
  resolver: Resolver
  /** Deadline for the whole exchange, from DNS to the last byte, in milliseconds. */
  plazo?: number
  /** Maximum number of bytes that are read of a response body. */
  maximo?: number
  /** Maximum number of idle connections that stay open, over all endpoints. */
  ociosas?: number
  /** Certificate authorities to trust instead of the well-known ones, in PEM. */
  ca?: string
}

/** Maximum duration of an exchange, in milliseconds. */
export const PLAZO_DE_INTERCAMBIO = 15_000

/** Creates a sender with connections of its own. */
export function crearEnviador({
  resolver,
  plazo = PLAZO_DE_INTERCAMBIO,
  maximo = 16_384,
  ociosas = 4_000,
  ca,
}: OpcionesDeEnvio): Enviador {
  const contexto = tls.createSecureContext({ ca })
  const reserva = crearReserva(
    (conexion, url, loopback) => abrirSocket(conexion, url, { resolver, loopback }, contexto),
    ociosas,
  )
  return {
    enviar: (solicitud) => intercambiar(solicitud, reserva, { plazo, maximo }),
    cerrar: () => reserva.cerrar(),
  }
}

const INFORMATIVAS_MAXIMAS = 16
const CUERPO_LARGO = new Error('the response body exceeds the size limit')

interface Limites {
  plazo: number
  maximo: number
}

function intercambiar(solicitud: Solicitud, reserva: Reserva, { plazo, maximo }: Limites): Promise<Respuesta> {
  const inicio = performance.now()
  const llegado: Llegado = { status: null, cabeceras: {}, trozos: [], bytes: 0, completo: false, primerByte: null }
  const { promise, resolve } = Promise.withResolvers<Respuesta>()
  let conexion: Conexion | null = null
  let terminado = false

  // The first call decides the result: the end of the response, an error, the deadline or the close of the sender.
  const terminar: Terminar = (causa) => {
    if (terminado) return
    terminado = true
    clearTimeout(reloj)
    resolve(redactar(llegado, causa, conexion, inicio))
    if (!conexion) return
    if (llegado.completo) reserva.soltar(conexion)
    else reserva.desechar(conexion)
  }
  const reloj = setTimeout(terminar, plazo, AGOTADO)

  const despachar = (url: URL, nueva: Conexion): void => {
    conexion = nueva
    const fallar = (error: Error) => {
      // The receiver may have closed an idle connection just before this request used it. The receiver has not seen the
      // request, so a new connection may repeat it.
      const caduca = nueva.reutilizada && llegado.primerByte === null && esCierre(error)
      if (terminado || !caduca) return terminar(error)
      reserva.desechar(nueva)
      despachar(url, reserva.abrir(solicitud, url, terminar))
    }
    nueva.cliente.dispatch(peticion(solicitud, url), lector(llegado, maximo, terminar, fallar))
  }

  try {
    const url = solicitud.direccion ?? leerDestino(solicitud.url, solicitud)
    despachar(url, reserva.tomar(solicitud, url, terminar))
  } catch (error) {
    terminar(error)
  }
  return promise
}

const peticion = ({ cabeceras, cuerpo }: Solicitud, url: URL): Dispatcher.DispatchOptions => ({
  method: 'POST',
  path: url.pathname + url.search,
  // The response is never decompressed, so a decompression bomb stays small.
  headers: { ...cabeceras, 'accept-encoding': 'identity' },
  body: cuerpo,
})

function lector(
  llegado: Llegado,
  maximo: number,
  terminar: Terminar,
  fallar: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let informativas = 0
  return {
    onRequestStart() {},
    onResponseStarted() {
      llegado.primerByte ??= performance.now()
    },
    onResponseStart(control, status, cabeceras) {
      if (status >= 200) {
        llegado.status = status
        llegado.cabeceras = cabeceras
      } else if (++informativas > INFORMATIVAS_MAXIMAS) control.abort(DEMASIADAS_INFORMATIVAS)
    },
    onResponseData(control, trozo) {
      const sobra = llegado.bytes + trozo.length > maximo
      llegado.trozos.push(sobra ? trozo.subarray(0, maximo - llegado.bytes) : trozo)
      llegado.bytes += trozo.length
      if (sobra) control.abort(CUERPO_LARGO)
    },
    onResponseEnd() {
      llegado.completo = true
      terminar(null)
    },
    onResponseError: (_control, error) => fallar(error),
  }
}
