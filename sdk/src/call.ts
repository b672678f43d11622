import { ErrorGuias } from './errors.js'
import { type Operaciones, REPEATABLE_OPERATIONS } from './generated/operations.js'
import type { ConFechas } from './options.js'
import { checkCode } from './paths.js'
import { newKey } from './randomKey.js'

/** Operation of the contract: its method, and its path below `/api/v1`. */
export type Operacion = keyof Operaciones

/** Input of an operation: its path, query and body. */
export type OperationData<O extends Operacion> = {
  [P in keyof Omit<Operaciones[O]['datos'], 'url'>]: P extends 'path'
    ? Operaciones[O]['datos'][P]
    : ConFechas<Operaciones[O]['datos'][P]>
}

/** Successful answer of an operation. */
export type OperationOutput<O extends Operacion> = Operaciones[O]['salida']

/** Input of any operation, see {@link OperationData}. */
export interface AnyOperationData {
  path?: object
  query?: object | undefined
  body?: unknown
}

/** HTTP request without its headers, and whether it may be sent twice. */
export interface PreparedRequest {
  /** Name of the operation, the same for all guides: its method and its path with `{guia}`. */
  operacion: string
  metodo: string
  /** Path on the service, with the query parameters; or a whole URL, which gets no headers of the merchant's. */
  ruta: string
  /** Media type of the answer whose bytes are wanted. JSON if missing; a URL may have any. */
  accepts?: string
  cuerpo: string | undefined
  /** True if the request carries the merchant's key. A resource that needs no key is requested without it. */
  needsLlave: boolean
  /**
   * True if the request may be sent twice: the second request has no further effect, even if the service executed the
   * first.
   */
  repetible: boolean
  /** `Idempotency-Key`, by which the service recognises a repetition; undefined if the request can do without. */
  clave: string | undefined
}

/**
 * Builds the request of an operation of the contract.
 *
 * @throws ErrorGuias if a member of the path is missing or not valid
 */
export function buildRequest(operacion: Operacion, { path = {}, query, body }: AnyOperationData): PreparedRequest {
  const pathValues = new Map<string, unknown>(Object.entries(path))
  const [metodo = '', ruta] = operacion
    .replace(/\{(\w+)\}/g, (_, nombre) => encodeURIComponent(checkCode(nombre, pathValues.get(nombre))))
    .split(' ')
  return completeRequest(operacion, metodo, `/api/v1${ruta}`, { query, body }, REPEATABLE_OPERATIONS[operacion])
}

/**
 * Builds the request for a path that this version may not know. For a known operation, the contract says whether it may
 * be sent twice. Otherwise, the methods that HTTP calls idempotent may be (RFC 9110, 9.2.2).
 *
 * @throws ErrorGuias if the path does not start with `/`
 */
export function buildOtherRequest(
  metodo: string,
  ruta: string,
  datos: AnyOperationData,
  repetible?: boolean,
): PreparedRequest {
  // A path without a leading slash could send the key to another host.
  if (!/^\//.test(ruta)) throw new ErrorGuias(`La ruta debe ser como /api/v1/guias y llegó «${ruta}».`)
  const [operacion = `${metodo} ${ruta.replace(/\?.*/, '')}`, rule] =
    Object.entries(REPEATABLE_OPERATIONS).find(([operacion]) => {
      const pattern = operacion.replace(' ', ' /api/v1').replace(/\{\w+\}/g, '[^/]+')
      return new RegExp(`^${pattern}(\\?|$)`).test(`${metodo} ${ruta}`)
    }) ?? []
  const request = completeRequest(operacion, metodo, ruta, datos, rule)
  return { ...request, repetible: repetible ?? request.repetible }
}

/**
 * Builds a request from its parts.
 *
 * @param rule `true`, `false`, `clave` (safe with a key), or the member of the body that makes repeating safe, and
 *   without which a key does (`guias/external_ref`). If missing, the method decides.
 */
function completeRequest(
  operacion: string,
  metodo: string,
  ruta: string,
  { query, body }: AnyOperationData,
  rule = /^P(OS|ATC)/.test(metodo) ? 'false' : 'true',
): PreparedRequest {
  const isSafe = rule === 'true' || (rule !== 'clave' && rule !== 'false' && lleva(body, rule.split('/')))
  const clave = isSafe || rule === 'false' ? undefined : newKey()
  const queryPairs = Object.entries(query ?? {}).flatMap(toQueryPairs)
  return {
    operacion,
    metodo,
    ruta: queryPairs.length > 0 ? `${ruta}${ruta.includes('?') ? '&' : '?'}${queryPairs.join('&')}` : ruta,
    cuerpo: body === undefined || body === null ? undefined : enJson(body),
    needsLlave: true,
    repetible: rule !== 'false',
    clave,
  }
}

/**
 * Writes a value as JSON.
 *
 * @throws ErrorGuias if a number is none: JSON would have null in its place
 */
export const enJson = (valor: unknown): string =>
  JSON.stringify(valor, (campo, item) => {
    if (typeof item !== 'number' || Number.isFinite(item)) return item
    throw new ErrorGuias(`${campo} es ${item} y no un número: ¿venía con coma, como 14,63? Escríbalo con punto, 14.63.`)
  })

/** Builds the query parameters of a value. A list repeats the name, and an object names its members in brackets. */
function toQueryPairs([nombre, valor]: [string, unknown]): string[] {
  if (valor === undefined || valor === null) return []
  if (Array.isArray(valor)) return valor.flatMap((item) => toQueryPairs([nombre, item]))
  if (typeof valor === 'object' && !(valor instanceof Date))
    return Object.entries(valor).flatMap(([clave, item]) => toQueryPairs([`${nombre}[${clave}]`, item]))
  return [`${encodeQueryText(nombre)}=${encodeQueryText(valor)}`]
}

const encodeQueryText = (valor: unknown) =>
  encodeURIComponent(valor instanceof Date ? valor.toISOString() : String(valor))

/** Tells whether the body has the member that makes repeating safe. In a list, every entry must have it. */
function lleva(valor: unknown, [member, ...rest]: string[]): boolean {
  if (member === undefined) return Boolean(valor)
  if (Array.isArray(valor)) return valor.every((item) => lleva(item, [member, ...rest]))
  return lleva((valor as Record<string, unknown> | null | undefined)?.[member], rest)
}
