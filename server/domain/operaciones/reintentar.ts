import { retryGuiaOf } from '../decisiones/decidir.ts'
import type { Handler } from '../operation.ts'
import { doOnceByOperador } from './doOnceByOperador.ts'

export const reintentarGuiaPorOperador: Handler<'reintentarGuiaPorOperador'> = (input, deps) => {
  const { path, body, identity } = input
  const { fecha, franja, razon, secuencia, estricto = false, ...campos } = body
  const caller = {
    ambito: 'todos',
    autor: identity.operador,
    por: 'operador',
    origen: 'operador',
    pais: null,
    estricto,
    descripcion: razon,
  } as const
  return doOnceByOperador(deps, 'reintentarGuiaPorOperador', input, (remember) =>
    retryGuiaOf(deps, caller, path.guia, { fecha, franja, campos, secuencia }, remember),
  )
}
