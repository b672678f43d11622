import { type Dispatcher, errors, Pool } from 'undici'
import { enmascarar, juzgarCodigo, redactarMotivo } from './whatsappCodes.ts'

export { type Entrante, firmaValida, leerEntrantes, responderReto } from './whatsappInbound.ts'

// Client of the WhatsApp Cloud API. Every send ends with one of the four results of `WhatsappResult`.

/** Access to the WhatsApp Cloud API, and the template of its messages. */
export interface ConfigDeWhatsapp {
  /** Base URL, for example https://graph.facebook.com */
  baseUrl: string
  /** Version of the API, for example v23.0 */
  version: string
  phoneNumberId: string
  token: string
  appSecret: string
  verifyToken: string
  /**
   * Name of the approved template that asks for a location. It has three variables in its body (marca, comercio,
   * municipio) and one URL button with a suffix.
   */
  plantilla: string
  /**
   * Name of the approved template that asks for a decision. Its third variable is the time until which the recipient
   * may decide; otherwise it is like `plantilla`.
   */
  plantillaDeDecision: string
  /** Language of the templates, for example es or es_MX. */
  idioma: string
}

/**
 * Result of sending a message. `dudoso` means that nobody knows if the message was sent: a repetition might reach the
 * person twice, and giving up might leave the person without it. The reasons are for an operator and safe to log,
 * without telephones or secrets.
 */
export type WhatsappResult =
  /** `proveedorId` is WhatsApp's message id (wamid). */
  | { resultado: 'aceptado'; proveedorId: string }
  /** Not sent; the same message can never succeed. */
  | { resultado: 'rechazado'; codigo: string; motivo: string }
  /** Not sent; a retry may succeed. */
  | { resultado: 'pasajero'; codigo: string; motivo: string; esperar_s: number | null }
  /**
   * The request was written, but no conclusive answer came: the message may have been sent. A later status with our id
   * settles it.
   */
  | { resultado: 'dudoso'; motivo: string }

interface Destinatario {
  /** Our message id; every status of the message contains it. */
  id: string
  /** Recipient's telephone number in E.164. */
  telefono: string
}
interface Libre extends Destinatario {
  texto: string
  /** WhatsApp's id (wamid) of the message that this message answers. */
  enRespuestaA?: string
}

interface DatosDePlantilla {
  /** Name of the courier company, as recipients know it. */
  marca: string
  comercio: string
  municipio: string
  token: string
}

interface DatosDePregunta extends Omit<DatosDePlantilla, 'municipio'> {
  /** Day and time until which the recipient may decide. */
  hasta: string
}

/**
 * Sends messages through WhatsApp, and never rejects. A free message reaches only a recipient who wrote to the service
 * in the last 24 hours.
 */
export interface ClienteDeWhatsapp {
  /** Sends the template that asks for a location; `token` is the suffix of the button's URL. */
  enviarPlantilla(mensaje: Destinatario & DatosDePlantilla): Promise<WhatsappResult>
  /** Sends the template that asks for a decision; `token` is the suffix of the button's URL. */
  preguntarDecision(mensaje: Destinatario & DatosDePregunta): Promise<WhatsappResult>
  /** Sends a text with the button that shares a location. */
  pedirUbicacion(mensaje: Libre): Promise<WhatsappResult>
  enviarTexto(mensaje: Libre): Promise<WhatsappResult>
  /** Ends all requests in progress at once. */
  cerrar(): Promise<void>
}

interface OpcionesDeCliente {
  /** Deadline in milliseconds, from connecting to the last byte of the answer. */
  plazo?: number
  /** Maximum connections; other messages wait for their turn, within their deadline. */
  conexiones?: number
  /** Certificate authorities in PEM, trusted instead of the well-known authorities. */
  ca?: string
}

/** Creates a client of the WhatsApp Cloud API with a connection pool of its own. */
export function crearClienteDeWhatsapp(config: ConfigDeWhatsapp, opciones: OpcionesDeCliente = {}): ClienteDeWhatsapp {
  const transporte = crearTransporte(config, opciones)
  const enviar = async (
    { id, telefono, enRespuestaA }: Omit<Libre, 'texto'>,
    contenido: object,
  ): Promise<WhatsappResult> => {
    const cuerpo = {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: telefono.replace(/\D/g, ''),
      ...(enRespuestaA && { context: { message_id: enRespuestaA } }),
      ...contenido,
      biz_opaque_callback_data: id,
    }
    return juzgar(await transporte.enviar(JSON.stringify(cuerpo)))
  }
  return {
    enviarPlantilla: ({ marca, comercio, municipio, token, ...mensaje }) =>
      enviar(mensaje, plantilla(config, config.plantilla, [marca, comercio, municipio], token)),
    preguntarDecision: ({ marca, comercio, hasta, token, ...mensaje }) =>
      enviar(mensaje, plantilla(config, config.plantillaDeDecision, [marca, comercio, hasta], token)),
    pedirUbicacion: (mensaje) =>
      enviar(mensaje, {
        type: 'interactive',
        interactive: {
          type: 'location_request_message',
          body: { text: recortar(mensaje.texto, 1024) },
          action: { name: 'send_location' },
        },
      }),
    // No link preview, because Meta would open the recipient's personal link to make one.
    enviarTexto: (mensaje) =>
      enviar(mensaje, { type: 'text', text: { preview_url: false, body: recortar(mensaje.texto, 4096) } }),
    cerrar: () => transporte.cerrar(),
  }
}

// --- Building requests ---

function plantilla(config: ConfigDeWhatsapp, nombre: string, variables: readonly string[], token: string): object {
  const variable = (texto: string) => ({ type: 'text', text: enUnaLinea(texto) })
  return {
    type: 'template',
    template: {
      name: nombre,
      language: { code: config.idioma },
      components: [
        { type: 'body', parameters: variables.map(variable) },
        { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: token }] },
      ],
    },
  }
}

/**
 * Returns a text as one line of at most 200 characters. WhatsApp rejects variables that are empty or that contain line
 * breaks, tabs or more than four spaces in a row.
 */
const enUnaLinea = (texto: string): string => recortar(texto.replace(/[\s\p{Cc}]+/gu, ' ').trim(), 200) || '—'

/** Cuts a text to `maximo` UTF-16 code units, without splitting a surrogate pair. */
const recortar = (texto: string, maximo: number): string => {
  const limpio = texto.toWellFormed()
  if (limpio.length <= maximo) return limpio
  return `${limpio.slice(0, maximo - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

// --- HTTP exchange ---

interface Desenlace {
  /** True once the request was handed to an open connection; from then on it may have arrived. */
  escrito: boolean
  /** Error that ended the exchange; null if the answer is complete. */
  causa: Error | null
  status: number
  cabeceras: Record<string, string | string[] | undefined>
  cuerpo: string
}
type Terminar = (causa: Error | null) => void

interface Transporte {
  enviar(cuerpo: string): Promise<Desenlace>
  cerrar(): Promise<void>
}

const BYTES_MAXIMOS = 65_536
const falla = (mensaje: string, code: string) => Object.assign(new Error(mensaje), { code })
const AGOTADO = falla('the deadline passed', 'plazo')
const CERRADO = falla('the client was closed', 'cerrado')
const LARGA = falla('the answer is too long', 'respuesta_larga')
const REPETIDA = falla('the request would have been written twice', 'repetida')

function crearTransporte(config: ConfigDeWhatsapp, opciones: OpcionesDeCliente): Transporte {
  const { plazo = 15_000, conexiones = 32, ca } = opciones
  const base = new URL(config.baseUrl)
  const segmentos = [config.version, config.phoneNumberId, 'messages'].map(encodeURIComponent)
  const path = [base.pathname.replace(/\/+$/, ''), ...segmentos].join('/')
  // The client has its own deadline, so undici's timeouts are off. Idle connections are closed early, because a
  // connection that Meta closes just as it is used makes a message doubtful.
  const pool = new Pool(base.origin, {
    connections: conexiones,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 10_000,
    maxHeaderSize: 16_384,
    connect: { timeout: plazo, ...(ca && { ca }) },
  })
  const enCurso = new Set<Terminar>()
  let cerrado = false

  async function enviar(cuerpo: string): Promise<Desenlace> {
    if (cerrado) return { escrito: false, causa: CERRADO, status: 0, cabeceras: {}, cuerpo: '' }
    const headers = {
      authorization: `Bearer ${config.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
    }
    const { desenlace, oyente, terminar } = intercambio()
    enCurso.add(terminar)
    const reloj = setTimeout(terminar, plazo, AGOTADO)
    try {
      pool.dispatch({ method: 'POST', path, headers, body: cuerpo }, oyente)
      return await desenlace
    } finally {
      clearTimeout(reloj)
      enCurso.delete(terminar)
    }
  }

  return {
    enviar,
    async cerrar() {
      cerrado = true
      for (const terminar of enCurso) terminar(CERRADO)
      await pool.destroy()
    },
  }
}

/**
 * Creates the state of one exchange. The first call of `terminar` decides the outcome: the end of the answer, an error,
 * the deadline or the closing of the client.
 */
function intercambio() {
  const { promise: desenlace, resolve } = Promise.withResolvers<Desenlace>()
  const llegado: Omit<Desenlace, 'causa' | 'cuerpo'> = { escrito: false, status: 0, cabeceras: {} }
  const trozos: Buffer[] = []
  let bytes = 0
  let terminado = false
  let control: Dispatcher.DispatchController | null = null

  const terminar: Terminar = (causa) => {
    if (terminado) return
    terminado = true
    resolve({ ...llegado, causa, cuerpo: Buffer.concat(trozos).toString('utf8') })
    if (causa && control) control.abort(causa)
  }
  const oyente: Dispatcher.DispatchHandler = {
    // undici calls this with an open connection, just before it writes the whole request in one go.
    onRequestStart(nuevo) {
      // Stops the request if its outcome is already decided, or if undici is about to send it a second time.
      if (terminado || llegado.escrito) return nuevo.abort(REPETIDA)
      llegado.escrito = true
      control = nuevo
    },
    onResponseStart(_control, status, cabeceras) {
      // A 1xx answer precedes the final answer.
      if (status >= 200) Object.assign(llegado, { status, cabeceras })
    },
    onResponseData(_control, trozo) {
      trozos.push(trozo)
      bytes += trozo.length
      if (bytes > BYTES_MAXIMOS) terminar(LARGA)
    },
    onResponseEnd: () => terminar(null),
    onResponseError: (_control, error) => terminar(error),
  }
  return { desenlace, oyente, terminar }
}

// --- Interpreting the answer ---

function juzgar(desenlace: Desenlace): WhatsappResult {
  const { causa, escrito, status } = desenlace
  if (causa) return escrito ? dudoso(causa) : noSalio(causa)
  const respuesta = leerRespuesta(desenlace.cuerpo)
  if (respuesta.error) return juzgarError(respuesta.error, desenlace)
  if (status >= 200 && status < 300) {
    return respuesta.wamid
      ? { resultado: 'aceptado', proveedorId: respuesta.wamid }
      : {
          resultado: 'dudoso',
          motivo: 'WhatsApp aceptó la solicitud sin dar el id del mensaje: espere su aviso de estado.',
        }
  }
  return juzgarStatus(desenlace)
}

function noSalio(causa: Error): WhatsappResult {
  const { code = 'red' } = causa as NodeJS.ErrnoException
  // A token or id with characters that HTTP headers or URLs forbid fails at every retry, too.
  if (causa instanceof errors.InvalidArgumentError) {
    const motivo = 'El token o el phone number id llevan caracteres que no se pueden enviar: corrija la configuración.'
    return { resultado: 'rechazado', codigo: 'configuracion', motivo }
  }
  const motivo = `No se llegó a enviar el mensaje a WhatsApp (${code}): compruebe la salida a Internet; se reintentará.`
  return { resultado: 'pasajero', codigo: code, motivo, esperar_s: null }
}

function dudoso(causa: Error): WhatsappResult {
  const { code = 'red' } = causa as NodeJS.ErrnoException
  const motivo = `Se envió el mensaje y WhatsApp no llegó a responder (${code}): pudo haber salido; espere su aviso de estado.`
  return { resultado: 'dudoso', motivo }
}

interface ErrorDeGraph {
  code: string
  detalle: string | null
  pasajero: boolean
}

function leerRespuesta(cuerpo: string): { error: ErrorDeGraph | null; wamid: string | null } {
  const { error, messages } = objeto(leerJson(cuerpo))
  const { id } = objeto(Array.isArray(messages) ? messages[0] : null)
  const { code, message, error_data, is_transient } = objeto(error)
  const detalle = [objeto(error_data).details, message].find((texto) => typeof texto === 'string')
  return {
    error: Number.isInteger(code)
      ? { code: String(code), detalle: detalle ?? null, pasajero: is_transient === true }
      : null,
    wamid: typeof id === 'string' && id !== '' && id.length <= 512 ? id : null,
  }
}

function leerJson(texto: string): unknown {
  try {
    return JSON.parse(texto)
  } catch {
    return null
  }
}

const objeto = (valor: unknown): Record<string, unknown> =>
  typeof valor === 'object' && valor !== null ? (valor as Record<string, unknown>) : {}

function juzgarError({ code, detalle, pasajero }: ErrorDeGraph, desenlace: Desenlace): WhatsappResult {
  const veredicto = juzgarCodigo(code)
  const motivo = redactarMotivo(code, detalle)
  if (!(veredicto?.pasajero ?? (pasajero || esPasajero(desenlace.status)))) {
    return { resultado: 'rechazado', codigo: code, motivo }
  }
  return { resultado: 'pasajero', codigo: code, motivo, esperar_s: espera(desenlace) ?? veredicto?.esperar_s ?? null }
}

const esPasajero = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

/** Interprets an answer that does not come from the API itself but from an intermediary. */
function juzgarStatus(desenlace: Desenlace): WhatsappResult {
  const { status, cuerpo } = desenlace
  // A gateway that got no answer from the API does not know either whether the message was sent.
  if (status === 502 || status === 504) {
    const motivo = `Un intermediario respondió ${status} en lugar de WhatsApp: el mensaje pudo haber salido; espere su aviso de estado.`
    return { resultado: 'dudoso', motivo }
  }
  const visible = enmascarar(cuerpo.replace(/<[^<>]*>/g, ' ')).slice(0, 100)
  const inicio = `WhatsApp respondió ${status} sin explicarlo`
  const final = visible ? ` (empieza: «${visible.toWellFormed()}»)` : ''
  if (esPasajero(status)) {
    const motivo = `${inicio}: se reintentará.${final}`
    return { resultado: 'pasajero', codigo: `http_${status}`, motivo, esperar_s: espera(desenlace) }
  }
  const motivo = `${inicio}: revise la dirección y la versión de la API en la configuración.${final}`
  return { resultado: 'rechazado', codigo: `http_${status}`, motivo }
}

const ESPERA_MAXIMA = 86_400

/**
 * Returns the seconds to wait that the answer asks for, at most a day: `Retry-After`, or Meta's estimate for the limit
 * that was reached. Null if the answer asks for none.
 */
function espera({ cabeceras }: Desenlace): number | null {
  const cabecera = (nombre: string) => [cabeceras[nombre]].flat()[0]?.trim() ?? ''
  const retry = cabecera('retry-after')
  const segundos = /^\d{1,9}$/.test(retry) ? Number(retry) : (Date.parse(retry) - Date.now()) / 1000
  const pedida = segundos > 0 ? segundos : minutosDeUso(cabecera('x-business-use-case-usage')) * 60
  return pedida > 0 ? Math.ceil(Math.min(pedida, ESPERA_MAXIMA)) : null
}

/**
 * Returns the longest wait in minutes of the header `X-Business-Use-Case-Usage`; 0 if none. Form of the header:
 * `{"<business>": [{"type": …, "estimated_time_to_regain_access": <minutes>}]}`
 */
function minutosDeUso(cabecera: string): number {
  const usos = Object.values(objeto(leerJson(cabecera))).flat()
  const minutos = usos.map((uso) => objeto(uso).estimated_time_to_regain_access)
  return Math.max(0, ...minutos.filter((valor) => typeof valor === 'number'))
}
