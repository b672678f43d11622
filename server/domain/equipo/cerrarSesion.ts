import type { Handler } from '../operation.ts'
import { closeSesionOf } from './sessionStore.ts'

export const cerrarSesionDePersona: Handler<'cerrarSesionDePersona'> = async (quien, deps) => {
  await closeSesionOf(deps, quien, quien.identity.codigo, 'cerrarSesionDePersona')
  return { status: 204, headers: { 'Set-Cookie': deps.browser.setPersonaSesion('', 0) }, body: undefined }
}
