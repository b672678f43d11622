import type { Handler } from '../../operation.ts'
import { presentPersonaSesion } from './sesion.ts'

export const obtenerSesionDePersona: Handler<'obtenerSesionDePersona'> = async ({ identity }, { db }) => ({
  status: 200,
  body: await presentPersonaSesion(db, identity),
})
