import { createHmac, timingSafeEqual } from 'node:crypto'
import { redactarMotivo } from './whatsappCodes.ts'

// Reads WhatsApp webhooks. Pure functions. The signature is checked over the raw bytes before parsing, so the body
// comes from Meta. Its shape changes with every version, so each item that is not understood is skipped.

/** Item of a WhatsApp webhook: the status of one of our messages, a recipient's location, or a text. */
export type Entrante =
  | {
      tipo: 'estado'
      proveedorId: string
      /** Our `id` with which the message was sent; null if absent. */
      nuestroId: string | null
      estado: 'enviado' | 'entregado' | 'leido' | 'fallido'
      en: Date
      codigo: string | null
      motivo: string | null
    }
  | (Mensaje & {
      tipo: 'ubicacion'
      lat: number
      lng: number
      nombre: string | null
      direccion: string | null
    })
  /** Every other kind of message counts as a text, with the words that it contains. */
  | (Mensaje & { tipo: 'texto'; texto: string })

interface Mensaje {
  proveedorId: string
  /**
   * Sender's telephone number in E.164, with its plus sign. Null if WhatsApp does not tell the number, which happens
   * only in answers to our messages.
   */
  telefono: string | null
  /** WhatsApp's id of the message that this message answers; null if none. */
  enRespuestaA: string | null
  en: Date
}

/**
 * Reports whether the header `X-Hub-Signature-256`, in either case, is the body's HMAC-SHA256 signature. Compares in
 * constant time.
 */
export function firmaValida(crudo: Buffer, cabecera: string | undefined, appSecret: string): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(cabecera ?? '') ?? []
  // With an empty secret, anybody could create a valid signature.
  if (!hex || appSecret === '') return false
  return timingSafeEqual(Buffer.from(hex, 'hex'), hmac(appSecret, crudo))
}

/**
 * Returns the text that answers Meta's verification GET, which proves that this service is the configured endpoint;
 * undefined if the request proves nothing.
 */
export function responderReto(consulta: Record<string, unknown>, verifyToken: string): string | undefined {
  const { 'hub.mode': modo, 'hub.verify_token': token, 'hub.challenge': reto } = consulta
  if (modo !== 'subscribe' || typeof token !== 'string' || typeof reto !== 'string' || verifyToken === '')
    return undefined
  // The compared digests have equal length, as `timingSafeEqual` requires.
  if (!timingSafeEqual(hmac('reto', token), hmac('reto', verifyToken))) return undefined
  // Meta's challenge is a number. An echo of any other text would help an attacker who guessed the token.
  return /^[\w-]{1,256}$/.test(reto) ? reto : undefined
}

const hmac = (clave: string, datos: string | Buffer): Buffer => createHmac('sha256', clave).update(datos).digest()

/**
 * Reads every message and status of our number from a webhook's JSON, in order. Never throws; JSON of any other form
 * gives an empty list or fewer items.
 * @param alSaltar called for each message or status of our number that cannot be read
 */
export function leerEntrantes(cuerpo: unknown, phoneNumberId: string, alSaltar = () => {}): Entrante[] {
  const { object, entry } = objeto(cuerpo)
  if (object !== 'whatsapp_business_account') return []
  const valores = lista(entry)
    .flatMap((entrada) => lista(objeto(entrada).changes))
    .map(objeto)
    .filter(({ field }) => field === 'messages')
    .map(({ value }) => objeto(value))
    // Several numbers may share one Meta application.
    .filter(({ metadata }) => objeto(metadata).phone_number_id === phoneNumberId)
  const leerLista = (crudos: unknown, leer: (crudo: Objeto) => Entrante | null) =>
    lista(crudos).flatMap((crudo) => {
      const leido = leer(objeto(crudo))
      if (!leido) alSaltar()
      return leido ?? []
    })
  return valores.flatMap(({ messages, statuses }) => [
    ...leerLista(messages, leerMensaje),
    ...leerLista(statuses, leerEstado),
  ])
}

const ESTADOS = { sent: 'enviado', delivered: 'entregado', read: 'leido', failed: 'fallido' } as const

function leerEstado(crudo: Objeto): Entrante | null {
  const proveedorId = texto(crudo.id, 512)
  const en = leerFecha(crudo.timestamp)
  const nombre = String(typeof crudo.status === 'string' ? crudo.status : '')
  if (!proveedorId || !en || !Object.hasOwn(ESTADOS, nombre)) return null
  const estado = ESTADOS[nombre as keyof typeof ESTADOS]
  const falla = estado === 'fallido' ? leerFalla(crudo.errors) : { codigo: null, motivo: null }
  return {
    tipo: 'estado',
    proveedorId,
    nuestroId: texto(crudo.biz_opaque_callback_data, 512),
    estado,
    en,
    ...falla,
  }
}

function leerFalla(errores: unknown) {
  const { code, title, message, error_data } = objeto(lista(errores)[0])
  const codigo = typeof code === 'number' || typeof code === 'string' ? texto(String(code), 20) : null
  const detalle = texto(objeto(error_data).details, 1000) ?? texto(message, 1000) ?? texto(title, 1000)
  return { codigo, motivo: redactarMotivo(codigo ?? 'desconocido', detalle) }
}

function leerMensaje(crudo: Objeto): Entrante | null {
  const proveedorId = texto(crudo.id, 512)
  const telefono = leerTelefono(crudo.from)
  const en = leerFecha(crudo.timestamp)
  // A reaction names the message in `reaction.message_id` and not in `context`.
  const enRespuestaA = texto(objeto(crudo.context).id, 512) ?? texto(objeto(crudo.reaction).message_id, 512)
  if (!proveedorId || !en || (!telefono && !enRespuestaA)) return null
  const comun = { proveedorId, telefono, enRespuestaA, en }
  if (crudo.type !== 'location') return { tipo: 'texto', ...comun, texto: leerPalabras(crudo) }
  const { latitude: lat, longitude: lng, name, address } = objeto(crudo.location)
  if (!esGrado(lat, 90) || !esGrado(lng, 180)) return null
  return { tipo: 'ubicacion', ...comun, lat, lng, nombre: texto(name, 1000), direccion: texto(address, 1000) }
}

/** Returns the text of a message of any kind: its text, the label of a button, the caption of an image, an emoji… */
function leerPalabras(crudo: Objeto): string {
  const contenido = objeto(typeof crudo.type === 'string' ? propio(crudo, crudo.type) : null)
  const { body, text, caption, emoji } = contenido
  const respuesta = objeto(contenido.button_reply ?? contenido.list_reply ?? contenido.nfm_reply)
  const candidatos = [body, text, caption, emoji, respuesta.title, respuesta.body]
  return candidatos.map((candidato) => texto(candidato, 4096)).find((palabras) => palabras !== null) ?? ''
}

// --- Reading untrusted values ---

type Objeto = Record<string, unknown>

const objeto = (valor: unknown): Objeto =>
  typeof valor === 'object' && valor !== null && !Array.isArray(valor) ? (valor as Objeto) : {}

const lista = (valor: unknown): unknown[] => (Array.isArray(valor) ? valor : [])

const propio = (de: Objeto, nombre: string): unknown => (Object.hasOwn(de, nombre) ? de[nombre] : undefined)

/** Returns a string without what PostgreSQL cannot store (NUL, lone surrogates); null if it is empty or no string. */
function texto(valor: unknown, maximo: number): string | null {
  if (typeof valor !== 'string') return null
  return valor.slice(0, maximo).replaceAll('\0', '').toWellFormed() || null
}

/**
 * Returns a telephone in E.164; null if invalid. WhatsApp omits the plus sign, and keeps the 1 that Mexico dropped from
 * its mobile numbers in 2019.
 */
function leerTelefono(valor: unknown): string | null {
  const digitos = typeof valor === 'string' ? valor.replace(/^\+/, '') : ''
  return /^[1-9]\d{5,14}$/.test(digitos) ? `+${digitos.replace(/^521(\d{10})$/, '52$1')}` : null
}

/** Reads a Unix time in seconds, written as digits; null if invalid. */
function leerFecha(valor: unknown): Date | null {
  const digitos = typeof valor === 'number' || typeof valor === 'string' ? String(valor) : ''
  return /^\d{1,10}$/.test(digitos) ? new Date(Number(digitos) * 1000) : null
}

const esGrado = (valor: unknown, maximo: number): valor is number =>
  typeof valor === 'number' && Math.abs(valor) <= maximo
