import type { Handler } from '../contrato/tipos.ts'
import { enTransaccion, sentencia } from '../db.ts'
import { type ClaveDeWebhook, desconocido } from './webhook.ts'

/**
 * Marks an endpoint as deleted: its row stays, without its address, until a job has deleted its deliveries, which may
 * be millions.
 */
const ELIMINAR = sentencia<ClaveDeWebhook & { ahora: Date }>(
  'webhooks.eliminar',
  `update webhook set estado = 'eliminado', url = null, estado_en = :ahora, actualizado_en = :ahora
   where comercio_id = :comercio_id and modo = :modo and webhook = :webhook and estado <> 'eliminado' returning webhook`,
)

/**
 * Deletes an endpoint's secrets once its row is ours: a rotation that was under way has ended, and what it wrote is
 * seen.
 */
const ELIMINAR_SECRETOS = sentencia<ClaveDeWebhook>(
  'webhooks.eliminarSecretos',
  'delete from webhook_secreto where comercio_id = :comercio_id and modo = :modo and webhook = :webhook',
)

export const eliminarWebhook: Handler<'eliminarWebhook'> = async (
  { path, identidad, idSolicitud, red },
  { db, reloj, bitacora },
) => {
  const { comercioId, modo } = identidad
  const suyo = { comercio_id: comercioId, modo, webhook: path.webhook }
  await enTransaccion(db, async (consultar) => {
    if ((await consultar(ELIMINAR, { ...suyo, ahora: reloj() })).length === 0) desconocido()
    await consultar(ELIMINAR_SECRETOS, suyo)
    const linea = { accion: 'eliminarWebhook', sobre: ['webhook', path.webhook] as const }
    await bitacora.anotar(consultar, { identidad, idSolicitud, red }, linea)
  })
  return { status: 204, body: undefined }
}
