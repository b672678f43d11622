import type { Webhook } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { type FilaEntregaDeWebhook, presentarEntregaDeWebhook, YA } from './entrega.ts'
import { eventoPropio } from './eventoPropio.ts'
import { type ClaveDeWebhook, exigirWebhook, presentarWebhook } from './webhook.ts'

/**
 * Writes an event of an endpoint's own: it belongs to no guide, so its key is made of its id and it brings along what
 * it says.
 */
const ENVIAR = sentencia<
  ClaveDeWebhook &
    Pick<FilaEntregaDeWebhook, 'evento' | 'tipo' | 'causa' | 'proximo_en' | 'creado_en'> & {
      datos: { webhook: Webhook }
    },
  FilaEntregaDeWebhook
>(
  'webhookEntregas.enviarPropia',
  `insert into webhook_entrega (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, datos, creado_en)
   values (:comercio_id, :modo, :webhook, md5(:evento)::uuid, 0, :evento, :tipo, 'pendiente', :causa, :proximo_en,
     :datos::jsonb, :creado_en) returning *`,
)

/** The test of an endpoint that hasn't left yet: who asks again before it has is told of that one. */
const PENDIENTE = sentencia<ClaveDeWebhook & Pick<FilaEntregaDeWebhook, 'proximo_en'>, FilaEntregaDeWebhook>(
  'webhookEntregas.pruebaPendiente',
  `select * from webhook_entrega where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
     and estado = 'pendiente' and proximo_en = :proximo_en and causa = 'prueba' limit 1`,
)

export const probarWebhook: Handler<'probarWebhook'> = async ({ path, identidad }, { db, reloj, avisarTrabajo }) => {
  const ahora = reloj()
  const fila = await exigirWebhook(db, identidad, path.webhook, ahora)
  const { comercio_id, modo, webhook } = fila
  const suyo = { comercio_id, modo, webhook, proximo_en: YA }
  const [pendiente] = await db.consultar(PENDIENTE, suyo)
  if (pendiente) return { status: 202, body: presentarEntregaDeWebhook(pendiente) }
  const [entrega] = await db.consultar(ENVIAR, {
    ...suyo,
    evento: eventoPropio(),
    tipo: 'webhook.prueba',
    causa: 'prueba',
    datos: { webhook: presentarWebhook(fila) },
    creado_en: ahora,
  })
  avisarTrabajo()
  return { status: 202, body: presentarEntregaDeWebhook(entrega!) }
}
