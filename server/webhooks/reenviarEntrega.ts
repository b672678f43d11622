import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { exigirEntrega, type FilaEntrega, presentarEntrega, YA } from './entrega.ts'

/**
 * A turn of its own, also for what is under way just now: whatever becomes of that, it is sent once more. What is over
 * begins anew; what waits goes now.
 */
const REENVIAR = sentencia(
  'entregas.reenviar',
  `update entrega set proximo_en = $6, causa = 'manual',
     turno = turno + 1,
     intento = case when estado = 'pendiente' then intento else 0 end, estado = 'pendiente', terminada_en = null
   where comercio_id = $1 and modo = $2 and webhook = $3 and guia_id = $4 and secuencia = $5 returning *`,
)

export const reenviarEntrega: Handler<'reenviarEntrega'> = async ({ path }, { identidad, db, avisarTrabajo }) => {
  const { comercio_id, modo, webhook, guia_id, secuencia } = await exigirEntrega(
    db,
    identidad,
    path.webhook,
    path.entrega,
  )
  const [fila] = await db.consultar<FilaEntrega>(REENVIAR, [comercio_id, modo, webhook, guia_id, secuencia, YA])
  avisarTrabajo()
  return { status: 202, body: presentarEntrega(fila!) }
}
