import { readFileSync } from 'node:fs'
import type { Codigo } from '../errores.ts'
import type { Clase } from '../limites/ritmos.ts'
import type { Operaciones } from './generado/operaciones.ts'
import { RAIZ } from './raiz.ts'

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
  responses: Readonly<Record<string, { content?: Readonly<Record<string, unknown>> }>>
  security?: readonly Readonly<Record<string, readonly string[]>>[]
  'x-limite-bytes'?: number
  'x-cuerpo-crudo'?: boolean
  'x-cuerpo-en-flujo'?: boolean
  'x-rechazo'?: Codigo
  'x-mismo-origen'?: boolean
  'x-ritmo'?: { clase: Clase; por?: string }
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
  seguridad: { esquema: string; alcances: readonly string[]; enCookie: boolean } | undefined
  /** Browsers send cookies along by themselves: only our own pages may call it. */
  mismoOrigen: boolean
  parametros: readonly Parametro[]
  /** Declared media types of the body; empty: the operation takes none. */
  tipos: readonly string[]
  cuerpoObligatorio: boolean
  /** Bytes. */
  limite: number
  /** What it spends besides a request: one of that class, or one per element of that list of its body. */
  ritmo: Clase | undefined
  ritmoPor: string | undefined
  /** The operation wants the bytes as they came: a signature stands over them. */
  crudo: boolean
  /** The operation reads the bytes itself, as they come, whatever they are. */
  enFlujo: boolean
  /** What every wrong parameter is answered with, where nothing may be told apart. */
  rechazo: Codigo | undefined
  estados: readonly number[]
  /** Whoever names the entity tag of its JSON (`If-None-Match`) gets a 304 while it is the same. */
  condicional: boolean
}

export const LIMITE_DE_JSON = 256 * 1024

const METODOS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** The bundled contract that `npm run generar` wrote, as text: the union of the three documents. */
export const leerTextoDelContrato = (): string =>
  readFileSync(new URL('server/contrato/generado/contrato.json', RAIZ), 'utf8')

/** The bundled contract as an object. */
export const leerDocumento = (texto = leerTextoDelContrato()): Documento => JSON.parse(texto)

export function leerOperaciones(documento: Documento): Operacion[] {
  const esquema = (dado: Esquema): Esquema => {
    if (typeof dado.$ref === 'string') return esquema(documento.components.schemas[dado.$ref.split('/').at(-1)!]!)
    const { items, anyOf, ...resto } = dado as Esquema & { items?: Esquema; anyOf?: Esquema[] }
    return { ...resto, ...(items && { items: esquema(items) }), ...(anyOf && { anyOf: anyOf.map(esquema) }) }
  }
  const resolver = (dado: Parametro | { $ref: string }): Parametro => {
    const parametro =
      '$ref' in dado ? (documento.components.parameters[dado.$ref.split('/').at(-1)!] as unknown as Parametro) : dado
    return { ...parametro, schema: esquema(parametro.schema) }
  }
  return Object.entries(documento.paths).flatMap(([ruta, porMetodo]) =>
    METODOS.filter((metodo) => metodo in porMetodo).map((metodo) => {
      const operacion = porMetodo[metodo]!
      // Bearer keys and cookies say who calls; a signature over the body is the operation's own business.
      const [seguridad] = Object.entries(operacion.security?.[0] ?? {}).flatMap(([esquema, alcances]) => {
        const { type, in: donde } = documento.components.securitySchemes[esquema] ?? {}
        return type === 'http' || donde === 'cookie' ? [{ esquema, alcances, enCookie: donde === 'cookie' }] : []
      })
      return {
        id: operacion.operationId,
        metodo,
        ruta,
        seguridad,
        mismoOrigen: operacion['x-mismo-origen'] ?? (metodo !== 'get' && seguridad?.enCookie === true),
        parametros: (operacion.parameters ?? []).map(resolver),
        tipos: Object.keys(operacion.requestBody?.content ?? {}),
        cuerpoObligatorio: operacion.requestBody?.required ?? false,
        limite: operacion['x-limite-bytes'] ?? LIMITE_DE_JSON,
        ritmo: operacion['x-ritmo']?.clase,
        ritmoPor: operacion['x-ritmo']?.por,
        crudo: operacion['x-cuerpo-crudo'] ?? false,
        enFlujo: operacion['x-cuerpo-en-flujo'] ?? false,
        rechazo: operacion['x-rechazo'],
        estados: Object.keys(operacion.responses).map(Number),
        condicional: '304' in operacion.responses && 'application/json' in (operacion.responses[200]?.content ?? {}),
      }
    }),
  )
}
