import { presentAprobacion, requireAprobacion } from '../equipo/members/aprobacion.ts'
import type { Handler } from '../operation.ts'

export const obtenerAprobacion: Handler<'obtenerAprobacion'> = async ({ path, ...caller }, deps) => {
  const row = await requireAprobacion(deps.db, path.aprobacion)
  await deps.bitacora.recordRead(caller, { accion: 'obtenerAprobacion', sobre: ['aprobacion', row.aprobacion] })
  return { status: 200, body: presentAprobacion(deps, row) }
}
