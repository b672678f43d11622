import { Problema } from '../../../platform/errors.ts'
import type { Handler } from '../../operation.ts'
import { closeSesionOf } from './sessionStore.ts'

export const cerrarSesionPorCodigo: Handler<'cerrarSesionPorCodigo'> = async ({ path, ...caller }, deps) => {
  if (!(await closeSesionOf(deps, caller, path.sesion, 'cerrarSesionPorCodigo')))
    throw new Problema('sesion_desconocida', 'No hay ninguna sesión abierta con ese identificador.')
  return { status: 204, body: undefined }
}
