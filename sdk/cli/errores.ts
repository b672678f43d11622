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
import { ErrorDeDescarga } from './archivos.ts'
import type { Direccion } from './direccion.ts'
import { ErrorDeUso, SALIDA } from './orden.ts'
import { porque } from './porque.ts'
import { avisar, limpio, pintarAviso } from './terminal.ts'

/** Settings of the current run that its error messages depend on. */
export interface Pedida {
  json: boolean
  direccion: Direccion | undefined
  /** Names of the command's own options that were given. */
  dadas: readonly string[]
}

/**
 * Converts a JSON pointer to the name that the user typed: the option if it was given (`--recogida-lat`), else the path
 * with dots (`recogida.lat`).
 */
export function nombrarCampo(campo: string, dadas: readonly string[] = []): string {
  const partes = campo.replace(/^\//, '').split('/').filter(Boolean)
  const opcion = partes
    .filter((una) => !/^\d+$/.test(una))
    .join('-')
    .replaceAll('_', '-')
  return dadas.includes(opcion) ? `--${opcion}` : partes.join('.')
}

/**
 * Tells whether an error is temporary: a connection error, HTTP 429 or 5xx. Commands that follow events then wait and
 * try again.
 */
export const esErrorPasajero = (error: unknown): error is ErrorApi | ErrorConexion | ErrorRespuesta =>
  error instanceof ErrorConexion ||
  ((error instanceof ErrorApi || error instanceof ErrorRespuesta) && (error.status >= 500 || error.status === 429))

/** Reasons in Spanish why a connection was never made, by Node's network error code. */
const SIN_CONEXION: Record<string, string> = {
  ECONNREFUSED: 'ahí no escucha nadie',
  ENOTFOUND: 'ese nombre no existe',
  EAI_AGAIN: 'no se pudo averiguar dónde está ese nombre',
  EHOSTUNREACH: 'no hay camino hasta ahí',
  ENETUNREACH: 'no hay red',
  UND_ERR_CONNECT_TIMEOUT: 'ahí no contesta nadie',
}

function porQueNoConecta(error: unknown): string {
  let [codigo, dicho] = ['', '']
  for (let una = error; una instanceof Error; una = una.cause) {
    dicho = una.message
    codigo = String((una as { code?: unknown }).code ?? '') || codigo
  }
  if (dicho === 'bad port') return 'ese puerto no se usa para la web'
  const que = SIN_CONEXION[codigo] ?? (/CERT|UNABLE_TO/.test(codigo) ? 'su certificado no vale' : dicho)
  return codigo ? `${que} (${codigo})` : que
}

const SEGURO =
  'Pudo haber recibido lo último que se le pidió; consultar, cancelar y crear con --external-ref se puede repetir.'

/** Returns the message of an error, in Spanish and for a person at a terminal. */
export function decirError(error: unknown, { direccion, dadas }: Pick<Pedida, 'direccion' | 'dadas'>): string {
  if (error instanceof ErrorAbortado) return 'Interrumpido.'
  if (error instanceof ErrorApi) return decirRechazo(error, dadas)
  const url = direccion?.url ?? ''
  const revise = direccion?.de ? `Revise ${direccion.de}` : 'Diga dónde está con --url o la variable GUIAS_URL'
  if (error instanceof ErrorTiempo) return `${url} no contestó a tiempo. ${SEGURO}`
  if (error instanceof ErrorConexion) {
    if (error.pudoLlegar) return `Se cortó la conexión con ${url}. ${SEGURO}`
    return `No se pudo conectar con ${url}: ${porQueNoConecta(error.cause)}. No se envió nada. ${revise}, y que el servicio esté en marcha.`
  }
  if (error instanceof ErrorRespuesta) {
    const { status, texto } = error
    const que = /^\s*</.test(texto)
      ? 'es una página web, como la de un proxy,'
      : `«${limpio(texto.slice(0, 60)).trim()}»`
    const espera = esperar(error.esperarSegundos)
    return `Lo que contestó ${url} (${status}) ${texto ? que : 'vino vacío'} y no es del servicio de guías. ${status >= 500 || status === 429 ? `${espera} Si insiste, revise` : 'Revise'} ${direccion?.de ?? '--url'} y si hay un proxy en medio.`
  }
  const { code, syscall, path } = error as NodeJS.ErrnoException
  if (code && syscall) return `${path ?? syscall}: ${porque(error)}.`
  return (error as Error).message
}

/** Returns the reason why the service gives no usable answer, without a full stop, for commands that try again. */
export function whyAway(error: unknown, direccion: Direccion): string {
  const { url } = direccion
  if (error instanceof ErrorTiempo) return `${url} no contestó a tiempo`
  if (error instanceof ErrorConexion)
    return error.pudoLlegar
      ? `Se cortó la conexión con ${url}`
      : `No se pudo conectar con ${url}: ${porQueNoConecta(error.cause)}`
  return `${url} contestó ${(error as ErrorApi | ErrorRespuesta).status}`
}

const esperar = (segundos: number | null) =>
  segundos === null ? 'Repita la orden en un momento.' : `Repita la orden en ${segundos} s.`

function decirRechazo(error: ErrorApi, dadas: readonly string[]): string {
  const { codigo, idSolicitud, problema } = error
  // The message of this fault names `cursor_siguiente`, a field of the response that the user of the terminal does not
  // see.
  const errores = codigo === 'cursor_invalido' ? [] : error.errores
  const datos = [`codigo: ${codigo}`, ...(idSolicitud ? [`id_solicitud: ${idSolicitud}`] : [])].join(', ')
  const demas = problema.errores_omitidos ?? 0
  return [
    `${limpio(que(error))} (${limpio(datos)})`,
    ...errores.map((falla) => `  ${decirFalla(falla, dadas)}`),
    ...(demas > 0 ? [`  … y ${demas} más`] : []),
  ].join('\n')
}

export const decirFalla = ({ campo, mensaje }: Pick<Falla, 'campo' | 'mensaje'>, dadas?: readonly string[]) =>
  limpio([nombrarCampo(campo, dadas), mensaje].filter(Boolean).join(': '))

function que(error: ErrorApi): string {
  const { problema } = error
  const suyo = problema.mensaje || problema.titulo || 'El servicio no lo aceptó.'
  if (error instanceof ErrorNoAutenticado) {
    return 'El servicio no acepta su llave: está incompleta, venció, fue revocada o es de otro servicio. Revise GUIAS_LLAVE, o --llave-archivo.'
  }
  if (error instanceof ErrorAlcance) return `${suyo} Use otra llave, en GUIAS_LLAVE o --llave-archivo.`
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
  if (error instanceof ErrorServicio) return `${suyo} ${esperar(error.esperarSegundos)}`
  return suyo
}

/**
 * Prints an error to standard error, as text or JSON, and returns the exit code.
 *
 * @throws the same error if it is a bug of this program
 */
export function explicar(error: unknown, pedida: Pedida): number {
  if (!esNuestro(error)) throw error
  const mensaje = sinSecretos(decirError(error, pedida))
  if (pedida.json) {
    const { codigo, status, idSolicitud, errores } = error as Partial<ErrorApi>
    const { intentos } = error as Partial<ErrorGuias>
    const tipo = error instanceof ErrorDeUso ? 'ErrorDeUso' : error.name
    const pasajero = esErrorPasajero(error)
    avisar(
      JSON.stringify({ error: tipo, codigo, status, id_solicitud: idSolicitud, intentos, pasajero, errores, mensaje }),
    )
  } else avisar(`${pintarAviso('rojo', 'Error:')} ${mensaje}`)
  if (error instanceof ErrorAbortado) return SALIDA.interrumpida
  // An error of exactly the class `ErrorGuias` means that the SDK refused to send the request.
  const deUso = error instanceof ErrorDeUso || error instanceof ErrorParametro || error.name === 'ErrorGuias'
  return deUso ? SALIDA.uso : SALIDA.rechazo
}

/** Tells whether an error is expected. Any other error is a bug of this program, and its stack trace is needed. */
const esNuestro = (error: unknown): error is Error =>
  error instanceof ErrorDeUso ||
  error instanceof ErrorDeDescarga ||
  error instanceof ErrorGuias ||
  (error instanceof Error && 'syscall' in error)

/** Hides keys and webhook secrets, in case the user typed a key in the wrong place. */
const sinSecretos = (texto: string) => texto.replace(/\b(guia_(?:test|live|oper)_|whsec_)[\w+/=-]+/g, '$1…')
