import type { Handler } from '../operation.ts'
import { decideAprobacion } from './decidir.ts'

export const darAprobacion: Handler<'darAprobacion'> = async ({ path, ...quien }, deps) => ({
  status: 200,
  body: await decideAprobacion(deps, quien, path.aprobacion, { estado: 'aprobada', razon: null }),
})
