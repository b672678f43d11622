import { corregirGuiaDe } from '../correcciones/correccion.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

export const corregirGuiaPorOperador: Handler<'corregirGuiaPorOperador'> = async (
  { path, body: { razon, secuencia, estricto = false, ...campos }, identidad },
  deps,
) => {
  const { operador } = identidad
  const quien = {
    ambito: 'todos',
    autor: operador,
    origen: 'operador',
    pais: null,
    estricto,
    descripcion: razon,
  } as const
  const corregida = await corregirGuiaDe(deps, quien, path.guia, campos, secuencia)
  const [guia] = await presentarGuias(deps.db, [corregida])
  return { status: 200, body: guia! }
}
