import type { Handler } from '../operation.ts'
import { decidir } from './decidir.ts'

export const darAprobacion: Handler<'darAprobacion'> = async ({ path, ...quien }, deps) => ({
  status: 200,
  body: await decidir(deps, quien, path.aprobacion, { estado: 'aprobada', razon: null }),
})
