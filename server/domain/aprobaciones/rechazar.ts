import type { Handler } from '../operation.ts'
import { decideAprobacion } from './decidir.ts'

export const rechazarAprobacion: Handler<'rechazarAprobacion'> = async ({ path, body, ...quien }, deps) => ({
  status: 200,
  body: await decideAprobacion(deps, quien, path.aprobacion, { estado: 'rechazada', razon: body.razon.trim() }),
})
