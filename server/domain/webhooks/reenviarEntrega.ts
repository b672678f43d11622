import { inTransaction, statement } from '../../data/db.ts'
import { unaVez } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import {
  type Clave,
  exigirEntregaDeWebhook,
  type FilaEntregaDeWebhook,
  leerEntregaDeWebhook,
  presentarEntregaDeWebhook,
  YA,
} from './entrega.ts'

/**
 * Gives a delivery a new turn, even while it is being sent. The delivery is sent once more, even if the present attempt
 * succeeds. A delivery that has ended begins anew, and a delivery that waits is sent now.
 */
const REENVIAR = statement<Clave & Pick<FilaEntregaDeWebhook, 'proximo_en'>, FilaEntregaDeWebhook>(
  'webhookEntregas.reenviar',
  `update webhook_entrega set proximo_en = :proximo_en, causa = 'manual',
     turno = turno + 1,
     intento = case when estado = 'pendiente' then intento else 0 end, estado = 'pendiente', terminado_en = null
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and guia_id = :guia_id
     and secuencia = :secuencia and not (estado = 'pendiente' and causa = 'manual' and proximo_en = :proximo_en)
   returning *`,
)

export const reenviarEntregaDeWebhook: Handler<'reenviarEntregaDeWebhook'> = async (entrada, deps) => {
  const { path, identidad, idSolicitud, red } = entrada
  const { db, avisarTrabajo, bitacora } = deps
  const { hecho, headers } = await unaVez(deps, 'reenviarEntregaDeWebhook', entrada, {
    async hacer(recordar) {
      const leida = await exigirEntregaDeWebhook(db, identidad, path.webhook, path.entrega)
      const fila = await inTransaction(db, async (consultar) => {
        const [reenviada] = await consultar(REENVIAR, { ...leida, proximo_en: YA })
        const linea = { accion: 'reenviarEntregaDeWebhook', sobre: ['entrega_de_webhook', path.entrega] as const }
        if (reenviada) await bitacora.anotar(consultar, { identidad, idSolicitud, red }, linea)
        await recordar(consultar, path.entrega)
        return reenviada
      })
      avisarTrabajo()
      // No row was changed if an earlier request asked for the same resend and it was not sent yet. The response then
      // shows that resend.
      return fila ?? leida
    },
    releer: (entrega) => leerEntregaDeWebhook(db, identidad, path.webhook, entrega),
  })
  return { status: 202, headers, body: presentarEntregaDeWebhook(hecho) }
}
