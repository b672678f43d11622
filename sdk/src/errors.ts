// biome-ignore-all lint/complexity/noThisInStatic: a class that does not mention its own name compresses better: 100 bytes less in a bundle
// Members have only declarations. A field initialiser that the constructor overwrites would cost 50 bytes in a bundle.

import type {
  AccionDeDecision,
  CodigoDeGuia,
  CodigoDeProblema,
  Decision,
  Estado,
  Falla,
  Problema,
} from './generated/types.gen.js'

/**
 * Nombre de cada clase de error, en su miembro `name`. Sirve cuando `instanceof` no funciona, por ejemplo con dos
 * copias del paquete en un mismo programa.
 */
export type NombreDeError =
  | 'ErrorGuias'
  | 'ErrorApi'
  | 'ErrorValidacion'
  | 'ErrorParametro'
  | 'ErrorNoAutenticado'
  | 'ErrorAlcance'
  | 'ErrorNoEncontrado'
  | 'ErrorConflicto'
  | 'ErrorCuerpo'
  | 'ErrorLimite'
  | 'ErrorServicio'
  | 'ErrorConexion'
  | 'ErrorTiempo'
  | 'ErrorAbortado'
  | 'ErrorRespuesta'
  | 'ErrorFirma'
  | 'ErrorPrueba'

/**
 * Clase base de todos los errores de este paquete. Si el error no tiene una clase más específica, la solicitud no llegó
 * a enviarse: falta la llave, `baseUrl` no es válida, falta el código de la guía…
 */
export class ErrorGuias extends Error {
  // Each class has its own literal type for `name`, because the `else` of an `instanceof` between equal classes would
  // be `never`. The value is a literal on the prototype, because minifiers rename classes and an own property would
  // appear in every log.
  declare name: NombreDeError

  /** Número de veces que se envió la solicitud, con los reintentos; 0 si no llegó a enviarse. */
  declare intentos: number

  /**
   * Segundos que la respuesta pide esperar antes de repetir (`Retry-After`), aunque sea la respuesta de un proxy. Nulo
   * si la respuesta no lo dijo o si no hubo respuesta.
   */
  declare readonly esperarSegundos: number | null

  /** Line breaks are removed, because a message of the server or of the engine may have several lines. */
  constructor(mensaje: string, opciones?: ErrorOptions) {
    super(mensaje.replace(/\s+/g, ' '), opciones)
  }

  static {
    Object.assign(this.prototype, { name: 'ErrorGuias', intentos: 0, esperarSegundos: null })
  }
}

/** Respuesta de la que salió un {@link ErrorApi}. */
export interface OrigenDelError {
  /** Estado HTTP de la respuesta; si falta, el que dice el problema. */
  estadoHttp?: number
  /** Cabeceras de la respuesta. */
  cabeceras?: Headers
}

const MAX_FAILURES_IN_MESSAGE = 10

/**
 * Error de una solicitud que la API rechazó. Mire `codigo`, que es estable; puede haber códigos nuevos que esta versión
 * no conoce. Cite `idSolicitud` al escribirnos.
 */
export class ErrorApi extends ErrorGuias {
  /** Estado HTTP de la respuesta. */
  declare readonly estadoHttp: number
  /** Código estable del problema, por ejemplo `validacion` o `guia_desconocida`. */
  declare readonly codigo: CodigoDeProblema
  /** Identificador de la solicitud (`X-Request-Id`); cítelo al escribirnos. */
  declare readonly idSolicitud: string | null
  /** Lista de lo que hay que corregir, campo por campo; vacía si el problema no está en los datos. */
  declare readonly errores: Falla[]
  declare readonly esperarSegundos: number | null
  /** Dirección de la página que explica el `codigo` y qué hacer; nula si el servicio no la dio. */
  declare readonly documentacion: string | null
  /** Cuerpo de la respuesta, el `Problema`, tal como llegó. */
  declare readonly problema: Problema
  /** Cabeceras de la respuesta. */
  declare readonly cabeceras: Headers

  constructor(
    problema: Problema,
    { estadoHttp = problema.estado_http, cabeceras = new Headers() }: OrigenDelError = {},
  ) {
    const idSolicitud = problema.id_solicitud ?? cabeceras.get('x-request-id')
    const errores = Array.isArray(problema.errores) ? problema.errores : []
    super(buildMessage(problema, estadoHttp, idSolicitud, errores))
    this.estadoHttp = estadoHttp
    this.codigo = problema.codigo
    this.idSolicitud = idSolicitud
    this.errores = errores
    this.esperarSegundos = parseRetryAfter(cabeceras)
    this.documentacion = problema.documentacion ?? null
    this.problema = problema
    this.cabeceras = cabeceras
  }

  static {
    this.prototype.name = 'ErrorApi'
  }
}

/**
 * Error 422: el servicio leyó el cuerpo, pero algún campo no es válido. `errores` trae todo lo que hay que corregir.
 */
export class ErrorValidacion extends ErrorApi {
  declare name: 'ErrorValidacion'

  static {
    this.prototype.name = 'ErrorValidacion'
  }
}

/** Error 400: un parámetro o el cursor no es válido, o el cuerpo no es JSON legible. */
export class ErrorParametro extends ErrorApi {
  declare name: 'ErrorParametro'

  static {
    this.prototype.name = 'ErrorParametro'
  }
}

/** Error 401: la llave está mal escrita, venció o fue revocada. */
export class ErrorNoAutenticado extends ErrorApi {
  declare name: 'ErrorNoAutenticado'

  static {
    this.prototype.name = 'ErrorNoAutenticado'
  }
}

/** Error 403: la llave no tiene el alcance que pide la operación. */
export class ErrorAlcance extends ErrorApi {
  declare name: 'ErrorAlcance'

  static {
    this.prototype.name = 'ErrorAlcance'
  }
}

/** Error 404: en su cuenta y en el modo de esta llave, nada tiene ese código o identificador. */
export class ErrorNoEncontrado extends ErrorApi {
  declare name: 'ErrorNoEncontrado'

  static {
    this.prototype.name = 'ErrorNoEncontrado'
  }
}

/**
 * Error 409: la solicitud choca con lo que ya existe. Por ejemplo, la referencia existe con otro contenido, el estado
 * de la guía no admite el cambio, o ya hay un webhook con esa dirección. `codigo` dice cuál es el conflicto.
 */
export class ErrorConflicto extends ErrorApi {
  declare name: 'ErrorConflicto'

  /** Código de la guía que ya tiene esa referencia. Solo viene en `external_ref_en_conflicto`; si no, es nulo. */
  declare readonly guia: CodigoDeGuia | null
  /** Estado actual de la guía. Solo viene en conflictos de estado; si no, es nulo. */
  declare readonly estado: Estado | null
  /** Estados que esa operación puede pedir ahora. Lista vacía si no hay ninguno o si el conflicto no es de estado. */
  declare readonly transiciones: Estado[]

  /** Estados en los que la guía admite la corrección. Lista vacía si el conflicto no es `no_corregible`. */
  declare readonly admitidaEn: Estado[]
  /** La decisión que vale. Solo viene en `decision_tomada`; si no, es nula. */
  declare readonly decision: Decision | null
  /** Qué se puede decidir. Lista vacía si nada o si el conflicto no es `decision_no_admitida`. */
  declare readonly opciones: AccionDeDecision[]
  /** Secuencia que tiene la guía. Solo viene en `carrera_perdida` si la solicitud envió otra; si no, es nula. */
  declare readonly secuencia: number | null

  constructor(problema: Problema, origen?: OrigenDelError) {
    super(problema, origen)
    this.guia = problema.guia ?? null
    this.estado = problema.estado ?? null
    this.transiciones = problema.transiciones ?? []
    this.admitidaEn = problema.admitida_en ?? []
    this.decision = problema.decision ?? null
    this.opciones = problema.opciones ?? []
    this.secuencia = problema.secuencia ?? null
  }

  static {
    this.prototype.name = 'ErrorConflicto'
  }
}

/** Error 413 o 415: el cuerpo es demasiado grande o de un tipo que el servicio no admite. */
export class ErrorCuerpo extends ErrorApi {
  declare name: 'ErrorCuerpo'

  static {
    this.prototype.name = 'ErrorCuerpo'
  }
}

/**
 * Error 429: demasiadas solicitudes en poco tiempo. El servicio no atendió esta solicitud, y el SDK ya esperó y la
 * repitió, salvo con `reintentos: 0`. Espere `esperarSegundos` y envíe más despacio.
 */
export class ErrorLimite extends ErrorApi {
  declare name: 'ErrorLimite'

  static {
    this.prototype.name = 'ErrorLimite'
  }
}

/** Error 5xx: un fallo del servicio. Repita más tarde; con `external_ref`, repetir una creación es seguro. */
export class ErrorServicio extends ErrorApi {
  declare name: 'ErrorServicio'

  static {
    this.prototype.name = 'ErrorServicio'
  }
}

/**
 * Error de conexión: no hubo respuesta, porque no se pudo conectar o la conexión se cortó. `pudoLlegar` dice si el
 * servicio pudo haber recibido la solicitud. En todo caso es seguro repetir una consulta, una cancelación o una
 * creación con `external_ref`.
 */
export class ErrorConexion extends ErrorGuias {
  declare name: 'ErrorConexion' | 'ErrorTiempo'

  /**
   * Falso si es seguro que el servicio no recibió la solicitud en ningún intento. Por ejemplo, ningún programa escucha
   * en la dirección, el nombre no existe o el certificado no es válido. En un navegador siempre es verdadero, porque el
   * navegador no da la causa.
   */
  declare readonly pudoLlegar: boolean

  constructor(mensaje: string, opciones?: ErrorOptions, pudoLlegar = true) {
    super(mensaje, opciones)
    this.pudoLlegar = pudoLlegar
  }

  static {
    this.prototype.name = 'ErrorConexion'
  }
}

/**
 * Error de tiempo: la respuesta entera no llegó en `tiempoLimite` milisegundos, o en `plazoTotal` con los reintentos.
 * También es un {@link ErrorConexion} y se trata igual.
 */
export class ErrorTiempo extends ErrorConexion {
  declare name: 'ErrorTiempo'

  /** Plazo que venció, en milisegundos: el `tiempoLimite` de un intento, o el `plazoTotal` de todos. */
  declare readonly tiempoLimite: number

  constructor(mensaje: string, tiempoLimite: number) {
    super(mensaje)
    this.tiempoLimite = tiempoLimite
  }

  static {
    this.prototype.name = 'ErrorTiempo'
  }
}

/**
 * Error de una solicitud que usted abortó con su `signal`; `cause` es la razón que dio. El servicio pudo haber recibido
 * la solicitud: abortar no deshace nada.
 */
export class ErrorAbortado extends ErrorGuias {
  declare name: 'ErrorAbortado'

  static {
    this.prototype.name = 'ErrorAbortado'
  }
}

/**
 * Error por una respuesta que no es de esta API: la página HTML de un proxy, una redirección, una respuesta cortada.
 */
export class ErrorRespuesta extends ErrorGuias {
  declare name: 'ErrorRespuesta'

  /** Estado HTTP de la respuesta; 0 si el navegador lo oculta. */
  declare readonly estadoHttp: number
  /** Primeros 200 caracteres de la respuesta. */
  declare readonly texto: string
  /** Identificador de la solicitud: la cabecera `X-Request-Id`; nulo si no venía. */
  declare readonly idSolicitud: string | null
  declare readonly esperarSegundos: number | null
  /** Cabeceras de la respuesta. */
  declare readonly cabeceras: Headers

  constructor(mensaje: string, respuesta: { estadoHttp: number; cabeceras: Headers; texto: string }) {
    super(mensaje)
    this.estadoHttp = respuesta.estadoHttp
    this.texto = respuesta.texto
    this.idSolicitud = respuesta.cabeceras.get('x-request-id')
    this.esperarSegundos = parseRetryAfter(respuesta.cabeceras)
    this.cabeceras = respuesta.cabeceras
  }

  static {
    this.prototype.name = 'ErrorRespuesta'
  }
}

/**
 * Motivo por el que no se aceptó un webhook:
 *
 * - `cabecera_ausente`: falta una de las tres cabeceras.
 * - `marca_de_tiempo`: la hora no es un número, o la firma es demasiado antigua, o es del futuro.
 * - `firma`: ninguna firma corresponde a este cuerpo con este secreto.
 * - `secreto`: el secreto que usted dio no es el de un webhook.
 * - `cuerpo`: el cuerpo no es el que llegó, o está bien firmado y no es un aviso.
 * - `tamano`: el cuerpo pasa del límite de quien lo abre (`@guias/sdk/webhooks`).
 */
export type MotivoDeFirma = 'cabecera_ausente' | 'marca_de_tiempo' | 'firma' | 'secreto' | 'cuerpo' | 'tamano'

/**
 * Error de `verificarWebhook`, que no aceptó la solicitud recibida. No la atienda y conteste 400. `motivo` dice por qué
 * y es estable.
 */
export class ErrorFirma extends ErrorGuias {
  declare name: 'ErrorFirma'

  /** Motivo por el que no se aceptó el webhook. */
  declare readonly motivo: MotivoDeFirma

  constructor(mensaje: string, motivo: MotivoDeFirma, opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.motivo = motivo
  }

  static {
    this.prototype.name = 'ErrorFirma'
  }
}

const CLASS_BY_STATUS: Readonly<Record<number, typeof ErrorApi>> = {
  400: ErrorParametro,
  401: ErrorNoAutenticado,
  403: ErrorAlcance,
  404: ErrorNoEncontrado,
  409: ErrorConflicto,
  413: ErrorCuerpo,
  415: ErrorCuerpo,
  422: ErrorValidacion,
  429: ErrorLimite,
}

/**
 * Creates the error of a problem. The status selects the class, never `codigo`: a newer server may send unknown codes,
 * but 409 keeps its meaning.
 */
export function createErrorApi(problema: Problema, origen: OrigenDelError = {}): ErrorApi {
  const status = origen.estadoHttp ?? problema.estado_http
  const ErrorClass = status >= 500 ? ErrorServicio : (CLASS_BY_STATUS[status] ?? ErrorApi)
  return new ErrorClass(problema, origen)
}

/**
 * Builds the message of an error: the server's text, which already says what to do, then the first faults, then codes
 * and identifiers for the log.
 */
function buildMessage(problema: Problema, status: number, idSolicitud: string | null, errores: Falla[]): string {
  const fallas = errores.slice(0, MAX_FAILURES_IN_MESSAGE)
  const omittedCount = errores.length - fallas.length + (problema.errores_omitidos ?? 0)
  return [
    `${problema.mensaje || problema.titulo || 'El servicio rechazó la solicitud'} (codigo: ${problema.codigo}, HTTP ${status}${nameRequest(idSolicitud)})`,
    ...fallas.map(({ campo, mensaje }) => `${campo}: ${mensaje}`),
    ...(omittedCount > 0 ? [`y ${omittedCount} más`] : []),
  ].join('; ')
}

/** Returns the part of a message that names the request, placed after other data. */
export const nameRequest = (id: string | null) => (id ? `, id_solicitud: ${id}` : '')

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3) in seconds; null if it is missing or invalid. A date is compared with the
 * response's own `Date`, else with the local clock.
 */
export function parseRetryAfter(cabeceras: Headers): number | null {
  const espera = cabeceras.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(espera)) return Number(espera)
  const ahora = Date.parse(cabeceras.get('date') ?? '') || Date.now()
  const segundos = Math.ceil((Date.parse(espera) - ahora) / 1000)
  // Engines parse nearly any text as a date, but an HTTP date always ends in GMT.
  return /GMT$/.test(espera) && segundos >= 0 ? segundos : null
}
