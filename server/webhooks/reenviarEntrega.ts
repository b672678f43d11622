import type { Handler } from '../contrato/tipos.ts'
import { enTransaccion, sentencia } from '../db.ts'
import {
  type Clave,
  exigirEntregaDeWebhook,
  type FilaEntregaDeWebhook,
  presentarEntregaDeWebhook,
  YA,
} from './entrega.ts'

/**
 * Gives a delivery a turn of its own, also while it is under way: whatever becomes of that, it is sent once more. What is
 * over begins anew; what waits goes now.
 */
const REENVIAR = sentencia<Clave & Pick<FilaEntregaDeWebhook, 'proximo_en'>, FilaEntregaDeWebhook>(
  'webhookEntregas.reenviar',
  `update webhook_entrega set proximo_en = :proximo_en, causa = 'manual',
     turno = turno + 1,
     intento = case when estado = 'pendiente' then intento else 0 end, estado = 'pendiente', terminado_en = null
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and guia_id = :guia_id
     and secuencia = :secuencia and not (estado = 'pendiente' and causa = 'manual' and proximo_en = :proximo_en)
   returning *`,
)

export const reenviarEntregaDeWebhook: Handler<'reenviarEntregaDeWebhook'> = async (
  { path, identidad, idSolicitud, red },
  { db, avisarTrabajo, bitacora },
) => {
  const leida = await exigirEntregaDeWebhook(db, identidad, path.webhook, path.entrega)
  const fila = await enTransaccion(db, async (consultar) => {
    const [reenviada] = await consultar(REENVIAR, { ...leida, proximo_en: YA })
    if (!reenviada) return undefined
    const linea = { accion: 'reenviarEntregaDeWebhook', sobre: ['entrega_de_webhook', path.entrega] as const }
    await bitacora.anotar(consultar, { identidad, idSolicitud, red }, linea)
    return reenviada
  })
  avisarTrabajo()
  // Asked for again before it has left, it is the same resend.
  return { status: 202, body: presentarEntregaDeWebhook(fila ?? leida) }
}
