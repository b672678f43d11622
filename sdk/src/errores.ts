import type { CodigoDeGuia, CodigoDeProblema, Estado, Falla, Problema } from './generado/types.gen.js'

/** El `name` de cada error; sirve cuando `instanceof` no (dos copias del paquete en un mismo programa). */
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
 * Base de todos los errores de este paquete. Sin más clase, es un uso que no llegó a enviarse: falta la llave,
 * `baseUrl` no vale, falta el código de la guía…
 */
export class ErrorGuias extends Error {
  // Literal types tell the classes apart: of two of one structure, the `else` of an `instanceof` would be `never`.
  // Values are set on the prototypes and literal: minifiers rename classes, and an own property clutters every log.
  declare name: NombreDeError

  /** Cuántas veces se envió la solicitud, contando los reintentos; 0 si no llegó a enviarse. */
  declare intentos: number

  /**
   * Segundos que la respuesta pide esperar antes de repetir (`Retry-After`), también la de un proxy; nulo si no lo dijo, o
   * no la hubo.
   */
  declare readonly esperarSegundos: number | null

  static {
    Object.assign(ErrorGuias.prototype, { name: 'ErrorGuias', intentos: 0, esperarSegundos: null })
  }
}

/** De dónde salió un {@link ErrorApi}. */
export interface OrigenDelError {
  /** Estado HTTP de la respuesta; si falta, el que dice el problema. */
  status?: number
  /** Cabeceras de la respuesta. */
  cabeceras?: Headers
}

const FALLAS_EN_EL_MENSAJE = 10

/**
 * La API rechazó la solicitud. Mire `codigo`, que es estable; puede haber códigos nuevos que esta versión no conoce.
 * Cite `idSolicitud` al escribirnos.
 */
export class ErrorApi extends ErrorGuias {
  /** Estado HTTP de la respuesta. */
  readonly status: number
  /** Código estable del problema, por ejemplo `validacion` o `guia_desconocida`. */
  readonly codigo: CodigoDeProblema
  /** Identificador de la solicitud (`X-Request-Id`); cítelo al escribirnos. */
  readonly idSolicitud: string | null
  /** Todo lo que hay que corregir, campo por campo; vacío si el problema no es de los datos. */
  readonly errores: Falla[]
  override readonly esperarSegundos: number | null
  /** Dónde se explica el `codigo` y qué hacer; nulo si el servicio no lo dijo. */
  readonly documentacion: string | null
  /** El cuerpo de la respuesta, el `Problema`, tal como llegó. */
  readonly problema: Problema
  /** Cabeceras de la respuesta. */
  readonly cabeceras: Headers

  constructor(problema: Problema, { status = problema.estado_http, cabeceras = new Headers() }: OrigenDelError = {}) {
    const idSolicitud = problema.id_solicitud ?? cabeceras.get('x-request-id')
    const errores = Array.isArray(problema.errores) ? problema.errores : []
    super(redactar(problema, status, idSolicitud, errores))
    this.status = status
    this.codigo = problema.codigo
    this.idSolicitud = idSolicitud
    this.errores = errores
    this.esperarSegundos = leerEspera(cabeceras)
    this.documentacion = problema.documentacion ?? null
    this.problema = problema
    this.cabeceras = cabeceras
  }

  static {
    ErrorApi.prototype.name = 'ErrorApi'
  }
}

/** 422: el cuerpo se leyó, pero algún campo no vale. `errores` trae todo lo que hay que corregir. */
export class ErrorValidacion extends ErrorApi {
  declare name: 'ErrorValidacion'

  static {
    ErrorValidacion.prototype.name = 'ErrorValidacion'
  }
}

/** 400: un parámetro o el cursor no vale, o el cuerpo no es JSON legible. */
export class ErrorParametro extends ErrorApi {
  declare name: 'ErrorParametro'

  static {
    ErrorParametro.prototype.name = 'ErrorParametro'
  }
}

/** 401: la llave está mal escrita, venció o fue revocada. */
export class ErrorNoAutenticado extends ErrorApi {
  declare name: 'ErrorNoAutenticado'

  static {
    ErrorNoAutenticado.prototype.name = 'ErrorNoAutenticado'
  }
}

/** 403: la llave no tiene el alcance que pide la operación. */
export class ErrorAlcance extends ErrorApi {
  declare name: 'ErrorAlcance'

  static {
    ErrorAlcance.prototype.name = 'ErrorAlcance'
  }
}

/** 404: nada suyo, del modo de esta llave, tiene ese código o identificador. */
export class ErrorNoEncontrado extends ErrorApi {
  declare name: 'ErrorNoEncontrado'

  static {
    ErrorNoEncontrado.prototype.name = 'ErrorNoEncontrado'
  }
}

/**
 * 409: lo que pide choca con lo que hay: la referencia ya existe con otro contenido, el estado de la guía no admite el
 * cambio, ya tiene un webhook con esa dirección… `codigo` dice cuál.
 */
export class ErrorConflicto extends ErrorApi {
  declare name: 'ErrorConflicto'

  /** La guía que ya tiene esa referencia; solo en `external_ref_en_conflicto`. */
  readonly guia: CodigoDeGuia | null
  /** El estado presente de la guía; solo en conflictos de estado. */
  readonly estado: Estado | null
  /** Los estados que esa operación puede pedir ahora; vacío si ninguno, o si el conflicto no es de estado. */
  readonly transiciones: Estado[]

  constructor(problema: Problema, origen?: OrigenDelError) {
    super(problema, origen)
    this.guia = problema.guia ?? null
    this.estado = problema.estado ?? null
    this.transiciones = problema.transiciones ?? []
  }

  static {
    ErrorConflicto.prototype.name = 'ErrorConflicto'
  }
}

/** 413 o 415: el cuerpo es demasiado grande o de un tipo que no se admite. */
export class ErrorCuerpo extends ErrorApi {
  declare name: 'ErrorCuerpo'

  static {
    ErrorCuerpo.prototype.name = 'ErrorCuerpo'
  }
}

/**
 * 429: demasiadas solicitudes en poco tiempo; esta no se atendió. El SDK ya esperó y repitió; si aun así llegó hasta
 * usted, espere `esperarSegundos` y envíe más despacio.
 */
export class ErrorLimite extends ErrorApi {
  declare name: 'ErrorLimite'

  static {
    ErrorLimite.prototype.name = 'ErrorLimite'
  }
}

/** 5xx: un fallo del servicio. Repita más tarde; con `external_ref`, repetir una creación es seguro. */
export class ErrorServicio extends ErrorApi {
  declare name: 'ErrorServicio'

  static {
    ErrorServicio.prototype.name = 'ErrorServicio'
  }
}

/**
 * No hubo respuesta: no se pudo conectar, o la conexión se cortó. `pudoLlegar` dice si el servicio pudo haber recibido la
 * solicitud; repetir una consulta, una cancelación o una creación con `external_ref` es seguro de todos modos.
 */
export class ErrorConexion extends ErrorGuias {
  declare name: 'ErrorConexion' | 'ErrorTiempo'

  /**
   * Falso si es seguro que el servicio no recibió la solicitud en ningún intento: nadie escucha, el nombre no existe, el
   * certificado no vale… Un navegador no lo dice, y ahí es siempre verdadero.
   */
  readonly pudoLlegar: boolean

  constructor(mensaje: string, opciones?: ErrorOptions, pudoLlegar = true) {
    super(mensaje, opciones)
    this.pudoLlegar = pudoLlegar
  }

  static {
    ErrorConexion.prototype.name = 'ErrorConexion'
  }
}

/**
 * La respuesta entera no llegó en `tiempoLimite` milisegundos, o en `plazoTotal` con los reintentos. Es un
 * {@link ErrorConexion}: vale lo mismo.
 */
export class ErrorTiempo extends ErrorConexion {
  declare name: 'ErrorTiempo'

  /** El plazo que venció, en milisegundos: el `tiempoLimite` de un intento, o el `plazoTotal` de todos. */
  readonly tiempoLimite: number

  constructor(mensaje: string, tiempoLimite: number) {
    super(mensaje)
    this.tiempoLimite = tiempoLimite
  }

  static {
    ErrorTiempo.prototype.name = 'ErrorTiempo'
  }
}

/**
 * Usted abortó la solicitud con su `signal`; `cause` es la razón que dio. El servicio pudo haberla recibido: abortar no
 * deshace nada.
 */
export class ErrorAbortado extends ErrorGuias {
  declare name: 'ErrorAbortado'

  static {
    ErrorAbortado.prototype.name = 'ErrorAbortado'
  }
}

/** Llegó algo que no es de esta API: la página HTML de un proxy, una redirección, una respuesta cortada. */
export class ErrorRespuesta extends ErrorGuias {
  declare name: 'ErrorRespuesta'

  /** Estado HTTP de lo que llegó (0 si el navegador lo oculta). */
  readonly status: number
  /** Los primeros 200 caracteres de lo que llegó. */
  readonly texto: string
  /** Identificador de la solicitud: la cabecera `X-Request-Id`, si venía. */
  readonly idSolicitud: string | null
  override readonly esperarSegundos: number | null
  /** Cabeceras de la respuesta. */
  readonly cabeceras: Headers

  constructor(mensaje: string, respuesta: { status: number; cabeceras: Headers; texto: string }) {
    super(mensaje)
    this.status = respuesta.status
    this.texto = respuesta.texto.slice(0, 200)
    this.idSolicitud = respuesta.cabeceras.get('x-request-id')
    this.esperarSegundos = leerEspera(respuesta.cabeceras)
    this.cabeceras = respuesta.cabeceras
  }

  static {
    ErrorRespuesta.prototype.name = 'ErrorRespuesta'
  }
}

/**
 * Por qué no se aceptó un webhook:
 *
 * - `cabecera_ausente`: falta una de las tres cabeceras.
 * - `marca_de_tiempo`: no es un número, o se firmó hace demasiado, o en el futuro.
 * - `firma`: ninguna firma corresponde a este cuerpo con este secreto.
 * - `secreto`: el secreto que usted dio no es uno.
 * - `cuerpo`: no es el cuerpo tal como llegó, o está bien firmado y no es un aviso.
 */
export type MotivoDeFirma = 'cabecera_ausente' | 'marca_de_tiempo' | 'firma' | 'secreto' | 'cuerpo'

/** `verificarWebhook` no aceptó lo que llegó: no lo atienda, conteste 400. `motivo` dice por qué, y es estable. */
export class ErrorFirma extends ErrorGuias {
  declare name: 'ErrorFirma'

  /** Por qué no se aceptó el webhook. */
  readonly motivo: MotivoDeFirma

  constructor(mensaje: string, motivo: MotivoDeFirma, opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.motivo = motivo
  }

  static {
    ErrorFirma.prototype.name = 'ErrorFirma'
  }
}

/**
 * Qué falló al verificar una prueba de entrega:
 *
 * - `manifiesto_ilegible`: no es un JWS compacto.
 * - `algoritmo`: su cabecera pide otro algoritmo u otro tipo: no es una prueba nuestra.
 * - `claves`: las claves que usted dio no sirven.
 * - `clave_desconocida`: la que firmó no está entre ellas.
 * - `firma`: la firma no corresponde; el manifiesto se alteró.
 * - `contenido`: está bien firmado, pero no es un manifiesto que esta versión entienda.
 * - `guia`: es auténtico, pero de otra guía.
 * - `archivo`: un archivo no es ninguno de los del manifiesto.
 * - `entorno`: aquí no hay WebCrypto con Ed25519.
 */
export type CodigoDeErrorDePrueba =
  | 'manifiesto_ilegible'
  | 'algoritmo'
  | 'claves'
  | 'clave_desconocida'
  | 'firma'
  | 'contenido'
  | 'guia'
  | 'archivo'
  | 'entorno'

/** `verificarPrueba` no dio la prueba por buena. `codigo` dice por qué, y es estable. */
export class ErrorPrueba extends ErrorGuias {
  declare name: 'ErrorPrueba'

  /** Qué falló al verificar la prueba de entrega. */
  readonly codigo: CodigoDeErrorDePrueba

  constructor(mensaje: string, codigo: CodigoDeErrorDePrueba, opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.codigo = codigo
  }

  static {
    ErrorPrueba.prototype.name = 'ErrorPrueba'
  }
}

const CLASES = new Map<number, typeof ErrorApi>([
  [400, ErrorParametro],
  [401, ErrorNoAutenticado],
  [403, ErrorAlcance],
  [404, ErrorNoEncontrado],
  [409, ErrorConflicto],
  [413, ErrorCuerpo],
  [415, ErrorCuerpo],
  [422, ErrorValidacion],
  [429, ErrorLimite],
])

/**
 * The error of a problem. Its class follows the status, never the `codigo`: a newer server may know more codes, but not
 * other meanings of 409.
 */
export function crearErrorApi(problema: Problema, origen: OrigenDelError = {}): ErrorApi {
  const status = origen.status ?? problema.estado_http
  const Clase = status >= 500 ? ErrorServicio : (CLASES.get(status) ?? ErrorApi)
  return new Clase(problema, origen)
}

/**
 * The message of an error: the server's own, which already says what to do, then codes and ids for whoever reads the
 * log.
 */
function redactar(problema: Problema, status: number, idSolicitud: string | null, errores: Falla[]): string {
  const que = problema.mensaje || problema.titulo || 'El servicio rechazó la solicitud'
  const datos = [
    `codigo: ${problema.codigo}`,
    `HTTP ${status}`,
    ...(idSolicitud ? [`id_solicitud: ${idSolicitud}`] : []),
  ]
  const lineas = errores.slice(0, FALLAS_EN_EL_MENSAJE).map(({ campo, mensaje }) => `  ${campo}: ${mensaje}`)
  const demas = errores.length - lineas.length + (problema.errores_omitidos ?? 0)
  if (demas > 0) lineas.push(`  … y ${demas} más`)
  return [`${que} (${datos.join(', ')})`, ...lineas].join('\n')
}

/** `Retry-After` (RFC 9110, 10.2.3): seconds, or a date, which is taken by the clock of whoever wrote it. */
export function leerEspera(cabeceras: Headers): number | null {
  const espera = cabeceras.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(espera)) return Number(espera)
  const ahora = Date.parse(cabeceras.get('date') ?? '') || Date.now()
  const segundos = Math.ceil((Date.parse(espera) - ahora) / 1000)
  // Engines read nearly anything as a date; of HTTP's it is known by its GMT.
  return /GMT$/.test(espera) && segundos >= 0 ? segundos : null
}
