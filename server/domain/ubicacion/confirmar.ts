import type { Handler } from '../operation.ts'
import { present } from '../records/guiaPresentation.ts'
import { confirmPlace } from './ubicacion.ts'

export const confirmarUbicacion: Handler<'confirmarUbicacion'> = async ({ path, body, identity }, deps) => {
  const caller = {
    ambito: identity,
    autor: identity.comercio,
    origen: 'comercio',
    estricto: identity.estricto,
  } as const
  return { status: 200, body: present(deps.settings, await confirmPlace(deps, caller, path.guia, body)) }
}
