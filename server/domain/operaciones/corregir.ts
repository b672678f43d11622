import { corregirGuiaDe } from '../correcciones/correccion.ts'
import type { Handler } from '../operation.ts'
import { unaVezPorOperador } from './unaVez.ts'

export const corregirGuiaPorOperador: Handler<'corregirGuiaPorOperador'> = (entrada, deps) => {
  const { path, body, identidad } = entrada
  const { razon, secuencia, estricto = false, ...campos } = body
  const quien = {
    ambito: 'todos',
    autor: identidad.operador,
    origen: 'operador',
    pais: campos.pais ?? null,
    estricto,
    descripcion: razon,
  } as const
  return unaVezPorOperador(deps, 'corregirGuiaPorOperador', entrada, (recordar) =>
    corregirGuiaDe(deps, quien, path.guia, { campos, secuencia }, recordar),
  )
}
