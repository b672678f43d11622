import type { Problema, ProblemaRfc9457 } from '../../generated/contract/types/index.ts'

/**
 * Returns an error body as application/problem+json. Members that RFC 9457 does not name stay as extension members
 * (§3.2).
 */
export function asRfc9457({ titulo, mensaje, estado_http, ...rest }: Problema): ProblemaRfc9457 {
  return {
    type: `urn:guias:problema:${rest.codigo}`,
    title: titulo,
    status: estado_http,
    detail: mensaje,
    instance: `urn:guias:solicitud:${encodeURIComponent(rest.id_solicitud)}`,
    ...rest,
  }
}

/** Returns the media type of an error body: application/json, unless `Accept` names application/problem+json. */
export const typeByAccept = (accept = '') =>
  /\bapplication\/problem\+json\b/i.test(accept) ? 'application/problem+json' : 'application/json'

/** Returns an error body and its media type, chosen by `Accept`. */
export function byAccept(problema: Problema, accept?: string) {
  const tipo = typeByAccept(accept)
  return { tipo, body: tipo === 'application/json' ? problema : asRfc9457(problema) }
}
