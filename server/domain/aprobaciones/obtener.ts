import type { Handler } from '../operation.ts'
import { exigirAprobacion, presentarAprobacion } from './aprobacion.ts'

export const obtenerAprobacion: Handler<'obtenerAprobacion'> = async ({ path, ...quien }, deps) => {
  const fila = await exigirAprobacion(deps.db, path.aprobacion)
  await deps.bitacora.consultada(quien, { accion: 'obtenerAprobacion', sobre: ['aprobacion', fila.aprobacion] })
  return { status: 200, body: presentarAprobacion(deps, fila) }
}
