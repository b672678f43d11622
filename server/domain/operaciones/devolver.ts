import { returnGuiaOf } from '../decisiones/decidir.ts'
import type { Handler } from '../operation.ts'
import { doOnceByOperador } from './doOnceByOperador.ts'

export const devolverGuiaPorOperador: Handler<'devolverGuiaPorOperador'> = (input, deps) => {
  const { path, body, identity } = input
  const caller = { ambito: 'todos', autor: identity.operador, por: 'operador', descripcion: body.razon } as const
  return doOnceByOperador(deps, 'devolverGuiaPorOperador', input, (remember) =>
    returnGuiaOf(deps, caller, path.guia, remember),
  )
}
