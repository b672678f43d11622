/**
 * Adds examples for application/problem+json to each error response. They are the examples of application/json, with
 * the member names of RFC 9457.
 */

import { asRfc9457 } from '../../server/api/http/rfc9457.ts'
import type { Problema } from '../../server/generated/contract/types/index.ts'
import { examplesOf, type Json, type JsonObject } from './contract.ts'

/** Returns the contract with examples for application/problem+json. */
export function withRfc9457(contract: JsonObject): JsonObject {
  const walk = (valor: Json): Json => {
    if (Array.isArray(valor)) return valor.map(walk)
    if (valor === null || typeof valor !== 'object') return valor
    const content = valor.content as JsonObject | undefined
    if (!content?.['application/problem+json']) {
      return Object.fromEntries(Object.entries(valor).map(([key, inner]) => [key, walk(inner)]))
    }
    const examples = Object.fromEntries(
      examplesOf(contract, valor).map(([name, { value, ...rest }]) => [
        name,
        { ...rest, value: asRfc9457(value as unknown as Problema) as unknown as Json },
      ]),
    )
    const problema = { ...(content['application/problem+json'] as JsonObject), examples }
    return { ...valor, content: { ...content, 'application/problem+json': problema } }
  }
  return walk(contract) as JsonObject
}
