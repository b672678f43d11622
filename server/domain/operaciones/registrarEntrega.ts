import type { Handler } from '../operation.ts'
import { registerWithPrueba } from '../pruebasEntrega/registrar.ts'
import { withKey } from './doOnceByOperador.ts'

export const registrarEntrega: Handler<'registrarEntrega'> = (input, deps) => {
  const { path, identity } = input
  const caller = { ambito: 'todos', autor: identity.operador, api: '/operaciones/v1' } as const
  return registerWithPrueba(deps, caller, path.guia, withKey(input))
}
