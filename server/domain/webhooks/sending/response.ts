import { StringDecoder } from 'node:string_decoder'
import { ForbiddenDestination } from '../../../platform/outbound/destination.ts'
import type { ExchangeResult, SendError } from '../attempt.ts'
import { INTERRUPTED, type ReceiverConnection } from './connections.ts'

/** Part of a response that has arrived so far. */
export interface Arrived {
  status: number | null
  cabeceras: ResponseHeaders
  chunks: Buffer[]
  bytes: number
  complete: boolean
  firstByte: number | null
}

export const TIMED_OUT = new Error('the deadline passed')
export const TOO_MANY_INFORMATIONAL = new Error('too many 1xx answers')

type ResponseHeaders = Record<string, string | string[] | undefined>

/**
 * Returns the result of an exchange.
 * @param cause error that ended the exchange; null if the response is complete
 * @param startedAt start of the exchange, in milliseconds of the process's clock
 */
export function describeResult(
  arrived: Arrived,
  cause: unknown,
  connection: ReceiverConnection | null,
  startedAt: number,
): ExchangeResult {
  const { status, cabeceras, chunks, complete, firstByte } = arrived
  const [error, detalle] = status === null ? judgeByCause(cause, connection) : judgeByStatus(status)
  const phases = connection?.reused ? null : connection
  const [retryAfter] = [cabeceras['retry-after']].flat()
  return {
    status,
    error,
    detalle,
    cabeceras: status === null ? null : truncateHeaders(cabeceras),
    cuerpo: status === null ? null : readBody(chunks, complete),
    cuerpo_truncado: status !== null && !complete,
    // No valid `Retry-After` is longer, and 16 KB of an invalid one need not be stored.
    retry_after: retryAfter?.slice(0, 200) ?? null,
    ip: connection?.ip ?? null,
    dns_ms: roundMs(phases?.dns),
    conexion_ms: roundMs(phases?.tcp),
    tls_ms: roundMs(phases?.tls),
    primer_byte_ms: roundMs(firstByte && firstByte - startedAt),
    total_ms: roundMs(performance.now() - startedAt),
  }
}

function roundMs(ms: number): number
function roundMs(ms: number | null | undefined): number | null
function roundMs(ms: number | null | undefined): number | null {
  return ms == null ? null : Math.round(ms * 10) / 10
}

const MAX_HEADERS = 40
const MAX_HEADER_BYTES = 4096
const SECRET_HEADER = /^(?:authorization|www-authenticate|proxy-.*)$|token|secret|key|cookie/

/** Returns the headers that fit. A header that does not fit is left out, and headers after it may still fit. */
function truncateHeaders(headers: ResponseHeaders): Record<string, string> {
  const chosen: [string, string][] = []
  let remainingBytes = MAX_HEADER_BYTES
  for (const [name, value = ''] of Object.entries(headers)) {
    const text = SECRET_HEADER.test(name) ? '***' : String(value)
    const bytes = name.length + Buffer.byteLength(text)
    if (bytes > remainingBytes) continue
    remainingBytes -= bytes
    if (chosen.push([name, text]) === MAX_HEADERS) break
  }
  // An assignment to a header named `__proto__` would change the prototype.
  return Object.fromEntries(chosen)
}

function readBody(chunks: Buffer[], complete: boolean): string {
  const bytes = Buffer.concat(chunks)
  // If this process cut the body, half a character at its end is no fault of the receiver. The decoder leaves it out.
  const text = complete ? bytes.toString('utf8') : new StringDecoder('utf8').write(bytes)
  return text.replaceAll('\0', '')
}

type ResponseVerdict = [SendError, string] | [null, null]

function judgeByStatus(status: number): ResponseVerdict {
  if (status >= 200 && status < 300) return [null, null]
  if (status >= 300 && status < 400) {
    return [
      'redireccion',
      `El receptor respondió ${status}, una redirección, y los webhooks no las siguen: registre la dirección final.`,
    ]
  }
  return ['http', `El receptor respondió ${status} en lugar de 2xx: ${remedyFor(status)}.`]
}

function remedyFor(status: number): string {
  if (status === 401 || status === 403) return 'admita la solicitud sin sesión ni permisos y compruebe su firma'
  if (status === 404 || status === 405) return 'revise que la dirección exista y admita POST'
  if (status === 410) return 'con ello pidió no recibir más webhooks'
  if (status === 429) return 'pidió recibir menos por segundo'
  return status >= 500 ? 'revise los registros del receptor' : 'revise por qué rechaza la solicitud'
}

const PHASE_FAILURES = {
  dns: 'no se resolvió su nombre',
  tcp: 'no se pudo conectar con él',
  tls: 'no terminó de establecer la conexión segura (TLS)',
  ready: 'no terminó de enviar las cabeceras de su respuesta',
}

function judgeByCause(cause: unknown, connection: ReceiverConnection | null): ResponseVerdict {
  if (cause instanceof ForbiddenDestination) {
    return [cause.motivo === 'url_no_resuelve' ? 'dns' : 'destino_no_permitido', cause.message]
  }
  const phase = connection?.phase ?? 'dns'
  if (cause === TIMED_OUT) {
    return [
      'tiempo_agotado',
      `Se agotó el plazo del receptor: ${PHASE_FAILURES[phase]}. Revise que esté en línea y responda pronto.`,
    ]
  }
  if (cause === INTERRUPTED) return ['conexion', 'El envío se interrumpió porque el servicio se detuvo: se repetirá.']
  const { code = '' } = cause as NodeJS.ErrnoException
  if (phase === 'tls' || code.startsWith('ERR_SSL')) return ['tls', TLS_FAILURES[code] ?? otherTlsFailure(code)]
  if (phase === 'ready' && !isClosed(cause)) return ['respuesta_invalida', describeInvalid(cause, code)]
  return ['conexion', NETWORK_FAILURES[code] ?? (phase === 'ready' ? CONNECTION_CLOSED : NO_CONNECTION)]
}

const INSTALL_CHAIN = 'instale uno de una autoridad reconocida, con su cadena completa.'
const TLS_FAILURES: Record<string, string> = {
  CERT_HAS_EXPIRED: 'El certificado del receptor venció: renuévelo.',
  CERT_NOT_YET_VALID: 'El certificado del receptor todavía no es válido: revise sus fechas.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'El certificado del receptor es de otro nombre: instale uno que incluya su dominio.',
  DEPTH_ZERO_SELF_SIGNED_CERT: `El certificado del receptor es autofirmado: ${INSTALL_CHAIN}`,
  SELF_SIGNED_CERT_IN_CHAIN: `El certificado del receptor es de una autoridad propia: ${INSTALL_CHAIN}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `No se reconoce a quien emitió el certificado: ${INSTALL_CHAIN}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `No se pudo verificar el certificado del receptor: ${INSTALL_CHAIN}`,
}
const otherTlsFailure = (code: string): string =>
  `No se pudo establecer la conexión segura (TLS${code && `, ${code}`}): revise el certificado y el puerto del receptor.`

const CONNECTION_CLOSED = 'El receptor cerró la conexión sin responder: revise que esté en línea y sus registros.'
const NO_CONNECTION = 'No se pudo conectar con el receptor: revise que esté en línea y que su cortafuegos lo permita.'
const NO_ROUTE = 'No hay ruta hasta el receptor: revise que su dirección sea pública y esté en línea.'
const OWN_FAILURE = 'El servicio no pudo abrir la conexión por una falla propia, no del receptor: el envío se repetirá.'
const NETWORK_FAILURES: Record<string, string> = {
  ECONNREFUSED: 'El receptor rechazó la conexión: revise que esté en línea y escuche en ese puerto.',
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  EMFILE: OWN_FAILURE,
  ENFILE: OWN_FAILURE,
  ENOBUFS: OWN_FAILURE,
  EADDRNOTAVAIL: OWN_FAILURE,
}

function describeInvalid(cause: unknown, code: string): string {
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'La respuesta lleva más de 16 KB de cabeceras: redúzcalas.'
  if (cause === TOO_MANY_INFORMATIONAL) return 'El receptor envió demasiadas respuestas 1xx: responda 2xx directamente.'
  return 'El receptor no respondió con HTTP/1.1 válido: revise qué servicio escucha en ese puerto.'
}

/** Returns true if an error is a closed connection, and false if it is a response that cannot be parsed. */
export function isClosed(error: unknown): boolean {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  return syscall !== undefined || code === 'ECONNRESET' || (code === 'UND_ERR_SOCKET' && /closed/.test(message))
}
