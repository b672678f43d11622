import type { Handler } from '../operation.ts'
import { confirmPlace } from '../ubicacion/ubicacion.ts'
import { presentOperacionGuias } from './guia.ts'

export const confirmarUbicacionPorOperador: Handler<'confirmarUbicacionPorOperador'> = async (
  { path, body: { razon, ...place }, identity },
  deps,
) => {
  const caller = { ambito: 'todos', autor: identity.operador, origen: 'operador', descripcion: razon } as const
  const [guia] = await presentOperacionGuias(deps, [await confirmPlace(deps, caller, path.guia, place)])
  return { status: 200, body: guia! }
}
