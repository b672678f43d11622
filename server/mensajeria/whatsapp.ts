import { type Dispatcher, errors, Pool } from 'undici'
import { enmascarar, juzgarCodigo, redactarMotivo } from './codigosDeWhatsapp.ts'

export { type Entrante, firmaValida, leerEntrantes, responderReto } from './entrantesDeWhatsapp.ts'

// A client of the WhatsApp Cloud API. Its answer to every send is one of four, and the one that matters is `dudoso`:
// who repeats a message that may have gone out writes to a person twice, who gives up one that didn't leaves him without.

/** How the service reaches WhatsApp, and the template that its messages are made from. */
export interface ConfigDeWhatsapp {
  /** https://graph.facebook.com */
  baseUrl: string
  /** v23.0 */
  version: string
  phoneNumberId: string
  token: string
  appSecret: string
  verifyToken: string
  /** The approved template: three variables in its body (marca, comercio, municipio) and one URL button with a suffix. */
  plantilla: string
  /** As the template has it: es, es_MX… */
  idioma: string
}

/** What became of sending a message; the reasons are for an operator, and safe to log, without phones or secrets. */
export type Envio =
  /** `proveedorId` is the wamid. */
  | { resultado: 'aceptado'; proveedorId: string }
  /** It wasn't sent, and never will be as it stands. */
  | { resultado: 'rechazado'; codigo: string; motivo: string }
  /** It wasn't sent; it may be later. */
  | { resultado: 'pasajero'; codigo: string; motivo: string; esperar_s: number | null }
  /**
   * The request left and no answer came that would tell: it may have been sent. A later status with our id settles it.
   */
  | { resultado: 'dudoso'; motivo: string }

interface Destinatario {
  /** Ours; it comes back in every status of the message. */
  id: string
  /** E.164 */
  telefono: string
}
interface Libre extends Destinatario {
  texto: string
  /** The wamid that it answers. */
  enRespuestaA?: string
}

interface DatosDePlantilla {
  /** Who delivers, by the name that recipients know. */
  marca: string
  comercio: string
  municipio: string
  token: string
}

/** Sends messages by WhatsApp, and never rejects; a free message reaches only who wrote to us in the last 24 hours. */
export interface ClienteDeWhatsapp {
  /** `token` is the suffix of the button's URL. */
  enviarPlantilla(mensaje: Destinatario & DatosDePlantilla): Promise<Envio>
  /** A text with the button that shares a location. */
  pedirUbicacion(mensaje: Libre): Promise<Envio>
  enviarTexto(mensaje: Libre): Promise<Envio>
  /** What is under way ends at once. */
  cerrar(): Promise<void>
}

interface OpcionesDeCliente {
  /** For everything from connecting to the last byte, in ms. */
  plazo?: number
  /** At a time; the rest wait for their turn, within their deadline. */
  conexiones?: number
  /** Trusted instead of the well-known authorities, in PEM. */
  ca?: string
}

/** Creates a client of the WhatsApp Cloud API, with connections of its own. */
export function crearClienteDeWhatsapp(config: ConfigDeWhatsapp, opciones: OpcionesDeCliente = {}): ClienteDeWhatsapp {
  const transporte = crearTransporte(config, opciones)
  const enviar = async ({ id, telefono, enRespuestaA }: Omit<Libre, 'texto'>, contenido: object): Promise<Envio> => {
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
    enviarPlantilla: (mensaje) => enviar(mensaje, plantilla(config, mensaje)),
    pedirUbicacion: (mensaje) =>
      enviar(mensaje, {
        type: 'interactive',
        interactive: {
          type: 'location_request_message',
          body: { text: recortar(mensaje.texto, 1024) },
          action: { name: 'send_location' },
        },
      }),
    // Without a preview: to make one, Meta would open the recipient's personal link.
    enviarTexto: (mensaje) =>
      enviar(mensaje, { type: 'text', text: { preview_url: false, body: recortar(mensaje.texto, 4096) } }),
    cerrar: () => transporte.cerrar(),
  }
}

// --- What is sent ---

function plantilla(config: ConfigDeWhatsapp, datos: DatosDePlantilla): object {
  const variable = (texto: string) => ({ type: 'text', text: enUnaLinea(texto) })
  return {
    type: 'template',
    template: {
      name: config.plantilla,
      language: { code: config.idioma },
      components: [
        { type: 'body', parameters: [datos.marca, datos.comercio, datos.municipio].map(variable) },
        { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: datos.token }] },
      ],
    },
  }
}

/** WhatsApp refuses variables with line breaks, tabs, more than four spaces in a row or nothing at all. */
const enUnaLinea = (texto: string): string => recortar(texto.replace(/[\s\p{Cc}]+/gu, ' ').trim(), 200) || '—'

/** By characters, so that none is cut in two. */
const recortar = (texto: string, maximo: number): string => {
  const limpio = texto.toWellFormed()
  if (limpio.length <= maximo) return limpio
  return `${limpio.slice(0, maximo - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

// --- One exchange ---

interface Desenlace {
  /** The request was handed to an open connection: from there on it may have arrived. */
  escrito: boolean
  /** null when the answer is whole. */
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
  // The deadline is ours, over everything. An idle connection is given up soon: one that Meta closes just as we take it
  // makes a message doubtful.
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

/** The first to call `terminar` decides: the end of the answer, an error, the deadline or the closing of the client. */
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
    // Called with a connection open, just before the whole request is written in one go.
    onRequestStart(nuevo) {
      // Either it was already told how it ended, and must not leave after that, or undici would repeat it.
      if (terminado || llegado.escrito) return nuevo.abort(REPETIDA)
      llegado.escrito = true
      control = nuevo
    },
    onResponseStart(_control, status, cabeceras) {
      // 1xx answers announce another.
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

// --- What it means ---

function juzgar(desenlace: Desenlace): Envio {
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

function noSalio(causa: Error): Envio {
  const { code = 'red' } = causa as NodeJS.ErrnoException
  // What can't even be written to a header: it is the same tomorrow.
  if (causa instanceof errors.InvalidArgumentError) {
    const motivo = 'El token o el phone number id llevan caracteres que no se pueden enviar: corrija la configuración.'
    return { resultado: 'rechazado', codigo: 'configuracion', motivo }
  }
  const motivo = `No se llegó a enviar el mensaje a WhatsApp (${code}): compruebe la salida a Internet; se reintentará.`
  return { resultado: 'pasajero', codigo: code, motivo, esperar_s: null }
}

function dudoso(causa: Error): Envio {
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

function juzgarError({ code, detalle, pasajero }: ErrorDeGraph, desenlace: Desenlace): Envio {
  const veredicto = juzgarCodigo(code)
  const motivo = redactarMotivo(code, detalle)
  if (!(veredicto?.pasajero ?? (pasajero || esPasajero(desenlace.status)))) {
    return { resultado: 'rechazado', codigo: code, motivo }
  }
  return { resultado: 'pasajero', codigo: code, motivo, esperar_s: espera(desenlace) ?? veredicto?.esperar_s ?? null }
}

const esPasajero = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

/** An answer that isn't the API's own, but of somebody in between. */
function juzgarStatus(desenlace: Desenlace): Envio {
  const { status, cuerpo } = desenlace
  // A gateway that waited for the API in vain knows no more than we do.
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

/** In seconds, as the answer asks for: Retry-After, or what Meta writes about the limit that was reached. */
function espera({ cabeceras }: Desenlace): number | null {
  const cabecera = (nombre: string) => [cabeceras[nombre]].flat()[0]?.trim() ?? ''
  const retry = cabecera('retry-after')
  const segundos = /^\d{1,9}$/.test(retry) ? Number(retry) : (Date.parse(retry) - Date.now()) / 1000
  const pedida = segundos > 0 ? segundos : minutosDeUso(cabecera('x-business-use-case-usage')) * 60
  return pedida > 0 ? Math.ceil(Math.min(pedida, ESPERA_MAXIMA)) : null
}

/** `{"<business>": [{"type": …, "estimated_time_to_regain_access": <minutes>}]}` */
function minutosDeUso(cabecera: string): number {
  const usos = Object.values(objeto(leerJson(cabecera))).flat()
  const minutos = usos.map((uso) => objeto(uso).estimated_time_to_regain_access)
  return Math.max(0, ...minutos.filter((valor) => typeof valor === 'number'))
}
