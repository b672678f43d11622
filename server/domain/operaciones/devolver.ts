import { devolverGuiaDe } from '../decisiones/decidir.ts'
import type { Handler } from '../operation.ts'
import { unaVezPorOperador } from './unaVez.ts'

export const devolverGuiaPorOperador: Handler<'devolverGuiaPorOperador'> = (entrada, deps) => {
  const { path, body, identidad } = entrada
  const quien = { ambito: 'todos', autor: identidad.operador, por: 'operador', descripcion: body.razon } as const
  return unaVezPorOperador(deps, 'devolverGuiaPorOperador', entrada, (recordar) =>
    devolverGuiaDe(deps, quien, path.guia, recordar),
  )
}
