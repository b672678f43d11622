import { createHmac } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { type Address, type HostResolver, systemResolver } from '../../server/platform/outbound/destination.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { cleanUpNow } from './prune.ts'
import { type ReceivedWebhook, type TestReceiver, useReceivers } from './receiver.ts'

/** Names that these tests' services resolve; what isn't here doesn't. */
export const DNS_NAMES: Record<string, string[]> = {
  'tienda.ejemplo.com': ['8.8.8.8', '2606:4700:4700::1111'],
  'interno.ejemplo.com': ['10.0.0.7'],
  'mixto.ejemplo.com': ['8.8.8.8', '127.0.0.1'],
  'metadatos.ejemplo.com': ['169.254.169.254'],
}
const resolver: HostResolver = async (name) => {
  if (name === 'localhost') return systemResolver(name)
  if (!DNS_NAMES[name]) throw Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })
  return DNS_NAMES[name].map((address): Address => ({ address, family: address.includes(':') ? 6 : 4 }))
}
export type Api = Comercio['api']
export type WebhookCreationData = Omit<Parameters<Api['webhooks']['crear']>[0], 'url'>
/** An address where nobody listens, and nothing is ever sent to. */
let urlCount = 0
export const nobody = () => ({ url: `http://127.0.0.1:9/nadie/${++urlCount}` })
export const buildAvisoCode = (webhook: string, guia: string, secuencia = 1) =>
  `avi_${webhook.slice(3)}_${guia}_${secuencia}`
export const collectCodes = async <N extends string>(name: N, items: AsyncIterable<Record<N, string>>) => {
  const codes: string[] = []
  for await (const { [name]: codigo } of items) codes.push(codigo)
  return codes
}
export const waitForAviso = (api: Api, webhook: string, aviso: string, intentos = 1) =>
  waitUntil(async () => {
    const readAviso = await api.webhooks.obtenerAviso(webhook, aviso)
    return readAviso.intentos >= intentos && readAviso.estado !== 'pendiente' && readAviso
  })
export const waitForIntentos = (api: Api, webhook: string, aviso: string, intentos: number) =>
  waitUntil(async () => {
    const readAviso = await api.webhooks.obtenerAviso(webhook, aviso)
    return readAviso.intentos >= intentos && readAviso
  })
export const apiFault = (promise: PromiseLike<unknown>) =>
  promise.then(
    () => {
      throw new Error('it was accepted')
    },
    (error) => error,
  )
export const readFailureCode = async (promise: PromiseLike<unknown>) => (await apiFault(promise)).codigo
export const readSignatures = (received: ReceivedWebhook) => String(received.headers['webhook-signature']).split(' ')
/** What the secret makes of it, whatever the time. */
export const firmaOf = (secret: string, { id, headers, body }: ReceivedWebhook) =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${headers['webhook-timestamp']}.${body}`)
    .digest('base64')}`
export const waitForRecovery = (api: Api, webhook: string, recuperacion: string) =>
  waitUntil(async () => {
    const readRecovery = await api.webhooks.obtenerRecuperacion(webhook, recuperacion)
    return readRecovery.estado !== 'en_curso' && readRecovery
  })
/**
 * Waits until a recovery would see so many events: a transaction of anybody's, on the whole server, hides what came after it
 * as long as it is open; what was seen once stays seen.
 */
export const waitUntilVisible = (api: Api, webhook: string, desde: string, eventoCount: number) =>
  waitUntil(async () => (await api.webhooks.ensayarRecuperacion(webhook, { desde })).eventos === eventoCount)

/** A service of its own, for which the names above are all there are, and what tests do with its endpoints. */
export function useWebhooks() {
  const environment = useEnvironment({ resolver })
  const openReceiver = useReceivers()
  const now = () => environment.clock().getTime()
  const advance = (ms: number) => environment.advance(ms)
  const cleanUp = () => cleanUpNow(environment)
  /** Every secret that was shown. */
  const secretos: string[] = []
  const create = async (
    { api }: Pick<Comercio, 'api'>,
    { url }: Pick<TestReceiver, 'url'>,
    datos: WebhookCreationData = {},
  ) => {
    const createdWebhook = await api.webhooks.crear({ url, ...datos })
    secretos.push(createdWebhook.secreto)
    return createdWebhook
  }
  const rotar = async (api: Api, webhook: string, horas?: number) => {
    const rotation = await api.webhooks.rotarSecreto(
      webhook,
      horas === undefined ? undefined : { solapamiento_horas: horas },
    )
    secretos.push(rotation.secreto)
    return rotation
  }
  /** A merchant with an endpoint. */
  const createEndpoint = async (responder?: TestReceiver['responder'], datos?: WebhookCreationData) => {
    const comercio = await environment.createComercio()
    const receptor = await openReceiver(responder)
    return { comercio, api: comercio.api, receptor, ...(await create(comercio, receptor, datos)) }
  }
  /** Looks for every secret that was shown, in whatever form, in the log and in all tables. */
  const checkNoSecretos = async () => {
    const formas = secretos.flatMap((secret) => {
      const bytes = Buffer.from(secret.slice(6), 'base64')
      return [secret.slice(6), bytes.toString('hex'), bytes.toString('base64url')]
    })
    const { rows: tableRows } = await environment.db.pool.query<{ relation: string }>(
      `select format('%I.%I', table_schema, table_name) as relation from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    )
    const texts = [environment.log.join('\n')]
    for (const { relation } of tableRows) {
      const { rows } = await environment.db.pool.query<{ texto: string }>(
        `select string_agg(t::text, '\n') as texto from ${relation} t`,
      )
      texts.push(rows[0]?.texto ?? '')
    }
    expect(texts.some((text) => text.includes('wh_'))).toBe(true)
    for (const text of texts) {
      expect(text).not.toContain('whsec_')
      expect(formas.filter((forma) => text.includes(forma))).toEqual([])
    }
  }
  afterAll(checkNoSecretos)

  return {
    environment,
    openReceiver,
    now,
    advance,
    cleanUp,
    create,
    rotar,
    createEndpoint,
    secretos,
    checkNoSecretos,
  }
}
