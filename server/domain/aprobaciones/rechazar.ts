import type { Handler } from '../operation.ts'
import { decidir } from './decidir.ts'

export const rechazarAprobacion: Handler<'rechazarAprobacion'> = async ({ path, body, ...quien }, deps) => ({
  status: 200,
  body: await decidir(deps, quien, path.aprobacion, { estado: 'rechazada', razon: body.razon.trim() }),
})
