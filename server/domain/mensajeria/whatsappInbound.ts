import { createHmac, timingSafeEqual } from 'node:crypto'
import { writeReason } from './whatsappCodes.ts'

// Reads WhatsApp webhooks. Pure functions. The signature is checked over the raw bytes before parsing, so the body
// comes from Meta. Its shape changes with every version, so each item that is not understood is skipped.

/** Item of a WhatsApp webhook: the status of one of our messages, a recipient's location, or a text. */
export type InboundItem =
  | {
      tipo: 'estado'
      providerId: string
      /** Our `id` with which the message was sent; null if absent. */
      ownId: string | null
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
  providerId: string
  /**
   * Sender's telephone number in E.164, with its plus sign. Null if WhatsApp does not tell the number, which happens
   * only in answers to our messages.
   */
  telefono: string | null
  /** WhatsApp's id of the message that this message answers; null if none. */
  inReplyTo: string | null
  en: Date
}

/**
 * Reports whether the header `X-Hub-Signature-256`, in either case, is the body's HMAC-SHA256 signature. Compares in
 * constant time.
 */
export function isFirmaValid(raw: Buffer, header: string | undefined, appSecret: string): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(header ?? '') ?? []
  // With an empty secret, anybody could create a valid signature.
  if (!hex || appSecret === '') return false
  return timingSafeEqual(Buffer.from(hex, 'hex'), hmac(appSecret, raw))
}

/**
 * Returns the text that answers Meta's verification GET, which proves that this service is the configured endpoint;
 * undefined if the request proves nothing.
 */
export function answerChallenge(query: Record<string, unknown>, verifyToken: string): string | undefined {
  const { 'hub.mode': modo, 'hub.verify_token': token, 'hub.challenge': reto } = query
  if (modo !== 'subscribe' || typeof token !== 'string' || typeof reto !== 'string' || verifyToken === '')
    return undefined
  // The compared digests have equal length, as `timingSafeEqual` requires.
  if (!timingSafeEqual(hmac('reto', token), hmac('reto', verifyToken))) return undefined
  // Meta's challenge is a number. An echo of any other text would help an attacker who guessed the token.
  return /^[\w-]{1,256}$/.test(reto) ? reto : undefined
}

const hmac = (key: string, datos: string | Buffer): Buffer => createHmac('sha256', key).update(datos).digest()

/**
 * Reads every message and status of our number from a webhook's JSON, in order. Never throws; JSON of any other form
 * gives an empty list or fewer items.
 * @param onSkipped called for each message or status of our number that cannot be read
 */
export function readInboundItems(body: unknown, phoneNumberId: string, onSkipped = () => {}): InboundItem[] {
  const { object, entry } = toObject(body)
  if (object !== 'whatsapp_business_account') return []
  const changeValues = toList(entry)
    .flatMap((account) => toList(toObject(account).changes))
    .map(toObject)
    .filter(({ field }) => field === 'messages')
    .map(({ value }) => toObject(value))
    // Several numbers may share one Meta application.
    .filter(({ metadata }) => toObject(metadata).phone_number_id === phoneNumberId)
  const readList = (rawItems: unknown, read: (raw: JsonObject) => InboundItem | null) =>
    toList(rawItems).flatMap((raw) => {
      const parsedItem = read(toObject(raw))
      if (!parsedItem) onSkipped()
      return parsedItem ?? []
    })
  return changeValues.flatMap(({ messages, statuses }) => [
    ...readList(messages, readMessage),
    ...readList(statuses, readStatus),
  ])
}

const ESTADOS = { sent: 'enviado', delivered: 'entregado', read: 'leido', failed: 'fallido' } as const

function readStatus(raw: JsonObject): InboundItem | null {
  const providerId = textOf(raw.id, 512)
  const en = readDate(raw.timestamp)
  const name = String(typeof raw.status === 'string' ? raw.status : '')
  if (!providerId || !en || !Object.hasOwn(ESTADOS, name)) return null
  const estado = ESTADOS[name as keyof typeof ESTADOS]
  const fault = estado === 'fallido' ? readFailure(raw.errors) : { codigo: null, motivo: null }
  return {
    tipo: 'estado',
    providerId,
    ownId: textOf(raw.biz_opaque_callback_data, 512),
    estado,
    en,
    ...fault,
  }
}

function readFailure(errores: unknown) {
  const { code, title, message, error_data } = toObject(toList(errores)[0])
  const codigo = typeof code === 'number' || typeof code === 'string' ? textOf(String(code), 20) : null
  const detail = textOf(toObject(error_data).details, 1000) ?? textOf(message, 1000) ?? textOf(title, 1000)
  return { codigo, motivo: writeReason(codigo ?? 'desconocido', detail) }
}

function readMessage(raw: JsonObject): InboundItem | null {
  const providerId = textOf(raw.id, 512)
  const telefono = readTelefono(raw.from)
  const en = readDate(raw.timestamp)
  // A reaction names the message in `reaction.message_id` and not in `context`.
  const inReplyTo = textOf(toObject(raw.context).id, 512) ?? textOf(toObject(raw.reaction).message_id, 512)
  if (!providerId || !en || (!telefono && !inReplyTo)) return null
  const common = { providerId, telefono, inReplyTo, en }
  if (raw.type !== 'location') return { tipo: 'texto', ...common, texto: readWords(raw) }
  const { latitude: lat, longitude: lng, name, address } = toObject(raw.location)
  if (!isDegree(lat, 90) || !isDegree(lng, 180)) return null
  return { tipo: 'ubicacion', ...common, lat, lng, nombre: textOf(name, 1000), direccion: textOf(address, 1000) }
}

/** Returns the text of a message of any kind: its text, the label of a button, the caption of an image, an emoji… */
function readWords(raw: JsonObject): string {
  const content = toObject(typeof raw.type === 'string' ? ownMember(raw, raw.type) : null)
  const { body, text, caption, emoji } = content
  const response = toObject(content.button_reply ?? content.list_reply ?? content.nfm_reply)
  const candidates = [body, text, caption, emoji, response.title, response.body]
  return candidates.map((candidate) => textOf(candidate, 4096)).find((words) => words !== null) ?? ''
}

// --- Reading untrusted values ---

type JsonObject = Record<string, unknown>

const toObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const ownMember = (de: JsonObject, name: string): unknown => (Object.hasOwn(de, name) ? de[name] : undefined)

/** Returns a string without what PostgreSQL cannot store (NUL, lone surrogates); null if it is empty or no string. */
function textOf(value: unknown, maxLength: number): string | null {
  if (typeof value !== 'string') return null
  return value.slice(0, maxLength).replaceAll('\0', '').toWellFormed() || null
}

/**
 * Returns a telephone in E.164; null if invalid. WhatsApp omits the plus sign, and keeps the 1 that Mexico dropped from
 * its mobile numbers in 2019.
 */
function readTelefono(value: unknown): string | null {
  const digits = typeof value === 'string' ? value.replace(/^\+/, '') : ''
  return /^[1-9]\d{5,14}$/.test(digits) ? `+${digits.replace(/^521(\d{10})$/, '52$1')}` : null
}

/** Reads a Unix time in seconds, written as digits; null if invalid. */
function readDate(value: unknown): Date | null {
  const digits = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  return /^\d{1,10}$/.test(digits) ? new Date(Number(digits) * 1000) : null
}

const isDegree = (value: unknown, max: number): value is number => typeof value === 'number' && Math.abs(value) <= max
