import type { Handler } from '../../operation.ts'
import { readSesiones } from './sessionStore.ts'

export const listarSesiones: Handler<'listarSesiones'> = async ({ identity }, deps) => ({
  status: 200,
  body: { datos: await readSesiones(deps, identity) },
})
