import type { Handler } from '../contrato/tipos.ts'
import { enTransaccion, sentencia } from '../db.ts'
import { desconocido } from './webhook.ts'

/** The row stays, without its address, until a job has deleted its deliveries: there may be millions. */
const ELIMINAR = sentencia(
  'webhooks.eliminar',
  `update webhook set estado = 'eliminado', url = null, estado_en = $4, actualizado_en = $4
   where comercio_id = $1 and modo = $2 and webhook = $3 and estado <> 'eliminado' returning webhook`,
)

/** After the row is ours: a rotation that was under way has ended, and what it wrote is seen. */
const ELIMINAR_SECRETOS = sentencia(
  'webhooks.eliminarSecretos',
  'delete from webhook_secreto where comercio_id = $1 and modo = $2 and webhook = $3',
)

export const eliminarWebhook: Handler<'eliminarWebhook'> = async ({ path, identidad }, { db, reloj }) => {
  const { comercioId, modo } = identidad
  const suyo = [comercioId, modo, path.webhook]
  await enTransaccion(db, async (consultar) => {
    if ((await consultar(ELIMINAR, [...suyo, reloj()])).length === 0) desconocido()
    await consultar(ELIMINAR_SECRETOS, suyo)
  })
  return { status: 204, body: undefined }
}
