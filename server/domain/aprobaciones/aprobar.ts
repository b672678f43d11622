import type { Handler } from '../operation.ts'
import { decideAprobacion } from './decidir.ts'

export const darAprobacion: Handler<'darAprobacion'> = async ({ path, ...caller }, deps) => ({
  status: 200,
  body: await decideAprobacion(deps, caller, path.aprobacion, { estado: 'aprobada', razon: null }),
})
