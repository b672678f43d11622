import type { Falla, Problema as ProblemaBody } from '../generated/contract/types/index.ts'
import { PROBLEMAS } from '../generated/contract/vocabulary.ts'

/** Code of a problem, as the contract defines it. */
export type ProblemCode = keyof typeof PROBLEMAS

/** Maximum faults listed in a response: for one object, and for one batch. */
export const MAX_FAULTS = 50
export const MAX_BATCH_FAULTS = 500
/** Maximum warnings listed in a response for one batch. */
export const MAX_WARNINGS = 50

interface ProblemaDetails
  extends Pick<
    ProblemaBody,
    'guia' | 'estado' | 'transiciones' | 'admitida_en' | 'decision' | 'opciones' | 'secuencia'
  > {
  errores?: readonly Falla[]
  errores_omitidos?: number
  /** Response headers that the problem needs (`Allow`, `Retry-After`, `WWW-Authenticate`). */
  headers?: Readonly<Record<string, string>>
  /** Original error, for the log; never shown. */
  cause?: unknown
}

/** Error that a handler throws. `message` addresses the caller of the API; `cause` is for the log. */
export class Problema extends Error {
  readonly codigo: ProblemCode
  readonly status: number
  readonly details: ProblemaDetails
  constructor(code: ProblemCode, message: string, details: ProblemaDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'Problema'
    this.codigo = code
    this.status = PROBLEMAS[code].status
    this.details = details
  }

  /**
   * Returns the problem's body as application/json.
   * @param requestId id of the request
   * @param publicUrl base of the link that explains the code
   */
  present(requestId: string, publicUrl: string): ProblemaBody {
    const {
      errores = [],
      errores_omitidos,
      guia,
      estado,
      transiciones,
      admitida_en,
      decision,
      opciones,
      secuencia,
    } = this.details
    const definition: { titulo: string; ajeno?: boolean } = PROBLEMAS[this.codigo]
    return {
      codigo: this.codigo,
      titulo: definition.titulo,
      mensaje: this.message,
      estado_http: this.status,
      errores: [...errores],
      ...(errores_omitidos ? { errores_omitidos } : {}),
      id_solicitud: requestId,
      documentacion: definition.ajeno ? null : `${publicUrl}/docs/errores#error-${this.codigo}`,
      ...(guia ? { guia } : {}),
      ...(estado ? { estado } : {}),
      ...(transiciones ? { transiciones } : {}),
      ...(admitida_en ? { admitida_en } : {}),
      ...(decision ? { decision } : {}),
      ...(opciones ? { opciones } : {}),
      ...(secuencia ? { secuencia } : {}),
    }
  }
}

/**
 * Makes a 422 for faults of a body, or a 400 for faults of parameters. The list of faults is capped at
 * {@link MAX_FAULTS}.
 * @param omittedCount number of faults that are already left out
 */
export function problemOfFaults(
  code: 'validacion' | 'parametro_invalido',
  faults: readonly Falla[],
  omittedCount = 0,
): Problema {
  const errores = faults.slice(0, MAX_FAULTS)
  const faultCount = faults.length + omittedCount
  const names = [...new Set(errores.map(({ campo }) => campo.replace(/^\//, '') || 'el cuerpo'))].slice(0, 10)
  const fieldNoun = code === 'validacion' ? 'campo' : 'parámetro'
  return new Problema(
    code,
    `Corrija ${faultCount} ${fieldNoun}${faultCount === 1 ? '' : 's'} y vuelva a enviar: ${names.join(', ').slice(0, 600)}.`,
    { errores, errores_omitidos: faultCount - errores.length },
  )
}

/**
 * Makes a problem with the same text every time, for cases in which the caller must not learn the exact fault. The text
 * says the remedy, too. The remedies of problems that merchants never get (`ajeno`) name operations, and stay in the
 * documentation.
 */
export function uniformProblem(code: ProblemCode): Problema {
  const { causa, remedio, ajeno }: { causa: string; remedio: string; ajeno?: boolean } = PROBLEMAS[code]
  return new Problema(code, ajeno ? causa : `${causa} ${remedio}`)
}

/**
 * Makes a 429 for a request beyond a limit, which changed nothing.
 * @param reason reason in Spanish, without its full stop
 */
export function tooMany(reason: string, seconds: number, headers: ProblemaDetails['headers'] = {}): Problema {
  const message = `${reason}. Repita en ${seconds} ${seconds === 1 ? 'segundo' : 'segundos'}.`
  return new Problema('demasiadas_solicitudes', message, {
    headers: { ...headers, 'Retry-After': String(seconds) },
  })
}

/** Makes a 503 with `Retry-After: 2`. */
export const unavailable = (message: string, cause?: unknown) =>
  new Problema('no_disponible', message, { headers: { 'Retry-After': '2' }, cause })

/** Codes of sockets, PostgreSQL (SQLSTATE) and Prisma that stand for a temporary fault. */
const TRANSIENT_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  '40001',
  '40P01',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2034',
  'P2037',
])

/** SQLSTATEs of a full disk, of a read-only database, and of a failing disk. */
const NO_WRITE_CODES = new Set(['53100', '25006', '58030'])

/**
 * Reports whether PostgreSQL lacks what a statement needs: disk, memory or connections (class 53), or the permission to
 * write. Another server may work, or the same server a little later.
 */
export const isServerFault = (code: unknown): boolean =>
  typeof code === 'string' && (code.startsWith('53') || NO_WRITE_CODES.has(code))
/** Messages of node-postgres about a lost connection or an exhausted pool, which have no code. */
const LOST_CONNECTION =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/

/**
 * Messages of a Citus coordinator about an unreachable machine. Their SQLSTATE is that of an internal error (XX000).
 */
const LOST_MACHINE =
  /connection marked as essential|server closed the connection|could not (?:connect|establish)|connection not open/

interface DatabaseError {
  code?: unknown
  severity?: unknown
  message: string
  /** Error of the driver, inside an error of Prisma. */
  meta?: { driverAdapterError?: { cause?: DatabaseError } }
}

/** Returns the driver's error inside an error that Prisma translated, and any other error as it is. */
const driverErrorOf = (error: DatabaseError) => error.meta?.driverAdapterError?.cause ?? error

function isTransient(error: DatabaseError): boolean {
  const { code, severity, message } = error
  if (typeof code === 'string' && (TRANSIENT_CODES.has(code) || code.startsWith('08') || isServerFault(code)))
    return true
  // FATAL means that PostgreSQL ends the session. The cause never lies in the request.
  if (severity === 'FATAL' || LOST_CONNECTION.test(message)) return true
  if (code === 'XX000' && LOST_MACHINE.test(message)) return true
  const cause = driverErrorOf(error)
  return cause !== error && isTransient(cause)
}

const RETRY_ADVICE = 'Repita la solicitud en unos segundos; con external_ref, repetir una creación es seguro.'
const CANNOT_STORE = 'El servicio no puede guardar cambios en este momento.'

/**
 * Returns the name of the constraint that a statement broke. On a Citus worker the name ends with the shard's number,
 * which is removed. A Citus coordinator names the constraint only in its message.
 */
export function constraintOf(error: unknown): string | undefined {
  const { constraint, code, message } = error as { constraint?: string; code?: unknown; message?: string }
  if (constraint !== undefined) return constraint.replace(/_\d+$/, '')
  return String(code).startsWith('23') ? /constraint "(\w+?)(?:_\d+)?"/.exec(message ?? '')?.[1] : undefined
}

/** Yields an error and its causes, at most five. */
function* causesOf(error: unknown): Generator<Error> {
  for (let cause = error, n = 0; cause instanceof Error && n < 5; cause = cause.cause, n++) yield cause
}

/** Reports whether an error was thrown because the database accepted no writes. */
export const wasNotStored = (error: unknown): boolean =>
  causesOf(error).some((cause) => NO_WRITE_CODES.has(String(driverErrorOf(cause).code)))

/**
 * Translates any error into the problem for the caller of the API. Temporary faults of the database become a 503, other
 * errors a 500. Of several errors, the most serious one counts.
 */
export function translateError(error: unknown): Problema {
  if (error instanceof Problema) return error
  if (causesOf(error).some(isTransient))
    return unavailable(wasNotStored(error) ? `${CANNOT_STORE} ${RETRY_ADVICE}` : RETRY_ADVICE, error)
  if (error instanceof AggregateError && error.errors.length > 0) {
    const problemas = error.errors.map(translateError)
    return problemas.find(({ codigo }) => codigo !== 'no_disponible') ?? problemas[0]!
  }
  const message = 'Falló algo nuestro. Repita la solicitud; si insiste, escríbanos con el id_solicitud.'
  return new Problema('error_interno', message, { cause: error })
}

/** Explains, in Spanish for the operator, why a database cannot be used. Undefined if the error has another reason. */
export function explainDatabase(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  const isDatabaseFault =
    isTransient(error) ||
    (typeof code === 'string' &&
      /^(28|3D|42501|ENOENT|EACCES|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|CERT_|UNABLE_TO)/.test(code)) ||
    /timeout/i.test(error.message)
  if (!isDatabaseFault) return undefined
  const remedy = wasNotStored(error)
    ? 'No admite escrituras: siga docs/operacion/alertas/no-lista.md.'
    : 'Revise la dirección, el usuario, la clave y que el servidor esté en marcha.'
  return `No se puede usar la base de datos de DATABASE_URL: ${error.message || String(code)}. ${remedy}`
}
