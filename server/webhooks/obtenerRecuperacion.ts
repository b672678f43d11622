import type { Handler } from '../contrato/tipos.ts'
import { sentencia } from '../db.ts'
import { Problema } from '../errores.ts'
import { type FilaRecuperacion, presentarRecuperacion } from './recuperacion.ts'

const BUSCAR = sentencia(
  'recuperacion.buscar',
  `select r.* from recuperacion r
   join webhook w on w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook
   where r.comercio_id = $1 and r.modo = $2 and r.webhook = $3 and r.recuperacion = $4 and w.estado <> 'eliminado'`,
)

export const obtenerRecuperacion: Handler<'obtenerRecuperacion'> = async ({ path, identidad }, { db }) => {
  const { comercioId, modo } = identidad
  const [fila] = await db.consultar<FilaRecuperacion>(BUSCAR, [comercioId, modo, path.webhook, path.recuperacion])
  if (!fila) {
    throw new Problema('recuperacion_desconocida', 'Ese webhook no tiene ninguna recuperación con ese identificador.')
  }
  return { status: 200, body: presentarRecuperacion(fila) }
}
