import type { Handler } from '../operation.ts'
import { presentarSegundoFactor } from './segundoFactor.ts'

export const obtenerSegundoFactor: Handler<'obtenerSegundoFactor'> = async ({ identidad }, { db }) => ({
  status: 200,
  body: await presentarSegundoFactor(db.consultar, identidad.personaId),
})
