import { type Dispatcher, errors, Pool } from 'undici'
import { judgeCode, maskText, writeReason } from './whatsappCodes.ts'

export { answerChallenge, type InboundItem, isFirmaValid, readInboundItems } from './whatsappInbound.ts'

// Client of the WhatsApp Cloud API. Every send ends with one of the four results of `WhatsappResult`.

/** Access to the WhatsApp Cloud API, and the template of its messages. */
export interface WhatsappConfig {
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
  template: string
  /**
   * Name of the approved template that asks for a decision. Its third variable is the time until which the recipient
   * may decide; otherwise it is like `template`.
   */
  decisionTemplate: string
  /** Language of the templates, for example es or es_MX. */
  language: string
}

/**
 * Result of sending a message. `dudoso` means that nobody knows if the message was sent: a repetition might reach the
 * person twice, and giving up might leave the person without it. The reasons are for an operator and safe to log,
 * without telephones or secrets.
 */
export type WhatsappResult =
  /** `providerId` is WhatsApp's message id (wamid). */
  | { resultado: 'aceptado'; providerId: string }
  /** Not sent; the same message can never succeed. */
  | { resultado: 'rechazado'; codigo: string; motivo: string }
  /** Not sent; a retry may succeed. */
  | { resultado: 'pasajero'; codigo: string; motivo: string; waitSeconds: number | null }
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
interface FreeMensaje extends Destinatario {
  texto: string
  /** WhatsApp's id (wamid) of the message that this message answers. */
  inReplyTo?: string
}

interface TemplateData {
  /** Name of the courier company, as recipients know it. */
  brand: string
  comercio: string
  municipio: string
  token: string
}

interface QuestionData extends Omit<TemplateData, 'municipio'> {
  /** Day and time until which the recipient may decide. */
  hasta: string
}

/**
 * Sends messages through WhatsApp, and never rejects. A free message reaches only a recipient who wrote to the service
 * in the last 24 hours.
 */
export interface WhatsappClient {
  /** Sends the template that asks for a location; `token` is the suffix of the button's URL. */
  sendTemplate(mensaje: Destinatario & TemplateData): Promise<WhatsappResult>
  /** Sends the template that asks for a decision; `token` is the suffix of the button's URL. */
  askDecision(mensaje: Destinatario & QuestionData): Promise<WhatsappResult>
  /** Sends a text with the button that shares a location. */
  askUbicacion(mensaje: FreeMensaje): Promise<WhatsappResult>
  sendText(mensaje: FreeMensaje): Promise<WhatsappResult>
  /** Ends all requests in progress at once. */
  close(): Promise<void>
}

interface ClientOptions {
  /** Deadline in milliseconds, from connecting to the last byte of the answer. */
  timeout?: number
  /** Maximum connections; other messages wait for their turn, within their deadline. */
  connections?: number
  /** Certificate authorities in PEM, trusted instead of the well-known authorities. */
  ca?: string
}

/** Creates a client of the WhatsApp Cloud API with a connection pool of its own. */
export function createWhatsappClient(config: WhatsappConfig, options: ClientOptions = {}): WhatsappClient {
  const transport = createTransport(config, options)
  const send = async (
    { id, telefono, inReplyTo }: Omit<FreeMensaje, 'texto'>,
    content: object,
  ): Promise<WhatsappResult> => {
    const body = {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: telefono.replace(/\D/g, ''),
      ...(inReplyTo && { context: { message_id: inReplyTo } }),
      ...content,
      biz_opaque_callback_data: id,
    }
    return judge(await transport.send(JSON.stringify(body)))
  }
  return {
    sendTemplate: ({ brand, comercio, municipio, token, ...mensaje }) =>
      send(mensaje, template(config, config.template, [brand, comercio, municipio], token)),
    askDecision: ({ brand, comercio, hasta, token, ...mensaje }) =>
      send(mensaje, template(config, config.decisionTemplate, [brand, comercio, hasta], token)),
    askUbicacion: (mensaje) =>
      send(mensaje, {
        type: 'interactive',
        interactive: {
          type: 'location_request_message',
          body: { text: truncate(mensaje.texto, 1024) },
          action: { name: 'send_location' },
        },
      }),
    // No link preview, because Meta would open the recipient's personal link to make one.
    sendText: (mensaje) =>
      send(mensaje, { type: 'text', text: { preview_url: false, body: truncate(mensaje.texto, 4096) } }),
    close: () => transport.close(),
  }
}

// --- Building requests ---

function template(config: WhatsappConfig, name: string, variables: readonly string[], token: string): object {
  const variable = (text: string) => ({ type: 'text', text: toOneLine(text) })
  return {
    type: 'template',
    template: {
      name,
      language: { code: config.language },
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
const toOneLine = (text: string): string => truncate(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), 200) || '—'

/** Cuts a text to `max` UTF-16 code units, without splitting a surrogate pair. */
const truncate = (text: string, max: number): string => {
  const wellFormed = text.toWellFormed()
  if (wellFormed.length <= max) return wellFormed
  return `${wellFormed.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

// --- HTTP exchange ---

interface Outcome {
  /** True once the request was handed to an open connection; from then on it may have arrived. */
  written: boolean
  /** Error that ended the exchange; null if the answer is complete. */
  causa: Error | null
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}
type Finish = (cause: Error | null) => void

interface Transport {
  send(body: string): Promise<Outcome>
  close(): Promise<void>
}

const MAX_ANSWER_BYTES = 65_536
const fault = (mensaje: string, code: string) => Object.assign(new Error(mensaje), { code })
const DEADLINE_PASSED = fault('the deadline passed', 'plazo')
const CLIENT_CLOSED = fault('the client was closed', 'cerrado')
const ANSWER_TOO_LONG = fault('the answer is too long', 'respuesta_larga')
const WRITTEN_TWICE = fault('the request would have been written twice', 'repetida')

function createTransport(config: WhatsappConfig, options: ClientOptions): Transport {
  const { timeout = 15_000, connections = 32, ca } = options
  const base = new URL(config.baseUrl)
  const segments = [config.version, config.phoneNumberId, 'messages'].map(encodeURIComponent)
  const path = [base.pathname.replace(/\/+$/, ''), ...segments].join('/')
  // The client has its own deadline, so undici's timeouts are off. Idle connections are closed early, because a
  // connection that Meta closes just as it is used makes a message doubtful.
  const pool = new Pool(base.origin, {
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 10_000,
    maxHeaderSize: 16_384,
    connect: { timeout, ...(ca && { ca }) },
  })
  const inProgress = new Set<Finish>()
  let closed = false

  async function send(body: string): Promise<Outcome> {
    if (closed) return { written: false, causa: CLIENT_CLOSED, status: 0, headers: {}, body: '' }
    const headers = {
      authorization: `Bearer ${config.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
    }
    const { outcome, handler, finish } = startExchange()
    inProgress.add(finish)
    const timer = setTimeout(finish, timeout, DEADLINE_PASSED)
    try {
      pool.dispatch({ method: 'POST', path, headers, body }, handler)
      return await outcome
    } finally {
      clearTimeout(timer)
      inProgress.delete(finish)
    }
  }

  return {
    send,
    async close() {
      closed = true
      for (const finish of inProgress) finish(CLIENT_CLOSED)
      await pool.destroy()
    },
  }
}

/**
 * Creates the state of one exchange. The first call of `finish` decides the outcome: the end of the answer, an error,
 * the deadline or the closing of the client.
 */
function startExchange() {
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>()
  const arrived: Omit<Outcome, 'causa' | 'body'> = { written: false, status: 0, headers: {} }
  const chunks: Buffer[] = []
  let bytes = 0
  let finished = false
  let control: Dispatcher.DispatchController | null = null

  const finish: Finish = (causa) => {
    if (finished) return
    finished = true
    resolve({ ...arrived, causa, body: Buffer.concat(chunks).toString('utf8') })
    if (causa && control) control.abort(causa)
  }
  const handler: Dispatcher.DispatchHandler = {
    // undici calls this with an open connection, just before it writes the whole request in one go.
    onRequestStart(nuevo) {
      // Stops the request if its outcome is already decided, or if undici is about to send it a second time.
      if (finished || arrived.written) return nuevo.abort(WRITTEN_TWICE)
      arrived.written = true
      control = nuevo
    },
    onResponseStart(_control, status, headers) {
      // A 1xx answer precedes the final answer.
      if (status >= 200) Object.assign(arrived, { status, headers })
    },
    onResponseData(_control, chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) finish(ANSWER_TOO_LONG)
    },
    onResponseEnd: () => finish(null),
    onResponseError: (_control, error) => finish(error),
  }
  return { outcome, handler, finish }
}

// --- Interpreting the answer ---

function judge(outcome: Outcome): WhatsappResult {
  const { causa, written, status } = outcome
  if (causa) return written ? dudoso(causa) : notSent(causa)
  const response = readAnswer(outcome.body)
  if (response.error) return judgeError(response.error, outcome)
  if (status >= 200 && status < 300) {
    return response.wamid
      ? { resultado: 'aceptado', providerId: response.wamid }
      : {
          resultado: 'dudoso',
          motivo: 'WhatsApp aceptó la solicitud sin dar el id del mensaje: espere su aviso de estado.',
        }
  }
  return judgeStatus(outcome)
}

function notSent(cause: Error): WhatsappResult {
  const { code = 'red' } = cause as NodeJS.ErrnoException
  // A token or id with characters that HTTP headers or URLs forbid fails at every retry, too.
  if (cause instanceof errors.InvalidArgumentError) {
    const motivo = 'El token o el phone number id llevan caracteres que no se pueden enviar: corrija la configuración.'
    return { resultado: 'rechazado', codigo: 'configuracion', motivo }
  }
  const motivo = `No se llegó a enviar el mensaje a WhatsApp (${code}): compruebe la salida a Internet; se reintentará.`
  return { resultado: 'pasajero', codigo: code, motivo, waitSeconds: null }
}

function dudoso(cause: Error): WhatsappResult {
  const { code = 'red' } = cause as NodeJS.ErrnoException
  const motivo = `Se envió el mensaje y WhatsApp no llegó a responder (${code}): pudo haber salido; espere su aviso de estado.`
  return { resultado: 'dudoso', motivo }
}

interface GraphError {
  code: string
  detalle: string | null
  transient: boolean
}

function readAnswer(body: string): { error: GraphError | null; wamid: string | null } {
  const { error, messages } = toObject(readJson(body))
  const { id } = toObject(Array.isArray(messages) ? messages[0] : null)
  const { code, message, error_data, is_transient } = toObject(error)
  const detail = [toObject(error_data).details, message].find((text) => typeof text === 'string')
  return {
    error: Number.isInteger(code)
      ? { code: String(code), detalle: detail ?? null, transient: is_transient === true }
      : null,
    wamid: typeof id === 'string' && id !== '' && id.length <= 512 ? id : null,
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const toObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

function judgeError({ code, detalle, transient }: GraphError, outcome: Outcome): WhatsappResult {
  const verdict = judgeCode(code)
  const motivo = writeReason(code, detalle)
  if (!(verdict?.transient ?? (transient || isTransient(outcome.status)))) {
    return { resultado: 'rechazado', codigo: code, motivo }
  }
  return {
    resultado: 'pasajero',
    codigo: code,
    motivo,
    waitSeconds: readWaitSeconds(outcome) ?? verdict?.waitSeconds ?? null,
  }
}

const isTransient = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

/** Interprets an answer that does not come from the API itself but from an intermediary. */
function judgeStatus(outcome: Outcome): WhatsappResult {
  const { status, body } = outcome
  // A gateway that got no answer from the API does not know either whether the message was sent.
  if (status === 502 || status === 504) {
    const motivo = `Un intermediario respondió ${status} en lugar de WhatsApp: el mensaje pudo haber salido; espere su aviso de estado.`
    return { resultado: 'dudoso', motivo }
  }
  const visible = maskText(body.replace(/<[^<>]*>/g, ' ')).slice(0, 100)
  const opening = `WhatsApp respondió ${status} sin explicarlo`
  const final = visible ? ` (empieza: «${visible.toWellFormed()}»)` : ''
  if (isTransient(status)) {
    const motivo = `${opening}: se reintentará.${final}`
    return { resultado: 'pasajero', codigo: `http_${status}`, motivo, waitSeconds: readWaitSeconds(outcome) }
  }
  const motivo = `${opening}: revise la dirección y la versión de la API en la configuración.${final}`
  return { resultado: 'rechazado', codigo: `http_${status}`, motivo }
}

const MAX_WAIT_S = 86_400

/**
 * Returns the seconds to wait that the answer asks for, at most a day: `Retry-After`, or Meta's estimate for the limit
 * that was reached. Null if the answer asks for none.
 */
function readWaitSeconds({ headers }: Outcome): number | null {
  const header = (name: string) => [headers[name]].flat()[0]?.trim() ?? ''
  const retry = header('retry-after')
  const seconds = /^\d{1,9}$/.test(retry) ? Number(retry) : (Date.parse(retry) - Date.now()) / 1000
  const requestedSeconds = seconds > 0 ? seconds : readUsageMinutes(header('x-business-use-case-usage')) * 60
  return requestedSeconds > 0 ? Math.ceil(Math.min(requestedSeconds, MAX_WAIT_S)) : null
}

/**
 * Returns the longest wait in minutes of the header `X-Business-Use-Case-Usage`; 0 if none. Form of the header:
 * `{"<business>": [{"type": …, "estimated_time_to_regain_access": <minutes>}]}`
 */
function readUsageMinutes(header: string): number {
  const usages = Object.values(toObject(readJson(header))).flat()
  const minutes = usages.map((usage) => toObject(usage).estimated_time_to_regain_access)
  return Math.max(0, ...minutes.filter((value) => typeof value === 'number'))
}
