import { cancelarGuiaDe } from '../eventos/registrar.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

export const cancelarGuiaPorOperador: Handler<'cancelarGuiaPorOperador'> = async (
  { path, body: { razon }, identidad },
  deps,
) => {
  const quien = { ambito: 'todos', autor: identidad.operador } as const
  const cancelada = await cancelarGuiaDe(deps, quien, path.guia, { motivo: 'por_operador', descripcion: razon })
  const [guia] = await presentarGuias(deps, [cancelada])
  return { status: 200, body: guia! }
}
