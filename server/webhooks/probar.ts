import type { TipoDeEventoPropio, Webhook } from '../contrato/generado/tipos/index.ts'
import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { type FilaEntregaDeWebhook, presentarEntregaDeWebhook, YA } from './entrega.ts'
import { eventoPropio } from './eventoPropio.ts'
import { exigirWebhook, presentarWebhook } from './webhook.ts'

/** An event of an endpoint's own: it belongs to no guide, so its key is made of its id and it brings what it says along. */
const ENVIAR = sentencia(
  'webhookEntregas.enviarPropia',
  `insert into webhook_entrega (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, datos, creado_en)
   values ($1, $2, $3, md5($4)::uuid, 0, $4, $5, 'pendiente', $6, $7, $8::jsonb, $9) returning *`,
)

/** One test at a time: who asks again before it has left is told of that one. */
const PENDIENTE = sentencia(
  'webhookEntregas.pruebaPendiente',
  `select * from webhook_entrega where comercio_id = $1 and modo = $2 and webhook = $3 and estado = 'pendiente'
     and proximo_en = $4 and causa = 'prueba' limit 1`,
)

export const probarWebhook: Handler<'probarWebhook'> = async ({ path, identidad }, { db, reloj, avisarTrabajo }) => {
  const ahora = reloj()
  const fila = await exigirWebhook(db, identidad, path.webhook, ahora)
  const tipo: TipoDeEventoPropio = 'webhook.prueba'
  const datos: { webhook: Webhook } = { webhook: presentarWebhook(fila) }
  const [pendiente] = await db.consultar<FilaEntregaDeWebhook>(PENDIENTE, [
    fila.comercio_id,
    fila.modo,
    fila.webhook,
    YA,
  ])
  if (pendiente) return { status: 202, body: presentarEntregaDeWebhook(pendiente) }
  const [entrega] = await db.consultar<FilaEntregaDeWebhook>(ENVIAR, [
    fila.comercio_id,
    fila.modo,
    fila.webhook,
    eventoPropio(),
    tipo,
    'prueba',
    YA,
    datos,
    ahora,
  ])
  avisarTrabajo()
  return { status: 202, body: presentarEntregaDeWebhook(entrega!) }
}
