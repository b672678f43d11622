import { inSpan } from '../../../platform/tracing.ts'
import type { JobDeps } from '../../deps.ts'
import type { ExchangeResult } from '../attempt.ts'
import { type AvisoContent, buildWebhookBody } from '../delivery.ts'
import { webhookHeaders } from '../headers.ts'
import { signWebhook } from '../signature.ts'
import { policyOf } from '../webhook.ts'
import { type Receiver, validSecrets } from './receiver.ts'
import type { AttemptResult } from './settleAttempts.ts'

/** Makes one attempt at a delivery: signs its body, sends the request and returns the result. */
export async function exchange(
  { clock, newId, sender, destinations }: Pick<JobDeps, 'clock' | 'newId' | 'sender' | 'destinations'>,
  receiver: Receiver,
  content: AvisoContent,
): Promise<AttemptResult> {
  const { aviso } = content
  const { webhook, modo, url, direccion } = receiver
  const iniciado_en = clock()
  const { secretos, claves } = validSecrets(receiver, iniciado_en)
  const cuerpo = buildWebhookBody(content)
  const firmas = signWebhook(aviso.evento, Math.floor(iniciado_en.getTime() / 1000), cuerpo, claves)
  const { loopback } = policyOf(destinations, modo)
  const { evento, tipo, intentos } = aviso
  const attributes = {
    'guias.webhook': webhook,
    'guias.evento': evento,
    'guias.tipo': tipo,
    'guias.intento': intentos + 1,
  }
  const response = await inSpan('webhook attempt', { kind: 'client', attributes }, async (span) => {
    const cabeceras = webhookHeaders(firmas, span?.traceparent)
    const result = await sender.send({ canal: webhook, url, direccion, cabeceras, cuerpo, loopback })
    span?.set({ 'http.response.status_code': result.status ?? undefined, 'error.type': result.error ?? undefined })
    return result
  })
  return { id: newId().id, aviso, url, secretos, iniciado_en, respuesta: visible(url, response) }
}

/**
 * Removes the headers and the body of a response from this machine. Only receivers on this machine may use http, and a
 * merchant must not read local servers through this service.
 */
function visible(url: string, response: ExchangeResult): ExchangeResult {
  if (!url.startsWith('http:') || response.status === null) return response
  const { cuerpo, cuerpo_truncado } = response
  return { ...response, cabeceras: {}, cuerpo: '', cuerpo_truncado: cuerpo_truncado || cuerpo !== '' }
}
