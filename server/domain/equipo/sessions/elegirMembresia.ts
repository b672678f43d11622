import type { Handler } from '../../operation.ts'
import { presentPersonaSesion } from './sesion.ts'
import { chooseMembresia } from './sessionStore.ts'

export const elegirMembresia: Handler<'elegirMembresia'> = async ({ body, ...caller }, deps) => ({
  status: 200,
  body: await presentPersonaSesion(deps.db, await chooseMembresia(deps, caller, body)),
})
