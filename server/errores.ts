import type { Problema as CuerpoDeProblema, Falla } from './contrato/generado/tipos/index.ts'
import { PROBLEMAS } from './contrato/generado/vocabulario.ts'

export type Codigo = keyof typeof PROBLEMAS

/** At most this many faults are told for one object, and for one batch. */
export const MAXIMO_DE_FALLAS = 50
export const MAXIMO_DE_FALLAS_DEL_LOTE = 500
/** At most this many warnings are told of one batch. */
export const MAXIMO_DE_ADVERTENCIAS = 50

interface Detalles extends Pick<CuerpoDeProblema, 'guia' | 'estado' | 'transiciones'> {
  errores?: readonly Falla[]
  errores_omitidos?: number
  /** Answer headers that the problem calls for (`Allow`, `Retry-After`, `WWW-Authenticate`). */
  cabeceras?: Readonly<Record<string, string>>
  /** What really happened, for the log; never shown. */
  cause?: unknown
}

/** What a handler throws. `mensaje` is for whoever called; `cause` is for the log. */
export class Problema extends Error {
  readonly codigo: Codigo
  readonly status: number
  readonly detalles: Detalles
  constructor(codigo: Codigo, mensaje: string, detalles: Detalles = {}) {
    super(mensaje, { cause: detalles.cause })
    this.name = 'Problema'
    this.codigo = codigo
    this.status = PROBLEMAS[codigo].status
    this.detalles = detalles
  }

  /** The body as application/json for the request with this id; `urlPublica` is where its code is explained. */
  presentar(idSolicitud: string, urlPublica: string): CuerpoDeProblema {
    const { errores = [], errores_omitidos, guia, estado, transiciones } = this.detalles
    const definido: { titulo: string; ajeno?: boolean } = PROBLEMAS[this.codigo]
    return {
      codigo: this.codigo,
      titulo: definido.titulo,
      mensaje: this.message,
      estado_http: this.status,
      errores: [...errores],
      ...(errores_omitidos ? { errores_omitidos } : {}),
      id_solicitud: idSolicitud,
      documentacion: definido.ajeno ? null : `${urlPublica}/docs#error-${this.codigo}`,
      ...(guia ? { guia } : {}),
      ...(estado ? { estado } : {}),
      ...(transiciones ? { transiciones } : {}),
    }
  }
}

/** A 422 with every fault (capped), or a 400 when they are of parameters. `omitidas`: faults already left out. */
export function problemaDeFallas(
  codigo: 'validacion' | 'parametro_invalido',
  fallas: readonly Falla[],
  omitidas = 0,
): Problema {
  const errores = fallas.slice(0, MAXIMO_DE_FALLAS)
  const cuantas = fallas.length + omitidas
  const nombres = [...new Set(errores.map(({ campo }) => campo.replace(/^\//, '') || 'el cuerpo'))].slice(0, 10)
  const que = codigo === 'validacion' ? 'campo' : 'parámetro'
  return new Problema(
    codigo,
    `Corrija ${cuantas} ${que}${cuantas === 1 ? '' : 's'} y vuelva a enviar: ${nombres.join(', ').slice(0, 600)}.`,
    { errores, errores_omitidos: cuantas - errores.length },
  )
}

/** The same words every time, where a caller must not learn what exactly was wrong. */
export const problemaUniforme = (codigo: Codigo) => new Problema(codigo, PROBLEMAS[codigo].causa)

/**
 * Nothing was done, for it was too much.
 * @param porQue in Spanish, without its full stop
 */
export function demasiadas(porQue: string, segundos: number, cabeceras: Detalles['cabeceras'] = {}): Problema {
  const mensaje = `${porQue}. Repita en ${segundos} ${segundos === 1 ? 'segundo' : 'segundos'}.`
  return new Problema('demasiadas_solicitudes', mensaje, {
    cabeceras: { ...cabeceras, 'Retry-After': String(segundos) },
  })
}

export const noDisponible = (mensaje: string, cause?: unknown) =>
  new Problema('no_disponible', mensaje, { cabeceras: { 'Retry-After': '2' }, cause })

/** Codes of sockets, PostgreSQL (SQLSTATE) and Prisma that mean "not now", not "never". */
const PASAJEROS = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['40001', '40P01', '55P03', '57014', '57P01', '57P02', '57P03'],
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2034', 'P2037'],
])

/** SQLSTATE of a full disk, of a database that is read-only, and of a disk that fails. */
const SIN_ESCRITURA = new Set(['53100', '25006', '58030'])

/**
 * Reports whether PostgreSQL lacks what a statement needs: disk, memory or connections (class 53), or the permission to write.
 * Another server, or the same one a little later, may have it.
 */
export const faltaAlServidor = (code: unknown): boolean =>
  typeof code === 'string' && (code.startsWith('53') || SIN_ESCRITURA.has(code))
/** What node-postgres says of a lost or exhausted connection, without a code. */
const CONEXION_PERDIDA =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout/

/** What is said of a machine that went away by whoever asks all of them, as an internal error (XX000). */
const MAQUINA_PERDIDA =
  /connection marked as essential|server closed the connection|could not (?:connect|establish)|connection not open/

interface ErrorDeBase {
  code?: unknown
  severity?: unknown
  message: string
  /** Where Prisma keeps what the driver said. */
  meta?: { driverAdapterError?: { cause?: ErrorDeBase } }
}

/** Returns the driver's error inside one that Prisma translated; any other error is returned as it is. */
const delDriver = (error: ErrorDeBase) => error.meta?.driverAdapterError?.cause ?? error

function esPasajero(error: ErrorDeBase): boolean {
  const { code, severity, message } = error
  if (typeof code === 'string' && (PASAJEROS.has(code) || code.startsWith('08') || faltaAlServidor(code))) return true
  // PostgreSQL's FATAL ends the session: whatever the reason, it is no fault of the request.
  if (severity === 'FATAL' || CONEXION_PERDIDA.test(message)) return true
  if (code === 'XX000' && MAQUINA_PERDIDA.test(message)) return true
  const causa = delDriver(error)
  return causa !== error && esPasajero(causa)
}

const REPETIR = 'Repita la solicitud en unos segundos; con external_ref, repetir una creación es seguro.'
const NO_GUARDA = 'El servicio no puede guardar cambios en este momento.'

/**
 * The key or condition that a statement broke. Where a table lies in parts its name ends with the part's, and whoever asks the
 * parts for others tells it in words alone.
 */
export function restriccionDe(error: unknown): string | undefined {
  const { constraint, code, message } = error as { constraint?: string; code?: unknown; message?: string }
  if (constraint !== undefined) return constraint.replace(/_\d+$/, '')
  return String(code).startsWith('23') ? /constraint "(\w+?)(?:_\d+)?"/.exec(message ?? '')?.[1] : undefined
}

/** An error and its causes, at most five. */
function* causasDe(error: unknown): Generator<Error> {
  for (let causa = error, n = 0; causa instanceof Error && n < 5; causa = causa.cause, n++) yield causa
}

/** Reports whether an error was thrown because the database took no writes. */
export const noGuardaba = (error: unknown): boolean =>
  causasDe(error).some((causa) => SIN_ESCRITURA.has(String(delDriver(causa).code)))

/**
 * What the caller is told of anything thrown. Faults of the database that pass are 503; the rest is a 500. Of several errors
 * the worst one counts.
 */
export function traducirError(error: unknown): Problema {
  if (error instanceof Problema) return error
  if (causasDe(error).some(esPasajero))
    return noDisponible(noGuardaba(error) ? `${NO_GUARDA} ${REPETIR}` : REPETIR, error)
  if (error instanceof AggregateError && error.errors.length > 0) {
    const problemas = error.errors.map(traducirError)
    return problemas.find(({ codigo }) => codigo !== 'no_disponible') ?? problemas[0]!
  }
  const mensaje = 'Falló algo nuestro. Repita la solicitud; si insiste, escríbanos con el id_solicitud.'
  return new Problema('error_interno', mensaje, { cause: error })
}

/** Why a database can't be used, in words for whoever named it; undefined: that isn't what went wrong. */
export function explicarBase(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code } = error as { code?: unknown }
  const suyo =
    esPasajero(error) ||
    (typeof code === 'string' &&
      /^(28|3D|42501|ENOENT|EACCES|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|CERT_|UNABLE_TO)/.test(code)) ||
    /timeout/i.test(error.message)
  if (!suyo) return undefined
  return `No se puede usar la base de datos de DATABASE_URL: ${error.message || String(code)}. Revise la dirección, el usuario, la clave y que el servidor esté en marcha.`
}
