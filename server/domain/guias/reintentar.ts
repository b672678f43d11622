import { retryGuiaOf } from '../decisiones/decidir.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { present } from '../records/guiaPresentation.ts'

export const reintentarGuia: Handler<'reintentarGuia'> = async (input, deps) => {
  const { path, body = {}, identity } = input
  const { fecha, franja, estricto = identity.estricto, secuencia, ...campos } = body
  const { comercio, pais } = identity
  const caller = { ambito: identity, autor: comercio, por: 'comercio', origen: 'comercio', pais, estricto } as const
  const { result: guia, headers } = await doOnce(deps, 'reintentarGuia', input, {
    perform: (remember) => retryGuiaOf(deps, caller, path.guia, { fecha, franja, campos, secuencia }, remember),
    reread: (guia) => findGuia(deps.db, identity, guia),
  })
  return { status: 200, headers, body: present(deps.settings, guia) }
}
