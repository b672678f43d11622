import type { Problema, ProblemaRfc9457 } from '../contrato/generado/tipos/index.ts'

/** An error's body as application/problem+json; what RFC 9457 has no name for stays, as extension members (§3.2). */
export function comoRfc9457({ titulo, mensaje, estado_http, ...demas }: Problema): ProblemaRfc9457 {
  return {
    type: `urn:guias:problema:${demas.codigo}`,
    title: titulo,
    status: estado_http,
    detail: mensaje,
    instance: `urn:guias:solicitud:${encodeURIComponent(demas.id_solicitud)}`,
    ...demas,
  }
}

/** An error's body and its type: application/json, unless `Accept` names application/problem+json. */
export const segunAccept = (problema: Problema, accept = '') =>
  /\bapplication\/problem\+json\b/i.test(accept)
    ? { tipo: 'application/problem+json', cuerpo: comoRfc9457(problema) }
    : { tipo: 'application/json', cuerpo: problema }
