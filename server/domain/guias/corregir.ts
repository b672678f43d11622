import { correctGuiaOf } from '../correcciones/correccion.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { present } from '../records/guiaPresentation.ts'

export const corregirGuia: Handler<'corregirGuia'> = async (input, deps) => {
  const { path, body, identity } = input
  const { estricto = identity.estricto, secuencia, ...campos } = body
  const { comercio, pais } = identity
  const caller = { ambito: identity, autor: comercio, origen: 'comercio', pais, estricto } as const
  const { result: guia, headers } = await doOnce(deps, 'corregirGuia', input, {
    perform: (remember) => correctGuiaOf(deps, caller, path.guia, { campos, secuencia }, remember),
    reread: (guia) => findGuia(deps.db, identity, guia),
  })
  return { status: 200, headers, body: present(deps.settings, guia) }
}
