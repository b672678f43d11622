import { StringDecoder } from 'node:string_decoder'
import { ForbiddenDestination } from '../../platform/outbound/destination.ts'
import { INTERRUPTED, type ReceiverConnection } from './connections.ts'

// Result of an exchange. It is stored, and described for the merchant.

/** Kind of error of an exchange. */
export type SendError =
  | 'http'
  | 'redireccion'
  | 'tiempo_agotado'
  | 'dns'
  | 'conexion'
  | 'tls'
  | 'destino_no_permitido'
  | 'respuesta_invalida'

/** Result of an exchange. */
export interface ExchangeResult {
  status: number | null
  /** Kind of error; null exactly if the status is 2xx. */
  error: SendError | null
  /** Description of the error in words for the merchant; null on success. */
  detalle: string | null
  /**
   * Headers of the response with names in lower case, at most 40 headers and 4 KB in all. A value that may be a secret
   * is '***'.
   */
  cabeceras: Record<string, string> | null
  /** First bytes of the response as UTF-8, without NUL; U+FFFD stands for invalid bytes. Null if no response came. */
  cuerpo: string | null
  /** True if the body continues after `cuerpo`: it was longer, or the deadline or the receiver cut it. */
  cuerpo_truncado: boolean
  retry_after: string | null
  /** IP address of the connection. */
  ip: string | null
  /** Duration of the DNS look-up, in milliseconds. Null on a reused connection, as are the durations of TCP and TLS. */
  dns_ms: number | null
  conexion_ms: number | null
  tls_ms: number | null
  /** Milliseconds from the start of the attempt to the first byte of the response. */
  primer_byte_ms: number | null
  total_ms: number
}

/** Part of a response that has arrived so far. */
export interface Arrived {
  status: number | null
  cabeceras: Cabeceras
  trozos: Buffer[]
  bytes: number
  completo: boolean
  primerByte: number | null
}

export const TIMED_OUT = new Error('the deadline passed')
export const TOO_MANY_INFORMATIONAL = new Error('too many 1xx answers')

type Cabeceras = Record<string, string | string[] | undefined>

/**
 * Returns the result of an exchange.
 * @param causa error that ended the exchange; null if the response is complete
 * @param inicio start of the exchange, in milliseconds of the process's clock
 */
export function describeResult(
  llegado: Arrived,
  causa: unknown,
  conexion: ReceiverConnection | null,
  inicio: number,
): ExchangeResult {
  const { status, cabeceras, trozos, completo, primerByte } = llegado
  const [error, detalle] = status === null ? porCausa(causa, conexion) : porStatus(status)
  const fases = conexion?.reutilizada ? null : conexion
  const [espera] = [cabeceras['retry-after']].flat()
  return {
    status,
    error,
    detalle,
    cabeceras: status === null ? null : recortar(cabeceras),
    cuerpo: status === null ? null : leerCuerpo(trozos, completo),
    cuerpo_truncado: status !== null && !completo,
    // No valid `Retry-After` is longer, and 16 KB of an invalid one need not be stored.
    retry_after: espera?.slice(0, 200) ?? null,
    ip: conexion?.ip ?? null,
    dns_ms: redondear(fases?.dns),
    conexion_ms: redondear(fases?.tcp),
    tls_ms: redondear(fases?.tls),
    primer_byte_ms: redondear(primerByte && primerByte - inicio),
    total_ms: redondear(performance.now() - inicio),
  }
}

function redondear(ms: number): number
function redondear(ms: number | null | undefined): number | null
function redondear(ms: number | null | undefined): number | null {
  return ms == null ? null : Math.round(ms * 10) / 10
}

const CABECERAS_MAXIMAS = 40
const BYTES_DE_CABECERAS = 4096
const SECRETA = /^(?:authorization|www-authenticate|proxy-.*)$|token|secret|key|cookie/

/** Returns the headers that fit. A header that does not fit is left out, and headers after it may still fit. */
function recortar(cabeceras: Cabeceras): Record<string, string> {
  const elegidas: [string, string][] = []
  let quedan = BYTES_DE_CABECERAS
  for (const [nombre, valor = ''] of Object.entries(cabeceras)) {
    const texto = SECRETA.test(nombre) ? '***' : String(valor)
    const bytes = nombre.length + Buffer.byteLength(texto)
    if (bytes > quedan) continue
    quedan -= bytes
    if (elegidas.push([nombre, texto]) === CABECERAS_MAXIMAS) break
  }
  // An assignment to a header named `__proto__` would change the prototype.
  return Object.fromEntries(elegidas)
}

function leerCuerpo(trozos: Buffer[], completo: boolean): string {
  const bytes = Buffer.concat(trozos)
  // If this process cut the body, half a character at its end is no fault of the receiver. The decoder leaves it out.
  const texto = completo ? bytes.toString('utf8') : new StringDecoder('utf8').write(bytes)
  return texto.replaceAll('\0', '')
}

type Veredicto = [SendError, string] | [null, null]

function porStatus(status: number): Veredicto {
  if (status >= 200 && status < 300) return [null, null]
  if (status >= 300 && status < 400) {
    return [
      'redireccion',
      `El receptor respondió ${status}, una redirección, y los webhooks no las siguen: registre la dirección final.`,
    ]
  }
  return ['http', `El receptor respondió ${status} en lugar de 2xx: ${remedio(status)}.`]
}

function remedio(status: number): string {
  if (status === 401 || status === 403) return 'admita la solicitud sin sesión ni permisos y compruebe su firma'
  if (status === 404 || status === 405) return 'revise que la dirección exista y admita POST'
  if (status === 410) return 'con ello pidió no recibir más webhooks'
  if (status === 429) return 'pidió recibir menos por segundo'
  return status >= 500 ? 'revise los registros del receptor' : 'revise por qué rechaza la solicitud'
}

const ALCANZADO = {
  dns: 'no se resolvió su nombre',
  tcp: 'no se pudo conectar con él',
  tls: 'no terminó de establecer la conexión segura (TLS)',
  lista: 'no terminó de enviar las cabeceras de su respuesta',
}

function porCausa(causa: unknown, conexion: ReceiverConnection | null): Veredicto {
  if (causa instanceof ForbiddenDestination) {
    return [causa.motivo === 'url_no_resuelve' ? 'dns' : 'destino_no_permitido', causa.message]
  }
  const fase = conexion?.fase ?? 'dns'
  if (causa === TIMED_OUT) {
    return [
      'tiempo_agotado',
      `Se agotó el plazo del receptor: ${ALCANZADO[fase]}. Revise que esté en línea y responda pronto.`,
    ]
  }
  if (causa === INTERRUPTED) return ['conexion', 'El envío se interrumpió porque el servicio se detuvo: se repetirá.']
  const { code = '' } = causa as NodeJS.ErrnoException
  if (fase === 'tls' || code.startsWith('ERR_SSL')) return ['tls', FALLAS_TLS[code] ?? otraFallaTls(code)]
  if (fase === 'lista' && !isClosed(causa)) return ['respuesta_invalida', invalida(causa, code)]
  return ['conexion', FALLAS_DE_RED[code] ?? (fase === 'lista' ? CERRADA : SIN_CONEXION)]
}

const ENTREGUE_CADENA = 'instale uno de una autoridad reconocida, con su cadena completa.'
const FALLAS_TLS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'El certificado del receptor venció: renuévelo.',
  CERT_NOT_YET_VALID: 'El certificado del receptor todavía no es válido: revise sus fechas.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'El certificado del receptor es de otro nombre: instale uno que incluya su dominio.',
  DEPTH_ZERO_SELF_SIGNED_CERT: `El certificado del receptor es autofirmado: ${ENTREGUE_CADENA}`,
  SELF_SIGNED_CERT_IN_CHAIN: `El certificado del receptor es de una autoridad propia: ${ENTREGUE_CADENA}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `No se reconoce a quien emitió el certificado: ${ENTREGUE_CADENA}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `No se pudo verificar el certificado del receptor: ${ENTREGUE_CADENA}`,
}
const otraFallaTls = (code: string): string =>
  `No se pudo establecer la conexión segura (TLS${code && `, ${code}`}): revise el certificado y el puerto del receptor.`

const CERRADA = 'El receptor cerró la conexión sin responder: revise que esté en línea y sus registros.'
const SIN_CONEXION = 'No se pudo conectar con el receptor: revise que esté en línea y que su cortafuegos lo permita.'
const SIN_RUTA = 'No hay ruta hasta el receptor: revise que su dirección sea pública y esté en línea.'
const PROPIA = 'El servicio no pudo abrir la conexión por una falla propia, no del receptor: el envío se repetirá.'
const FALLAS_DE_RED: Record<string, string> = {
  ECONNREFUSED: 'El receptor rechazó la conexión: revise que esté en línea y escuche en ese puerto.',
  EHOSTUNREACH: SIN_RUTA,
  ENETUNREACH: SIN_RUTA,
  EMFILE: PROPIA,
  ENFILE: PROPIA,
  ENOBUFS: PROPIA,
  EADDRNOTAVAIL: PROPIA,
}

function invalida(causa: unknown, code: string): string {
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'La respuesta lleva más de 16 KB de cabeceras: redúzcalas.'
  if (causa === TOO_MANY_INFORMATIONAL) return 'El receptor envió demasiadas respuestas 1xx: responda 2xx directamente.'
  return 'El receptor no respondió con HTTP/1.1 válido: revise qué servicio escucha en ese puerto.'
}

/** Returns true if an error is a closed connection, and false if it is a response that cannot be parsed. */
export function isClosed(error: unknown): boolean {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  return syscall !== undefined || code === 'ECONNRESET' || (code === 'UND_ERR_SOCKET' && /closed/.test(message))
}
