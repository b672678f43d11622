import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { closeSesionOf } from './sessionStore.ts'

export const cerrarSesionPorCodigo: Handler<'cerrarSesionPorCodigo'> = async ({ path, ...quien }, deps) => {
  if (!(await closeSesionOf(deps, quien, path.sesion, 'cerrarSesionPorCodigo')))
    throw new Problema('sesion_desconocida', 'No hay ninguna sesión abierta con ese identificador.')
  return { status: 204, body: undefined }
}
