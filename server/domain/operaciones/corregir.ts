import { correctGuiaOf } from '../correcciones/correccion.ts'
import type { Handler } from '../operation.ts'
import { doOnceByOperador } from './doOnceByOperador.ts'

export const corregirGuiaPorOperador: Handler<'corregirGuiaPorOperador'> = (input, deps) => {
  const { path, body, identity } = input
  const { razon, secuencia, estricto = false, ...campos } = body
  const caller = {
    ambito: 'todos',
    autor: identity.operador,
    origen: 'operador',
    pais: campos.pais ?? null,
    estricto,
    descripcion: razon,
  } as const
  return doOnceByOperador(deps, 'corregirGuiaPorOperador', input, (remember) =>
    correctGuiaOf(deps, caller, path.guia, { campos, secuencia }, remember),
  )
}
