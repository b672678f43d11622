import tls from 'node:tls'
import type { Dispatcher } from 'undici'
import { type HostResolver, readDestination } from '../../platform/outbound/destination.ts'
import {
  type ConnectionOwner,
  type ConnectionPool,
  createConnectionPool,
  type EndExchange,
  openSocket,
  type ReceiverConnection,
} from './connections.ts'
import {
  type Arrived,
  describeResult,
  type ExchangeResult,
  isClosed,
  TIMED_OUT,
  TOO_MANY_INFORMATIONAL,
} from './response.ts'

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
  enviar(solicitud: SendRequest): Promise<ExchangeResult>
  /** Closes the sender. Exchanges in progress end at once with a connection error. */
  cerrar(): Promise<void>
}

interface OpcionesDeEnvio {
  resolver: HostResolver
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
export const EXCHANGE_TIMEOUT = 15_000

/** Creates a sender with connections of its own. */
export function createSender({
  resolver,
  plazo = EXCHANGE_TIMEOUT,
  maximo = 16_384,
  ociosas = 4_000,
  ca,
}: OpcionesDeEnvio): Sender {
  const contexto = tls.createSecureContext({ ca })
  const reserva = createConnectionPool(
    (conexion, url, loopback) => openSocket(conexion, url, { resolver, loopback }, contexto),
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

function intercambiar(
  solicitud: SendRequest,
  reserva: ConnectionPool,
  { plazo, maximo }: Limites,
): Promise<ExchangeResult> {
  const inicio = performance.now()
  const llegado: Arrived = { status: null, cabeceras: {}, trozos: [], bytes: 0, completo: false, primerByte: null }
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>()
  let conexion: ReceiverConnection | null = null
  let terminado = false

  // The first call decides the result. Causes are the end of the response, an error, the deadline, or the closing of
  // the sender.
  const terminar: EndExchange = (causa) => {
    if (terminado) return
    terminado = true
    clearTimeout(reloj)
    resolve(describeResult(llegado, causa, conexion, inicio))
    if (!conexion) return
    if (llegado.completo) reserva.soltar(conexion)
    else reserva.desechar(conexion)
  }
  const reloj = setTimeout(terminar, plazo, TIMED_OUT)

  const despachar = (url: URL, nueva: ReceiverConnection): void => {
    conexion = nueva
    const fallar = (error: Error) => {
      // The receiver may have closed an idle connection just before this request used it. The receiver has not seen the
      // request, so a new connection may repeat it.
      const caduca = nueva.reutilizada && llegado.primerByte === null && isClosed(error)
      if (terminado || !caduca) return terminar(error)
      reserva.desechar(nueva)
      despachar(url, reserva.abrir(solicitud, url, terminar))
    }
    nueva.cliente.dispatch(peticion(solicitud, url), lector(nueva, llegado, maximo, terminar, fallar))
  }

  try {
    const url = solicitud.direccion ?? readDestination(solicitud.url, solicitud)
    despachar(url, reserva.tomar(solicitud, url, terminar))
  } catch (error) {
    terminar(error)
  }
  return promise
}

const peticion = ({ cabeceras, cuerpo }: SendRequest, url: URL): Dispatcher.DispatchOptions => ({
  method: 'POST',
  path: url.pathname + url.search,
  // The response is never decompressed, so a decompression bomb stays small.
  headers: { ...cabeceras, 'accept-encoding': 'identity' },
  body: cuerpo,
})

function lector(
  conexion: ReceiverConnection,
  llegado: Arrived,
  maximo: number,
  terminar: EndExchange,
  fallar: (error: Error) => void,
): Dispatcher.DispatchHandler {
  let informativas = 0
  return {
    onRequestStart() {
      conexion.interim?.restart()
    },
    onResponseStarted() {
      llegado.primerByte ??= performance.now()
    },
    onResponseStart(control, status, cabeceras) {
      if (status >= 200) {
        llegado.status = status
        llegado.cabeceras = cabeceras
      } else if (++informativas > INFORMATIVAS_MAXIMAS) control.abort(TOO_MANY_INFORMATIONAL)
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
