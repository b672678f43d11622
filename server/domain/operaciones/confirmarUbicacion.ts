import type { Handler } from '../operation.ts'
import { confirmarLugar } from '../ubicacion/ubicacion.ts'
import { presentarGuias } from './guia.ts'

export const confirmarUbicacionPorOperador: Handler<'confirmarUbicacionPorOperador'> = async (
  { path, body: { razon, ...lugar }, identidad },
  deps,
) => {
  const quien = { ambito: 'todos', autor: identidad.operador, origen: 'operador', descripcion: razon } as const
  const [guia] = await presentarGuias(deps, [await confirmarLugar(deps, quien, path.guia, lugar)])
  return { status: 200, body: guia! }
}
