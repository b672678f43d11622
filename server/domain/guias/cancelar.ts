import type { Handler } from '../operation.ts'
import { present } from '../records/guiaPresentation.ts'
import { cancelGuiaFor } from '../scans/register.ts'

export const cancelarGuia: Handler<'cancelarGuia'> = async ({ path, body, identity }, deps) => {
  const caller = { ambito: identity, autor: identity.comercio }
  const guia = await cancelGuiaFor(deps, caller, path.guia, { descripcion: body?.razon })
  return { status: 200, body: present(deps.settings, guia) }
}
