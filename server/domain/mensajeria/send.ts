import { HANDOVER_WAITS } from '../../platform/time/backoff.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import type { JobDeps } from '../deps.ts'
import { type ClaimedMensaje, claimMensajes } from './claim.ts'
import { sendToMailbox } from './mailbox.ts'
import { markSent } from './markSent.ts'
import type { MessageMetrics } from './metrics.ts'
import type { MensajeDeps } from './row.ts'
import { markDoubtful, markFailed, postponeMensaje } from './settle.ts'
import { decisionDeadline, mensajeTextOf } from './texts.ts'
import type { WhatsappClient, WhatsappResult } from './whatsapp.ts'

/** Dependencies for sending messages. */
export type SendDeps = MensajeDeps & Pick<JobDeps, 'log' | 'whatsappClient'> & { metrics: MessageMetrics }

/** Maximum messages in progress to the provider at a time. */
const MAX_AT_ONCE = 8
/** Maximum attempts for a message that certainly was not sent. */
const MAX_INTENTOS = HANDOVER_WAITS.length + 1
const TOTAL_WAIT_MS = HANDOVER_WAITS.reduce((sum, delay) => sum + delay, 0)

/**
 * Error codes of the service's own account, number, template or configuration. The message is not at fault, and an
 * operator repairs the cause in minutes or hours.
 */
const ACCOUNT_ERROR_CODES =
  /^(?:0|3|10|33|100|190|2\d\d|368|131005|131031|131042|131045|133010|132\d{3}|configuracion|http_\d{3})$/
const ACCOUNT_WAIT_MS = 600_000
const MAX_ACCOUNT_WAIT_MS = DAY_MS

const UNKNOWN_IF_SENT =
  'El proceso que lo enviaba se detuvo antes de saber si salió. Si el destinatario no lo recibió, pídalo otra vez.'

/** Sends the messages of these jobs. A repeated job finds nothing to do. */
export async function sendMensajes(deps: SendDeps, jobs: readonly { data: object }[]): Promise<void> {
  const mensajes = jobs.map(({ data }) => {
    const { mensaje, comercio_id } = data as { mensaje: string; comercio_id: string }
    return { id: mensaje, comercio_id }
  })
  await markDoubtful(deps, mensajes, UNKNOWN_IF_SENT, true)
  await sendToMailbox(deps, mensajes)
  const { whatsappClient } = deps
  if (!whatsappClient) return
  // A claim lasts two minutes, so no more messages are claimed than are sent at once. A message that waits for a slow
  // provider would outlive its claim.
  for (let i = 0; i < mensajes.length; i += MAX_AT_ONCE) {
    const claimed = await claimMensajes(deps, 'whatsapp', mensajes.slice(i, i + MAX_AT_ONCE))
    await Promise.all(claimed.map((claimedMensaje) => sendMensaje(deps, whatsappClient, claimedMensaje)))
  }
}

async function sendMensaje(deps: SendDeps, whatsapp: WhatsappClient, mensaje: ClaimedMensaje): Promise<void> {
  const sendResult = await requestSend(whatsapp, deps.settings, mensaje)
  const { guia, tipo, intentos } = mensaje
  deps.metrics.mensaje(sendResult.resultado)
  const level = sendResult.resultado === 'aceptado' ? 'info' : 'warn'
  deps.log[level](
    { mensaje: `men_${guia}_${mensaje.numero}`, tipo, intentos, ...loggablePart(sendResult) },
    'message attempt',
  )
  switch (sendResult.resultado) {
    case 'aceptado':
      return markSent(deps, 'whatsapp', ['enviando', 'dudoso'], [{ ...mensaje, proveedor_id: sendResult.providerId }])
    case 'dudoso':
      return void (await markDoubtful(deps, [mensaje], sendResult.motivo))
    case 'rechazado': {
      if (!ACCOUNT_ERROR_CODES.test(sendResult.codigo))
        return markFailed(deps, mensaje, sendResult.codigo, sendResult.motivo)
      deps.log.error({ codigo: sendResult.codigo, motivo: sendResult.motivo }, 'messaging account error')
      if (mensaje.creado_en.getTime() < deps.clock().getTime() - MAX_ACCOUNT_WAIT_MS)
        return markFailed(deps, mensaje, sendResult.codigo, sendResult.motivo)
      const proximo_en = new Date(deps.clock().getTime() + ACCOUNT_WAIT_MS)
      return void (await postponeMensaje(deps, mensaje, proximo_en, sendResult.codigo, sendResult.motivo))
    }
    case 'pasajero': {
      const delay = Math.max(HANDOVER_WAITS[intentos - 1] ?? ACCOUNT_WAIT_MS, (sendResult.waitSeconds ?? 0) * 1_000)
      // `intentos` also counts attempts that failed because of the service's account. A message is therefore given up
      // only if it is also at least as old as the waits between nine attempts of its own.
      const age = deps.clock().getTime() - mensaje.creado_en.getTime()
      if (intentos >= MAX_INTENTOS && age >= TOTAL_WAIT_MS)
        return markFailed(deps, mensaje, sendResult.codigo, sendResult.motivo)
      return void (await postponeMensaje(
        deps,
        mensaje,
        new Date(deps.clock().getTime() + delay),
        sendResult.codigo,
        sendResult.motivo,
      ))
    }
  }
}

/** Returns the part of a result that may be logged: no telephone and no token. */
const loggablePart = (sendResult: WhatsappResult) =>
  'codigo' in sendResult
    ? { resultado: sendResult.resultado, codigo: sendResult.codigo }
    : { resultado: sendResult.resultado }

function requestSend(
  whatsapp: WhatsappClient,
  settings: SendDeps['settings'],
  { id, tipo, telefono, comercio, municipio, departamento, token, vence_en }: ClaimedMensaje,
): Promise<WhatsappResult> {
  const brand = settings.brand.nombre
  if (telefono === null)
    return Promise.resolve({
      resultado: 'rechazado',
      codigo: 'sin_telefono',
      motivo: 'El teléfono ya se borró por la retención de datos.',
    })
  const zona = timeZoneOf({ departamento, municipio }, settings.timeZone)
  const texto = mensajeTextOf({ tipo, brand, comercio, municipio, vence_en, zona })
  if (tipo === 'peticion_interactiva') return whatsapp.askUbicacion({ id, telefono, texto })
  if (tipo === 'acuse') return whatsapp.sendText({ id, telefono, texto })
  if (tipo === 'solicitud_decision')
    return whatsapp.askDecision({
      id,
      telefono,
      brand,
      comercio,
      hasta: decisionDeadline(vence_en!, zona),
      token,
    })
  return whatsapp.sendTemplate({ id, telefono, brand, comercio, municipio, token })
}
