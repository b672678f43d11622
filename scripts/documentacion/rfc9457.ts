/**
 * Adds examples for application/problem+json to each error response. They are the examples of application/json, with
 * the member names of RFC 9457.
 */

import { asRfc9457 } from '../../server/api/http/rfc9457.ts'
import type { Problema } from '../../server/generado/contrato/tipos/index.ts'
import { ejemplosDe, type Json, type Objeto } from './contrato.ts'

/** Returns the contract with examples for application/problem+json. */
export function conRfc9457(contrato: Objeto): Objeto {
  const recorrer = (valor: Json): Json => {
    if (Array.isArray(valor)) return valor.map(recorrer)
    if (valor === null || typeof valor !== 'object') return valor
    const content = valor.content as Objeto | undefined
    if (!content?.['application/problem+json']) {
      return Object.fromEntries(Object.entries(valor).map(([clave, dentro]) => [clave, recorrer(dentro)]))
    }
    const examples = Object.fromEntries(
      ejemplosDe(contrato, valor).map(([nombre, { value, ...demas }]) => [
        nombre,
        { ...demas, value: asRfc9457(value as unknown as Problema) as unknown as Json },
      ]),
    )
    const problema = { ...(content['application/problem+json'] as Objeto), examples }
    return { ...valor, content: { ...content, 'application/problem+json': problema } }
  }
  return recorrer(contrato) as Objeto
}
