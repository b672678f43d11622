import {
  ErrorAbortado,
  ErrorAlcance,
  ErrorApi,
  ErrorConexion,
  ErrorGuias,
  ErrorLimite,
  ErrorNoAutenticado,
  ErrorParametro,
  ErrorRespuesta,
  ErrorServicio,
  ErrorTiempo,
  ErrorValidacion,
  type Falla,
} from '@guias/sdk'
import type { ServiceAddress } from './address.ts'
import { explainSystemError } from './cause.ts'
import { EXIT_CODE, UsageError } from './command.ts'
import { DownloadError } from './files.ts'
import { notify, paintNotice, sanitize } from './terminal.ts'

/** Settings of the current run that its error messages depend on. */
export interface RunSettings {
  json: boolean
  direccion: ServiceAddress | undefined
  /** Names of the command's own options that were given. */
  givenOptions: readonly string[]
}

/**
 * Converts a JSON pointer to the name that the user typed: the option if it was given (`--recogida-lat`), else the path
 * with dots (`recogida.lat`).
 */
export function nameField(field: string, givenOptions: readonly string[] = []): string {
  const parts = field.replace(/^\//, '').split('/').filter(Boolean)
  const option = parts
    .filter((current) => !/^\d+$/.test(current))
    .join('-')
    .replaceAll('_', '-')
  return givenOptions.includes(option) ? `--${option}` : parts.join('.')
}

/**
 * Tells whether an error is temporary: a connection error, HTTP 429 or 5xx. Commands that follow events then wait and
 * try again.
 */
export const isTransientError = (error: unknown): error is ErrorApi | ErrorConexion | ErrorRespuesta =>
  error instanceof ErrorConexion ||
  ((error instanceof ErrorApi || error instanceof ErrorRespuesta) &&
    (error.estadoHttp >= 500 || error.estadoHttp === 429))

/** Reasons in Spanish why a connection was never made, by Node's network error code. */
const CONNECTION_FAILURES: Record<string, string> = {
  ECONNREFUSED: 'ahí no escucha nadie',
  ENOTFOUND: 'ese nombre no existe',
  EAI_AGAIN: 'no se pudo averiguar dónde está ese nombre',
  EHOSTUNREACH: 'no hay camino hasta ahí',
  ENETUNREACH: 'no hay red',
  UND_ERR_CONNECT_TIMEOUT: 'ahí no contesta nadie',
}

function explainNoConnection(error: unknown): string {
  let [code, lastMessage] = ['', '']
  for (let current = error; current instanceof Error; current = current.cause) {
    lastMessage = current.message
    code = String((current as { code?: unknown }).code ?? '') || code
  }
  if (lastMessage === 'bad port') return 'ese puerto no se usa para la web'
  const reason = CONNECTION_FAILURES[code] ?? (/CERT|UNABLE_TO/.test(code) ? 'su certificado no vale' : lastMessage)
  return code ? `${reason} (${code})` : reason
}

const SAFE_TO_REPEAT =
  'Pudo haber recibido lo último que se le pidió; consultar, cancelar y crear con --external-ref se puede repetir.'

/** Returns the message of an error, in Spanish and for a person at a terminal. */
export function describeError(
  error: unknown,
  { direccion, givenOptions }: Pick<RunSettings, 'direccion' | 'givenOptions'>,
): string {
  if (error instanceof ErrorAbortado) return 'Interrumpido.'
  if (error instanceof ErrorApi) return describeRefusal(error, givenOptions)
  const url = direccion?.url ?? ''
  const revise = direccion?.source ? `Revise ${direccion.source}` : 'Diga dónde está con --url o la variable GUIAS_URL'
  if (error instanceof ErrorTiempo) return `${url} no contestó a tiempo. ${SAFE_TO_REPEAT}`
  if (error instanceof ErrorConexion) {
    if (error.pudoLlegar) return `Se cortó la conexión con ${url}. ${SAFE_TO_REPEAT}`
    return `No se pudo conectar con ${url}: ${explainNoConnection(error.cause)}. No se envió nada. ${revise}, y que el servicio esté en marcha.`
  }
  if (error instanceof ErrorRespuesta) {
    const { estadoHttp, texto } = error
    const bodyDescription = /^\s*</.test(texto)
      ? 'es una página web, como la de un proxy,'
      : `«${sanitize(texto.slice(0, 60)).trim()}»`
    const retryAdvice = esperar(error.esperarSegundos)
    return `Lo que contestó ${url} (${estadoHttp}) ${texto ? bodyDescription : 'vino vacío'} y no es del servicio de guías. ${estadoHttp >= 500 || estadoHttp === 429 ? `${retryAdvice} Si insiste, revise` : 'Revise'} ${direccion?.source ?? '--url'} y si hay un proxy en medio.`
  }
  const { code, syscall, path } = error as NodeJS.ErrnoException
  if (code && syscall) return `${path ?? syscall}: ${explainSystemError(error)}.`
  return (error as Error).message
}

/** Returns the reason why the service gives no usable answer, without a full stop, for commands that try again. */
export function describeOutage(error: unknown, direccion: ServiceAddress): string {
  const { url } = direccion
  if (error instanceof ErrorTiempo) return `${url} no contestó a tiempo`
  if (error instanceof ErrorConexion)
    return error.pudoLlegar
      ? `Se cortó la conexión con ${url}`
      : `No se pudo conectar con ${url}: ${explainNoConnection(error.cause)}`
  return `${url} contestó ${(error as ErrorApi | ErrorRespuesta).estadoHttp}`
}

const esperar = (seconds: number | null) =>
  seconds === null ? 'Repita la orden en un momento.' : `Repita la orden en ${seconds} s.`

function describeRefusal(error: ErrorApi, givenOptions: readonly string[]): string {
  const { codigo, idSolicitud, problema } = error
  // The message of this fault names `cursor_siguiente`, a field of the response that the user of the terminal does not
  // see.
  const errores = codigo === 'cursor_invalido' ? [] : error.errores
  const datos = [`codigo: ${codigo}`, ...(idSolicitud ? [`id_solicitud: ${idSolicitud}`] : [])].join(', ')
  const omittedCount = problema.errores_omitidos ?? 0
  return [
    `${sanitize(summarizeRefusal(error))} (${sanitize(datos)})`,
    ...errores.map((fault) => `  ${formatFailure(fault, givenOptions)}`),
    ...(omittedCount > 0 ? [`  … y ${omittedCount} más`] : []),
  ].join('\n')
}

export const formatFailure = ({ campo, mensaje }: Pick<Falla, 'campo' | 'mensaje'>, givenOptions?: readonly string[]) =>
  sanitize([nameField(campo, givenOptions), mensaje].filter(Boolean).join(': '))

function summarizeRefusal(error: ErrorApi): string {
  const { problema } = error
  const serviceMessage = problema.mensaje || problema.titulo || 'El servicio no lo aceptó.'
  if (error instanceof ErrorNoAutenticado) {
    return 'El servicio no acepta su llave: está incompleta, venció, fue revocada o es de otro servicio. Revise GUIAS_LLAVE, o --llave-archivo.'
  }
  if (error instanceof ErrorAlcance) return `${serviceMessage} Use otra llave, en GUIAS_LLAVE o --llave-archivo.`
  if (error instanceof ErrorLimite) return `Demasiadas solicitudes en poco tiempo. ${esperar(error.esperarSegundos)}`
  if (error.codigo === 'cursor_invalido') {
    return 'El --cursor no es de esta lista con estos filtros: quítelo, o repita los filtros con que lo recibió.'
  }
  if (error.codigo === 'ruta_desconocida') {
    return 'Ahí hay un servicio de guías, pero no en esa ruta: revise --url (o GUIAS_URL), que va sin nada después del puerto.'
  }
  if (error.errores.length > 0 && (error instanceof ErrorValidacion || error instanceof ErrorParametro)) {
    return 'Corrija y repita la orden'
  }
  if (error instanceof ErrorServicio) return `${serviceMessage} ${esperar(error.esperarSegundos)}`
  return serviceMessage
}

/**
 * Prints an error to standard error, as text or JSON, and returns the exit code.
 *
 * @throws the same error if it is a bug of this program
 */
export function reportError(error: unknown, runSettings: RunSettings): number {
  if (!isExpectedError(error)) throw error
  const mensaje = hideSecrets(describeError(error, runSettings))
  if (runSettings.json) {
    const { codigo, estadoHttp, idSolicitud, errores } = error as Partial<ErrorApi>
    const { intentos } = error as Partial<ErrorGuias>
    const type = error instanceof UsageError ? 'ErrorDeUso' : error.name
    const transient = isTransientError(error)
    notify(
      JSON.stringify({
        error: type,
        codigo,
        estado_http: estadoHttp,
        id_solicitud: idSolicitud,
        intentos,
        pasajero: transient,
        errores,
        mensaje,
      }),
    )
  } else notify(`${paintNotice('red', 'Error:')} ${mensaje}`)
  if (error instanceof ErrorAbortado) return EXIT_CODE.interrupted
  // An error of exactly the class `ErrorGuias` means that the SDK refused to send the request.
  const isUsageError = error instanceof UsageError || error instanceof ErrorParametro || error.name === 'ErrorGuias'
  return isUsageError ? EXIT_CODE.usage : EXIT_CODE.refused
}

/** Tells whether an error is expected. Any other error is a bug of this program, and its stack trace is needed. */
const isExpectedError = (error: unknown): error is Error =>
  error instanceof UsageError ||
  error instanceof DownloadError ||
  error instanceof ErrorGuias ||
  (error instanceof Error && 'syscall' in error)

/** Hides keys and webhook secrets, in case the user typed a key in the wrong place. */
const hideSecrets = (text: string) => text.replace(/\b(guia_(?:test|live|oper)_|whsec_)[\w+/=-]+/g, '$1…')
