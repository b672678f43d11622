import { ErrorGuias, type NombreDeError } from './errors.js'
import { ownSignal } from './retries.js'

/**
 * Opciones de una solicitud: el último argumento de cada método. Las que falten se toman de las opciones de `Guias`.
 */
export interface OpcionesDeSolicitud {
  /**
   * Señal que aborta la solicitud: `AbortSignal.timeout(…)`, o la de un `AbortController`. La solicitud falla entonces
   * con un `ErrorAbortado`.
   */
  signal?: AbortSignal | undefined
  /**
   * Milisegundos que se espera la respuesta entera, en cada intento; 30 000 si falta. Con `Infinity` se espera siempre.
   */
  tiempoLimite?: number | undefined
  /**
   * Milisegundos para toda la solicitud: los intentos y las esperas entre ellos. En una lista, el plazo es de cada
   * página. Si falta, no hay límite.
   */
  plazoTotal?: number | undefined
  /**
   * Número de veces más que se envía la solicitud, si falla por algo pasajero y repetirla es seguro; 2 si falta, 0 para
   * ninguna. Un 429 con `Retry-After` se espera y no cuenta, salvo con 0.
   */
  reintentos?: number | undefined
  /** Cabeceras que se añaden a la solicitud. No cambian las de este paquete (la llave, el tipo del cuerpo). */
  cabeceras?: Readonly<Record<string, string>> | undefined
}

/** Opciones de una solicitud cuya repetición el servicio reconoce por una clave. */
export interface OpcionesConClave extends OpcionesDeSolicitud {
  /**
   * Clave de la solicitud, de 1 a 255 caracteres ASCII visibles (`Idempotency-Key`): la misma solicitud con la misma clave,
   * durante 24 horas, no hace nada más y da el mismo resultado. Si falta, el paquete pone una al azar, que vale para los
   * reintentos de esta llamada. Ponga una propia si quiere repetir la llamada después, por ejemplo cuando su proceso murió
   * a mitad.
   */
  claveDeIdempotencia?: string | undefined
}

/** Datos en los que un instante se puede dar también como `Date`. */
export type ConFechas<D> = D extends object
  ? { [C in keyof D]: C extends `${string}desde` | `${string}hasta` ? D[C] | Date : D[C] }
  : D

/**
 * Resultado de un intento de una solicitud. No lleva la llave ni cuerpos ni parámetros, para que pueda ir a un
 * registro:
 *
 * - `respuesta`: la respuesta llegó y es válida.
 * - `reintento`: el intento falló, y la solicitud se enviará otra vez en `esperaMs` milisegundos.
 * - `falla`: el intento falló y no se repite; quien llamó recibe el error.
 */
export interface Suceso {
  /** Resultado del intento: una respuesta, una falla que se repetirá o una falla definitiva. */
  tipo: 'respuesta' | 'reintento' | 'falla'
  /** Método HTTP de la solicitud. */
  metodo: string
  /** Ruta de la solicitud, sin los parámetros que van después de «?». */
  ruta: string
  /** Número de este intento, desde 1. */
  intento: number
  /** Duración de este intento, en milisegundos. */
  ms: number
  /** Estado HTTP de la respuesta; nulo si no hubo respuesta. */
  estadoHttp: number | null
  /** Identificador de la solicitud (`X-Request-Id`); nulo si ninguna respuesta lo trajo. */
  idSolicitud: string | null
  /** Nombre del error; nulo si no hubo error. */
  error: NombreDeError | null
  /** Código del problema; nulo si la API no lo dio. */
  codigo: string | null
  /** Espera antes del intento siguiente, en milisegundos; nula si no hay otro intento. */
  esperaMs: number | null
}

/** Función que recibe cada {@link Suceso}. Si la función lanza un error, se pasa por alto. */
export type Registro = (suceso: Suceso) => void

/** Options in force for a request, with all values set. */
export type RequestSettings = Required<Omit<OpcionesDeSolicitud, 'signal'>> & Pick<OpcionesDeSolicitud, 'signal'>

const DEFAULT_SETTINGS: RequestSettings = { tiempoLimite: 30_000, plazoTotal: Infinity, reintentos: 2, cabeceras: {} }

/**
 * Merges the given options over `base`; `undefined` counts as not given.
 *
 * @throws ErrorGuias if a number is out of range
 */
export function resolveSettings(
  givenOptions: OpcionesDeSolicitud | undefined,
  base: RequestSettings = DEFAULT_SETTINGS,
): RequestSettings {
  const {
    signal,
    tiempoLimite = base.tiempoLimite,
    plazoTotal = base.plazoTotal,
    reintentos = base.reintentos,
  } = givenOptions ?? {}
  for (const [nombre, valor] of Object.entries({ tiempoLimite, plazoTotal })) {
    if (typeof valor === 'number' && valor > 0) continue
    throw new ErrorGuias(`${nombre} debe ser un número de milisegundos mayor que 0, o Infinity.`)
  }
  if (!(typeof reintentos === 'number' && reintentos >= 0)) {
    throw new ErrorGuias('reintentos debe ser un número entero de 0 en adelante.')
  }
  const cabeceras = { ...base.cabeceras, ...givenOptions?.cabeceras }
  return { tiempoLimite, plazoTotal, reintentos, cabeceras, signal: ownSignal(signal) }
}
