import { reintentarGuiaDe } from '../decisiones/decidir.ts'
import type { Handler } from '../operation.ts'
import { unaVezPorOperador } from './unaVez.ts'

export const reintentarGuiaPorOperador: Handler<'reintentarGuiaPorOperador'> = (entrada, deps) => {
  const { path, body, identidad } = entrada
  const { fecha, franja, razon, secuencia, estricto = false, ...campos } = body
  const quien = {
    ambito: 'todos',
    autor: identidad.operador,
    por: 'operador',
    origen: 'operador',
    pais: null,
    estricto,
    descripcion: razon,
  } as const
  return unaVezPorOperador(deps, 'reintentarGuiaPorOperador', entrada, (recordar) =>
    reintentarGuiaDe(deps, quien, path.guia, { fecha, franja, campos, secuencia }, recordar),
  )
}
