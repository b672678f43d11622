import type { Handler } from '../operation.ts'
import { decideAprobacion } from './decidir.ts'

export const rechazarAprobacion: Handler<'rechazarAprobacion'> = async ({ path, body, ...caller }, deps) => ({
  status: 200,
  body: await decideAprobacion(deps, caller, path.aprobacion, { estado: 'rechazada', razon: body.razon.trim() }),
})
