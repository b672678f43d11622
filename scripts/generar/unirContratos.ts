import { isDeepStrictEqual } from 'node:util'
import type { Json, Objeto } from '../documentacion/contrato.ts'

/** Names of the three APIs' contracts. */
export const DOCUMENTOS = ['comercios', 'operaciones', 'publico'] as const

/**
 * Merges the three bundles into one document for the server. They share components, and operationIds are unique over
 * all.
 * @throws if a component differs between documents
 */
export function unirContratos(bundles: readonly Objeto[]): Objeto {
  const union = {
    openapi: '3.1.0',
    info: { title: 'Guías', version: '0' },
    servers: [{ url: '/' }],
    paths: {} as Objeto,
  }
  const componentes: Record<string, Objeto> = {
    schemas: {},
    parameters: {},
    headers: {},
    responses: {},
    securitySchemes: {},
  }
  for (const bundle of bundles) {
    Object.assign(union.paths, sinEjemplos(bundle.paths ?? {}))
    for (const [clase, destino] of Object.entries(componentes)) {
      for (const [nombre, valor] of Object.entries(((bundle.components as Objeto)[clase] ?? {}) as Objeto)) {
        const limpio = sinEjemplos(valor)
        if (nombre in destino && !isDeepStrictEqual(destino[nombre], limpio)) {
          throw new Error(`components.${clase}.${nombre} differs between documents`)
        }
        destino[nombre] = limpio
      }
    }
  }
  return { ...union, components: componentes } as unknown as Objeto
}

/** Removes examples and samples, which the server does not need. Keeps the `examples` of schemas, which are arrays. */
function sinEjemplos(valor: Json): Json {
  if (Array.isArray(valor)) return valor.map(sinEjemplos)
  if (valor === null || typeof valor !== 'object') return valor
  return Object.fromEntries(
    Object.entries(valor)
      .filter(
        ([clave, v]) => !['example', 'x-codeSamples'].includes(clave) && !(clave === 'examples' && !Array.isArray(v)),
      )
      .map(([clave, v]) => [clave, sinEjemplos(v)]),
  )
}
