import type { Handler } from '../operation.ts'
import { presentComercio, requireComercio } from './comercio.ts'

export const obtenerComercio: Handler<'obtenerComercio'> = async ({ path }, { db }) => ({
  status: 200,
  body: presentComercio(await requireComercio(db, path.comercio)),
})
