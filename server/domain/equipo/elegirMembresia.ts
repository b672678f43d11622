import type { Handler } from '../operation.ts'
import { presentarSesionDePersona } from './sesion.ts'
import { elegir } from './sesiones.ts'

export const elegirMembresia: Handler<'elegirMembresia'> = async ({ body, ...quien }, deps) => ({
  status: 200,
  body: await presentarSesionDePersona(deps.db, await elegir(deps, quien, body)),
})
