import { statement } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { type FilaRecuperacion, presentarRecuperacion } from './recuperacion.ts'
import type { ClaveDeWebhook } from './webhook.ts'

const BUSCAR = statement<ClaveDeWebhook & Pick<FilaRecuperacion, 'recuperacion'>, FilaRecuperacion>(
  'recuperacion.buscar',
  `select r.* from recuperacion r
   join webhook w on w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook
   where r.comercio_id = :comercio_id and r.modo = :modo and r.webhook = :webhook and r.recuperacion = :recuperacion
     and w.estado <> 'eliminado'`,
)

export const obtenerRecuperacion: Handler<'obtenerRecuperacion'> = async ({ path, identidad }, { db }) => {
  const { comercioId, modo } = identidad
  const [fila] = await db.consultar(BUSCAR, { comercio_id: comercioId, modo, ...path })
  if (!fila) {
    throw new Problema('recuperacion_desconocida', 'Ese webhook no tiene ninguna recuperación con ese identificador.')
  }
  return { status: 200, body: presentarRecuperacion(fila) }
}
