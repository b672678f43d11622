import type { Handler } from '../contrato/tipos.ts'
import { guardarOperador, presentarOperador } from './operador.ts'

export const crearOperador: Handler<'crearOperador'> = async ({ body }, deps) => ({
  status: 201,
  body: presentarOperador(await guardarOperador(deps, body.nombre)),
})
