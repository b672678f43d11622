import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { exigirEntregaDeWebhook, type FilaEntregaDeWebhook, presentarEntregaDeWebhook, YA } from './entrega.ts'

/**
 * A turn of its own, also for what is under way just now: whatever becomes of that, it is sent once more. What is over
 * begins anew; what waits goes now.
 */
const REENVIAR = sentencia(
  'webhookEntregas.reenviar',
  `update webhook_entrega set proximo_en = $6, causa = 'manual',
     turno = turno + 1,
     intento = case when estado = 'pendiente' then intento else 0 end, estado = 'pendiente', terminado_en = null
   where comercio_id = $1 and modo = $2 and webhook = $3 and guia_id = $4 and secuencia = $5
     and not (estado = 'pendiente' and causa = 'manual' and proximo_en = $6) returning *`,
)

export const reenviarEntregaDeWebhook: Handler<'reenviarEntregaDeWebhook'> = async (
  { path, identidad },
  { db, avisarTrabajo },
) => {
  const leida = await exigirEntregaDeWebhook(db, identidad, path.webhook, path.entrega)
  const { comercio_id, modo, webhook, guia_id, secuencia } = leida
  const [fila] = await db.consultar<FilaEntregaDeWebhook>(REENVIAR, [
    comercio_id,
    modo,
    webhook,
    guia_id,
    secuencia,
    YA,
  ])
  avisarTrabajo()
  // Asked for again before it has left, it is the same resend.
  return { status: 202, body: presentarEntregaDeWebhook(fila ?? leida) }
}
