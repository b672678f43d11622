import type { Handler } from '../operation.ts'
import { cerrarSesionDe } from './sesiones.ts'

export const cerrarSesionDePersona: Handler<'cerrarSesionDePersona'> = async (quien, deps) => {
  await cerrarSesionDe(deps, quien, quien.identidad.codigo, 'cerrarSesionDePersona')
  return { status: 204, headers: { 'Set-Cookie': deps.navegador.ponerSesionDePersona('', 0) }, body: undefined }
}
