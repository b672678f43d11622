import type { Handler } from '../operation.ts'
import { presentarSesionDePersona } from './sesion.ts'

export const obtenerSesionDePersona: Handler<'obtenerSesionDePersona'> = async ({ identidad }, { db }) => ({
  status: 200,
  body: await presentarSesionDePersona(db, identidad),
})
