import { readFileSync } from 'node:fs'
import { RAIZ } from '../raiz.ts'
import type { Operaciones } from './generado/operaciones.ts'

export type OperationId = keyof Operaciones
export type Esquema = Readonly<Record<string, unknown>>

export interface Parametro {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  schema: Esquema
}
interface OperacionDelDocumento {
  operationId: OperationId
  parameters?: readonly (Parametro | { $ref: string })[]
  requestBody?: { required?: boolean; content: Readonly<Record<string, { schema: Esquema }>> }
  responses: Readonly<Record<string, unknown>>
  security?: readonly Readonly<Record<string, readonly string[]>>[]
  'x-limite-bytes'?: number
  'x-cuerpo-crudo'?: boolean
}
export interface Documento {
  openapi: string
  paths: Readonly<Record<string, Readonly<Record<string, OperacionDelDocumento>>>>
  components: Readonly<
    Record<'schemas' | 'parameters' | 'responses' | 'securitySchemes', Readonly<Record<string, Esquema>>>
  >
}

/** One operation of the contract, with what the machinery needs of it. */
export interface Operacion {
  id: OperationId
  metodo: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As the contract writes it: `/api/v1/guias/{guia}`. */
  ruta: string
  seguridad: { esquema: string; alcances: readonly string[] } | undefined
  parametros: readonly Parametro[]
  /** Declared media types of the body; empty: the operation takes none. */
  tipos: readonly string[]
  cuerpoObligatorio: boolean
  /** Bytes. */
  limite: number
  /** The operation wants the bytes as they came: a signature stands over them. */
  crudo: boolean
  estados: readonly number[]
}

export const LIMITE_DE_JSON = 256 * 1024

const METODOS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** The bundled contract that `npm run generar` wrote: the union of the three documents. */
export const leerDocumento = (): Documento =>
  JSON.parse(readFileSync(new URL('server/contrato/generado/contrato.json', RAIZ), 'utf8'))

export function leerOperaciones(documento: Documento): Operacion[] {
  const esquema = (dado: Esquema): Esquema =>
    typeof dado.$ref === 'string' ? esquema(documento.components.schemas[dado.$ref.split('/').at(-1)!]!) : dado
  const resolver = (dado: Parametro | { $ref: string }): Parametro => {
    const parametro =
      '$ref' in dado ? (documento.components.parameters[dado.$ref.split('/').at(-1)!] as unknown as Parametro) : dado
    const { items, ...resto } = esquema(parametro.schema)
    return { ...parametro, schema: items ? { ...resto, items: esquema(items as Esquema) } : resto }
  }
  return Object.entries(documento.paths).flatMap(([ruta, porMetodo]) =>
    METODOS.filter((metodo) => metodo in porMetodo).map((metodo) => {
      const operacion = porMetodo[metodo]!
      // Only bearer keys say who calls; a signature over the body is the operation's own business.
      const seguridad = Object.entries(operacion.security?.[0] ?? {}).find(
        ([nombre]) => documento.components.securitySchemes[nombre]?.type === 'http',
      )
      return {
        id: operacion.operationId,
        metodo,
        ruta,
        seguridad: seguridad && { esquema: seguridad[0], alcances: seguridad[1] },
        parametros: (operacion.parameters ?? []).map(resolver),
        tipos: Object.keys(operacion.requestBody?.content ?? {}),
        cuerpoObligatorio: operacion.requestBody?.required ?? false,
        limite: operacion['x-limite-bytes'] ?? LIMITE_DE_JSON,
        crudo: operacion['x-cuerpo-crudo'] ?? false,
        estados: Object.keys(operacion.responses).map(Number),
      }
    }),
  )
}
