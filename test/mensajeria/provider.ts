import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll } from 'vitest'
import type { WhatsappConfig } from '../../server/domain/mensajeria/whatsapp.ts'

// A stand-in for Meta's Cloud API: a real HTTP server that checks requests as Meta does, keeps a ledger, fails as it is
// told, and tells of statuses and messages with signed webhooks.

/** One request that was read to its end. */
export interface ReceivedRequest {
  path: string
  headers: IncomingHttpHeaders
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  json: any
  en: number
}

export interface MetaError {
  code: number
  message?: string
  details?: string
  isTransient?: boolean
}

/** What happens to a request; those that say so take the message, though the client can't know. */
export type RequestOutcome =
  | { tipo: 'aceptar'; lag?: number }
  | { tipo: 'error'; status: number; error: MetaError; headers?: Record<string, string> }
  /** Any answer, as it stands. */
  | { tipo: 'respuesta'; status: number; body: string; headers?: Record<string, string> }
  /** Reads the request, takes the message and never answers. */
  | { tipo: 'colgar' }
  /** Reads the request, takes the message and closes. */
  | { tipo: 'cerrar' }
  /** Closes without reading the request. */
  | { tipo: 'cerrar_sin_leer' }
  /** Takes the message and closes in the middle of the answer. */
  | { tipo: 'media_respuesta' }

export interface AcceptedMensaje {
  wamid: string
  /** Digits, as it was sent. */
  recipient: string
  /** biz_opaque_callback_data */
  ownId: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  json: any
}

export interface TestProvider {
  url: string
  config: WhatsappConfig
  requests: ReceivedRequest[]
  /** Messages that were taken, answered or not. */
  acceptedMensajes: AcceptedMensaje[]
  /** Connections so far. */
  connections(): number
  /** For the next requests, one each; after them, `defaultOutcome`. */
  siguientes: RequestOutcome[]
  defaultOutcome: RequestOutcome
  /** For the requests of one phone (digits alone), before all else. */
  byTelefono: Map<string, RequestOutcome>
  /** Sends a webhook, signed unless told otherwise; resolves to the status of the answer. */
  notify(url: string, body: unknown, firma?: string | null): Promise<number>
  close(): Promise<void>
}

const CONFIG = {
  version: 'v23.0',
  phoneNumberId: '106540352242922',
  token: 'EAAGpruebatoken0123456789',
  appSecret: 'secreto-de-la-aplicacion',
  verifyToken: 'reto-de-verificacion',
  template: 'confirmar_ubicacion',
  decisionTemplate: 'decidir_entrega',
  language: 'es',
}

export async function openProvider(cambios: Partial<WhatsappConfig> = {}): Promise<TestProvider> {
  let connectionCount = 0
  const server = createServer((req, res) => {
    // Who leaves in the middle is the client's own business.
    recibir(provider, req, res).catch(() => res.destroy())
  })
  server.on('connection', (socket: Socket) => {
    connectionCount++
    socket.on('error', () => {})
    if (provider.siguientes[0]?.tipo !== 'cerrar_sin_leer') return
    provider.siguientes.shift()
    socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = { ...CONFIG, baseUrl: url, ...cambios }
  const provider: TestProvider = {
    url,
    config,
    requests: [],
    acceptedMensajes: [],
    connections: () => connectionCount,
    siguientes: [],
    defaultOutcome: { tipo: 'aceptar' },
    byTelefono: new Map(),
    notify: (destino, body, firma) => postWebhook(config, destino, body, firma),
    close: () => close(server),
  }
  return provider
}

/** Providers that close with their test file. */
export function useProviders() {
  const openProviders: TestProvider[] = []
  afterAll(async () => {
    await Promise.all(openProviders.map((provider) => provider.close()))
  })
  return async (cambios?: Partial<WhatsappConfig>) => {
    const provider = await openProvider(cambios)
    openProviders.push(provider)
    return provider
  }
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => void server.close(() => resolve()))
}

// --- Sends ---

async function recibir(provider: TestProvider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  // On a connection that was already open.
  if (provider.siguientes[0]?.tipo === 'cerrar_sin_leer') {
    provider.siguientes.shift()
    req.socket.destroy()
    return
  }
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  const json = JSON.parse(body)
  provider.requests.push({ path: req.url ?? '', headers: req.headers, body, json, en: Date.now() })
  const outcome = provider.byTelefono.get(json.to) ?? provider.siguientes.shift() ?? provider.defaultOutcome
  const refusal = findRefusal(provider.config, req, json)
  if (refusal) return respondError(res, refusal)
  await applyOutcome(outcome, res, () => aceptar(provider, json))
}

async function applyOutcome(outcome: RequestOutcome, res: ServerResponse, tomar: () => string): Promise<void> {
  switch (outcome.tipo) {
    case 'aceptar': {
      const response = tomar()
      if (outcome.lag) await new Promise((listo) => setTimeout(listo, outcome.lag))
      res.writeHead(200, JSON_UTF8).end(response)
      return
    }
    case 'error':
      return respondError(res, outcome)
    case 'respuesta':
      res.writeHead(outcome.status, outcome.headers).end(outcome.body)
      return
    case 'colgar':
      tomar()
      return
    case 'cerrar':
      tomar()
      res.destroy()
      return
    case 'media_respuesta': {
      const response = tomar()
      res.writeHead(200, { ...JSON_UTF8, 'content-length': response.length })
      res.write(response.slice(0, response.length / 2), () => res.destroy())
      return
    }
    case 'cerrar_sin_leer':
      res.destroy()
  }
}

const JSON_UTF8 = { 'content-type': 'application/json; charset=UTF-8' }

type Fallo = Pick<RequestOutcome & { tipo: 'error' }, 'status' | 'error' | 'headers'>

function respondError(res: ServerResponse, { status, error, headers }: Fallo): void {
  const { code, message = `(#${code}) Fallo de prueba`, details, isTransient } = error
  const body = {
    error: {
      message,
      type: 'OAuthException',
      code,
      ...(details && { error_data: { messaging_product: 'whatsapp', details } }),
      ...(isTransient !== undefined && { is_transient: isTransient }),
      error_subcode: 2494010,
      fbtrace_id: 'AbCdEfGhIjK',
    },
  }
  res.writeHead(status, { ...JSON_UTF8, ...headers }).end(JSON.stringify(body))
}

/** What Meta itself would refuse. */
// biome-ignore lint/suspicious/noExplicitAny: it is whatever came
function findRefusal(config: WhatsappConfig, req: IncomingMessage, json: any): Fallo | null {
  const no = (status: number, code: number, message: string): Fallo => ({ status, error: { code, message } })
  if (req.headers.authorization !== `Bearer ${config.token}`) return no(401, 190, 'Invalid OAuth access token')
  if (req.method !== 'POST' || req.url !== `/${config.version}/${config.phoneNumberId}/messages`) {
    return no(400, 100, `Unsupported ${req.method} request. Object does not exist`)
  }
  if (json.messaging_product !== 'whatsapp') return no(400, 100, 'The parameter messaging_product is required.')
  if (!/^\d{6,15}$/.test(json.to)) return no(400, 131009, 'Parameter value is not valid')
  if (json.type === 'template') return findTemplateRefusal(config, json.template, no)
  const text = json.type === 'text' ? json.text.body : json.interactive?.body?.text
  if (typeof text !== 'string' || text === '') return no(400, 131008, 'Required parameter is missing')
  if (json.type === 'interactive' && json.interactive.action.name !== 'send_location')
    return no(400, 100, 'Invalid action')
  return text.length > (json.type === 'text' ? 4096 : 1024) ? no(400, 100, 'Param text is too long') : null
}

function findTemplateRefusal(
  config: WhatsappConfig,
  // biome-ignore lint/suspicious/noExplicitAny: it is whatever came
  { name, language, components }: any,
  no: (status: number, code: number, message: string) => Fallo,
): Fallo | null {
  if (![config.template, config.decisionTemplate].includes(name as string) || language.code !== config.language) {
    return no(404, 132001, 'Template name does not exist in the translation')
  }
  const [body, button] = components
  if (body.type !== 'body' || body.parameters.length !== 3)
    return no(400, 132000, 'Number of parameters does not match')
  if (button?.sub_type !== 'url' || button.index !== '0') return no(400, 132012, 'Parameter format does not match')
  const texts = [...body.parameters, ...button.parameters].map(({ text }: { text: string }) => text)
  return texts.some((text) => !text || /[\n\t]| {5}/.test(text)) ? no(400, 100, 'Invalid parameter text') : null
}

/** The answer that tells its id. */
// biome-ignore lint/suspicious/noExplicitAny: it was checked
function aceptar({ acceptedMensajes }: TestProvider, json: any): string {
  const wamid = `wamid.${Buffer.from(`${json.to}-${acceptedMensajes.length + 1}-${Math.random()}`).toString('base64')}`
  acceptedMensajes.push({ wamid, recipient: json.to, ownId: json.biz_opaque_callback_data, json })
  return JSON.stringify({
    messaging_product: 'whatsapp',
    contacts: [{ input: json.to, wa_id: json.to }],
    messages: [{ id: wamid, message_status: 'accepted' }],
  })
}

// --- Webhooks ---

/** As Meta signs. */
export const signAsMeta = (rawBody: string | Buffer, appSecret: string): string =>
  `sha256=${createHmac('sha256', appSecret).update(rawBody).digest('hex')}`

async function postWebhook(config: WhatsappConfig, url: string, body: unknown, firma?: string | null): Promise<number> {
  const rawBody = typeof body === 'string' ? body : JSON.stringify(body)
  const signatureHeader = firma === undefined ? signAsMeta(rawBody, config.appSecret) : firma
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signatureHeader !== null && { 'x-hub-signature-256': signatureHeader }),
    },
    body: rawBody,
  })
  await response.text()
  return response.status
}

type Valor = { messages?: object[]; statuses?: object[]; [other: string]: unknown }

/** A whole webhook body around what happened. */
export const aviso = (value: Valor, phoneNumberId = CONFIG.phoneNumberId, field = 'messages') => ({
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '102290129340398',
      changes: [
        {
          value: {
            messaging_product: 'whatsapp',
            metadata: { display_phone_number: '50222334455', phone_number_id: phoneNumberId },
            ...value,
          },
          field,
        },
      ],
    },
  ],
})

const seconds = (en: Date) => String(Math.floor(en.getTime() / 1000))

export interface StatusData {
  wamid: string
  recipient: string
  ownId?: string
  en?: Date
  error?: { code: number; title?: string; details?: string }
}

/** One of `statuses`. */
export const estado = (status: string, { wamid, recipient, ownId, en = new Date(), error }: StatusData) => ({
  id: wamid,
  status,
  timestamp: seconds(en),
  recipient_id: recipient,
  ...(ownId && { biz_opaque_callback_data: ownId }),
  ...(status === 'sent' && {
    conversation: {
      id: 'conv1',
      expiration_timestamp: seconds(new Date(en.getTime() + 86_400_000)),
      origin: { type: 'utility' },
    },
    pricing: { billable: true, pricing_model: 'PMP', category: 'utility', type: 'regular' },
  }),
  ...(error && {
    errors: [
      {
        code: error.code,
        title: error.title ?? 'Fallo',
        message: error.title ?? 'Fallo',
        ...(error.details && { error_data: { details: error.details } }),
        href: 'https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/',
      },
    ],
  }),
})

let contador = 0

/** One of `messages`, of any type: `contenido` stands under the type's name. */
export const mensaje = (
  type: string,
  contenido: unknown,
  {
    de = '50255551234',
    en = new Date(),
    inReplyTo,
    wamid,
  }: { de?: string; en?: Date; inReplyTo?: string; wamid?: string } = {},
) => ({
  ...(inReplyTo && { context: { from: '50222334455', id: inReplyTo } }),
  from: de,
  id: wamid ?? `wamid.entrante${++contador}`,
  timestamp: seconds(en),
  [type]: contenido,
  type,
})
