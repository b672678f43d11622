import type { Handler } from '../operation.ts'
import { registrarConPrueba } from '../pruebasEntrega/registrar.ts'
import { withKey } from './unaVez.ts'

export const registrarEntrega: Handler<'registrarEntrega'> = (entrada, deps) => {
  const { path, identidad } = entrada
  const quien = { ambito: 'todos', autor: identidad.operador, api: '/operaciones/v1' } as const
  return registrarConPrueba(deps, quien, path.guia, withKey(entrada))
}
