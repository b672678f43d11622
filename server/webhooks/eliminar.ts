import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { desconocido } from './webhook.ts'

/** The row stays, without its address, until a job has deleted its deliveries: there may be millions. */
const ELIMINAR = sentencia(
  'webhooks.eliminar',
  `with w as (
     update webhook set estado = 'eliminado', url = null, desde = $4, actualizado_en = $4
     where comercio_id = $1 and modo = $2 and webhook = $3 and estado <> 'eliminado' returning webhook
   ), s as (
     delete from webhook_secreto s using w where s.comercio_id = $1 and s.modo = $2 and s.webhook = w.webhook
   )
   select webhook from w`,
)

export const eliminarWebhook: Handler<'eliminarWebhook'> = async ({ path }, { identidad, db, reloj }) => {
  const { comercioId, modo } = identidad
  const eliminados = await db.consultar(ELIMINAR, [comercioId, modo, path.webhook, reloj()])
  if (eliminados.length === 0) desconocido()
  return { status: 204, body: undefined }
}
