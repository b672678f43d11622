import type { Handler } from '../operation.ts'
import { presentAprobacion, requireAprobacion } from './aprobacion.ts'

export const obtenerAprobacion: Handler<'obtenerAprobacion'> = async ({ path, ...quien }, deps) => {
  const fila = await requireAprobacion(deps.db, path.aprobacion)
  await deps.bitacora.recordRead(quien, { accion: 'obtenerAprobacion', sobre: ['aprobacion', fila.aprobacion] })
  return { status: 200, body: presentAprobacion(deps, fila) }
}
