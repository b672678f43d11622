import type { Handler } from '../operation.ts'
import { cancelGuiaFor } from '../scans/register.ts'
import { presentOperacionGuias } from './guia.ts'

export const cancelarGuiaPorOperador: Handler<'cancelarGuiaPorOperador'> = async (
  { path, body: { razon }, identity },
  deps,
) => {
  const caller = { ambito: 'todos', autor: identity.operador } as const
  const cancelada = await cancelGuiaFor(deps, caller, path.guia, { motivo: 'por_operador', descripcion: razon })
  const [guia] = await presentOperacionGuias(deps, [cancelada])
  return { status: 200, body: guia! }
}
