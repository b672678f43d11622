import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { present } from '../records/guiaPresentation.ts'
import { resendRequestOf } from './ubicacion.ts'

export const reenviarSolicitud: Handler<'reenviarSolicitud'> = async (input, deps) => {
  const { path, identity } = input
  const { result: guia, headers } = await doOnce(deps, 'reenviarSolicitud', input, {
    perform: (remember) => resendRequestOf(deps, identity, path.guia, (query, { guia }) => remember(query, guia)),
    reread: (guia) => findGuia(deps.db, identity, guia),
  })
  return { status: 202, headers, body: present(deps.settings, guia) }
}
