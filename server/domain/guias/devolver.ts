import { returnGuiaOf } from '../decisiones/decidir.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { present } from '../records/guiaPresentation.ts'

export const devolverGuia: Handler<'devolverGuia'> = async (input, deps) => {
  const { path, body, identity } = input
  const caller = { ambito: identity, autor: identity.comercio, por: 'comercio', descripcion: body.razon } as const
  const { result: guia, headers } = await doOnce(deps, 'devolverGuia', input, {
    perform: (remember) => returnGuiaOf(deps, caller, path.guia, remember),
    reread: (guia) => findGuia(deps.db, identity, guia),
  })
  return { status: 200, headers, body: present(deps.settings, guia) }
}
