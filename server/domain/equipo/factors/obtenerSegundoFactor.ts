import type { Handler } from '../../operation.ts'
import { presentSecondFactor } from './secondFactor.ts'

export const obtenerSegundoFactor: Handler<'obtenerSegundoFactor'> = async ({ identity }, { db }) => ({
  status: 200,
  body: await presentSecondFactor(db.query, identity.personaId),
})
