import type { Handler } from '../operation.ts'
import { exigirComercio, presentarComercio } from './comercio.ts'

export const obtenerComercio: Handler<'obtenerComercio'> = async ({ path }, { db }) => ({
  status: 200,
  body: presentarComercio(await exigirComercio(db, path.comercio)),
})
