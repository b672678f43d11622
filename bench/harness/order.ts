import type { Agent } from 'undici'
import { webhookHeaders } from '../../server/domain/webhooks/headers.ts'
import { signingKeyOf, signWebhook } from '../../server/domain/webhooks/signature.ts'
import type { BenchComercio } from './environment.ts'

// The references send the same POST as the service, without the service's safeguards. It has no checks of addresses, no
// limit of the response size, and no connections per endpoint.

/** Endpoint registered for a merchant, with an address at the receiver. */
export interface DeliveryDestination {
  comercio: BenchComercio
  webhook: string
  url: string
  /** Bytes of the endpoint's secret. */
  clave: Buffer
  /** Example of a request body; `GUIA_EJEMPLO` stands for the code of the guide. */
  example: string
}

/** One delivery that a reference sends. */
export interface DeliveryOrder {
  numero: number
  comercio_id: string
  modo: string
  webhook: string
  guia_id: string
  secuencia: number
  evento: string
  url: string
  /** Bytes of the endpoint's secret, in base64. */
  clave: string
  body: string
}

/** Milliseconds of the monotonic clock that all processes of a machine share. */
export const readMonotonicClock = () => Number(process.hrtime.bigint()) / 1e6

/**
 * Signs a delivery and sends it.
 * @throws if the status of the answer is not 2xx
 */
export async function sendOrder(agent: Agent, { evento, url, clave, body }: DeliveryOrder) {
  const startedAt = performance.now()
  const iniciado_en = new Date()
  const firma = signWebhook(evento, Math.floor(iniciado_en.getTime() / 1000), body, [
    signingKeyOf(Buffer.from(clave, 'base64')),
  ])
  const { origin, pathname: path } = new URL(url)
  const response = await agent.request({ origin, path, method: 'POST', headers: webhookHeaders(firma), body })
  const primer_byte_ms = performance.now() - startedAt
  const text = await response.body.text()
  const { statusCode: status, headers } = response
  if (status < 200 || status >= 300) throw new Error(`the receiver answered ${status}`)
  return { iniciado_en, status, headers, body: text, primer_byte_ms, total_ms: performance.now() - startedAt }
}
