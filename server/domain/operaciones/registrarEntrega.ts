import type { Handler } from '../operation.ts'
import { registrarConPrueba } from '../pruebasEntrega/registrar.ts'

export const registrarEntrega: Handler<'registrarEntrega'> = ({ path, body, identidad }, deps) =>
  registrarConPrueba(deps, { ambito: 'todos', autor: identidad.operador, api: '/operaciones/v1' }, path.guia, body)
