/**
 * Answers and headers that operations have in common. `scripts/generate/common.ts` adds them to each operation before
 * the contract is linted or bundled, so that path files contain only what is particular to an operation.
 *
 * A path file writes an exception itself. An answer that it writes takes precedence over the one of this list, and
 * `x-sin-respuestas` names the statuses that an operation never answers with.
 */

/** Conditions under which an operation has common answers. */
export type Condition =
  /** Condition that holds for every operation. */
  | 'siempre'
  /** The operation takes a body of any type. */
  | 'cuerpo'
  /** The operation takes a JSON body. */
  | 'cuerpoJson'
  | 'sinCuerpoJson'
  /** The operation takes the parameter `SiNoCoincide` (`If-None-Match`). */
  | 'condicional'
  /** The operation requires a bearer key. */
  | 'llave'
  /** The operation requires a bearer key, and no scope. */
  | 'llaveSinAlcance'
  /** The operation requires a courier's session. */
  | 'sesion'
  /** The operation requires WhatsApp's signature. */
  | 'firma'

/**
 * Answers of each condition, as names in `respuestas/problemas.yaml` and `respuestas/condicional.yaml`. A later line
 * takes precedence over an earlier one.
 */
export const COMMON_RESPONSES: readonly [Condition, Readonly<Record<number, string>>][] = [
  [
    'siempre',
    { 405: 'problemas/MetodoNoPermitido', 429: 'problemas/DemasiadasSolicitudes', 503: 'problemas/NoDisponible' },
  ],
  ['cuerpo', { 413: 'problemas/CuerpoDemasiadoGrande', 415: 'problemas/TipoNoAdmitido' }],
  ['cuerpoJson', { 400: 'problemas/CuerpoIlegible', 422: 'problemas/DatosNoValidos' }],
  ['sinCuerpoJson', { 400: 'problemas/ParametroInvalido' }],
  ['condicional', { 304: 'condicional/SinCambios' }],
  ['llave', { 401: 'problemas/NoAutenticado', 403: 'problemas/SinPermiso' }],
  ['llaveSinAlcance', { 403: 'problemas/RedNoPermitida' }],
  ['sesion', { 401: 'problemas/SesionInvalida' }],
  ['firma', { 403: 'problemas/FirmaInvalida' }],
]

/**
 * Headers of each answer that a path file writes in full, as names in `respuestas/cabeceras.yaml`. An answer that
 * writes `X-Request-Id` itself has exactly the headers that it writes.
 */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'X-Request-Id': 'IdSolicitud',
  RateLimit: 'RateLimit',
  'RateLimit-Policy': 'RateLimitPolicy',
}

/** Headers of the answer 200 of an operation under the condition `condicional`, after {@link COMMON_HEADERS}. */
export const CONDITIONAL_HEADERS: Readonly<Record<string, string>> = { ETag: 'ETag' }

/**
 * Bodies of an error answer that a path file writes with examples and without a schema, as names in
 * `schemas/problemas.yaml`.
 */
export const ERROR_BODIES: Readonly<Record<string, string>> = {
  'application/json': 'Problema',
  'application/problem+json': 'ProblemaRfc9457',
}
