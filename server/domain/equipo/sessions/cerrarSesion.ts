import type { Handler } from '../../operation.ts'
import { closeSesionOf } from './sessionStore.ts'

export const cerrarSesionDePersona: Handler<'cerrarSesionDePersona'> = async (caller, deps) => {
  await closeSesionOf(deps, caller, caller.identity.codigo, 'cerrarSesionDePersona')
  return { status: 204, headers: { 'Set-Cookie': deps.browser.setPersonaSesion('', 0) }, body: undefined }
}
