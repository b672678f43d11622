import type { Webhook } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { type Consultar, enTransaccion, sentencia } from '../db.ts'
import { type FilaEntregaDeWebhook, presentarEntregaDeWebhook, YA } from './entrega.ts'
import { eventoPropio } from './eventoPropio.ts'
import { type ClaveDeWebhook, exigirWebhook, type FilaWebhook, presentarWebhook } from './webhook.ts'

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

/** Asks an endpoint for an answer, now and once; who asks again before that has left is told of that one. */
export async function enviarPrueba(
  consultar: Consultar,
  fila: FilaWebhook,
  ahora: Date,
): Promise<FilaEntregaDeWebhook> {
  const { comercio_id, modo, webhook } = fila
  const suyo = { comercio_id, modo, webhook, proximo_en: YA }
  const [pendiente] = await consultar(PENDIENTE, suyo)
  if (pendiente) return pendiente
  const [entrega] = await consultar(ENVIAR, {
    ...suyo,
    evento: eventoPropio(),
    tipo: 'webhook.prueba',
    causa: 'prueba',
    datos: { webhook: presentarWebhook(fila) },
    creado_en: ahora,
  })
  return entrega!
}

export const probarWebhook: Handler<'probarWebhook'> = async (
  { path, identidad, idSolicitud, red },
  { db, reloj, avisarTrabajo, bitacora },
) => {
  const ahora = reloj()
  const fila = await exigirWebhook(db, identidad, path.webhook, ahora)
  const entrega = await enTransaccion(db, async (consultar) => {
    const linea = { accion: 'probarWebhook', sobre: ['webhook', path.webhook] as const }
    await bitacora.anotar(consultar, { identidad, idSolicitud, red }, linea)
    return enviarPrueba(consultar, fila, ahora)
  })
  avisarTrabajo()
  return { status: 202, body: presentarEntregaDeWebhook(entrega) }
}
