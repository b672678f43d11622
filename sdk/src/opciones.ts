import { ErrorGuias, type NombreDeError } from './errores.js'

/** Lo que cada método acepta como último argumento; lo que falte se toma de las opciones de `Guias`. */
export interface OpcionesDeSolicitud {
  /** Señal que aborta la solicitud: `AbortSignal.timeout(…)`, o la de un `AbortController`. Da un `ErrorAbortado`. */
  signal?: AbortSignal | undefined
  /** Milisegundos que se espera cada respuesta entera, en cada intento; 30 000 si falta. `Infinity` espera siempre. */
  tiempoLimite?: number | undefined
  /**
   * Milisegundos para toda la solicitud: los intentos y lo que se espera entre ellos; en una lista, por página. Sin
   * límite si falta.
   */
  plazoTotal?: number | undefined
  /** Cuántas veces más se envía la solicitud si algo pasajero falla y repetir es seguro; 2 si falta, 0 para ninguna. */
  reintentos?: number | undefined
  /** Cabeceras que se añaden a la solicitud. Las de este paquete (la llave, el tipo del cuerpo) no se cambian así. */
  cabeceras?: Readonly<Record<string, string>> | undefined
}

/**
 * Qué fue de un intento de una solicitud. Sin la llave, sin cuerpos y sin parámetros, para que pueda ir a un registro:
 *
 * - `respuesta`: llegó, y vale.
 * - `reintento`: falló, y se enviará otra vez en `esperaMs` milisegundos.
 * - `falla`: falló, y así se queda; es lo que recibe quien llamó.
 */
export interface Suceso {
  /** Si el intento dio una respuesta, si se repetirá, o si así se queda. */
  tipo: 'respuesta' | 'reintento' | 'falla'
  /** Método HTTP de la solicitud. */
  metodo: string
  /** Ruta de la solicitud, sin los parámetros de después de «?». */
  ruta: string
  /** Número de este intento, desde 1. */
  intento: number
  /** Cuánto tardó este intento, en milisegundos. */
  ms: number
  /** Estado HTTP de la respuesta; nulo si no la hubo. */
  status: number | null
  /** Identificador de la solicitud (`X-Request-Id`); nulo si no hubo respuesta que lo dijera. */
  idSolicitud: string | null
  /** El nombre del error; nulo si no lo hubo. */
  error: NombreDeError | null
  /** El código del problema, si la API lo dio. */
  codigo: string | null
  /** Cuánto se espera antes del intento siguiente, en milisegundos; nulo si no lo hay. */
  esperaMs: number | null
}

/** Función que recibe cada {@link Suceso}. Lo que lance se pasa por alto. */
export type Registro = (suceso: Suceso) => void

export type Ajustes = Required<Omit<OpcionesDeSolicitud, 'signal'>> & Pick<OpcionesDeSolicitud, 'signal'>

const POR_OMISION: Ajustes = { tiempoLimite: 30_000, plazoTotal: Infinity, reintentos: 2, cabeceras: {} }

/** Puts the options that are given over those that stand; `undefined` counts as not given. */
export function ajustar(dadas: OpcionesDeSolicitud | undefined, base: Ajustes = POR_OMISION): Ajustes {
  const {
    signal,
    tiempoLimite = base.tiempoLimite,
    plazoTotal = base.plazoTotal,
    reintentos = base.reintentos,
  } = dadas ?? {}
  for (const [nombre, valor] of Object.entries({ tiempoLimite, plazoTotal })) {
    if (typeof valor === 'number' && valor > 0) continue
    throw new ErrorGuias(`${nombre} debe ser un número de milisegundos mayor que 0, o Infinity.`)
  }
  if (!(typeof reintentos === 'number' && reintentos >= 0)) {
    throw new ErrorGuias('reintentos debe ser un número entero de 0 en adelante.')
  }
  const cabeceras = { ...base.cabeceras, ...dadas?.cabeceras }
  return { tiempoLimite, plazoTotal, reintentos, cabeceras, ...(signal ? { signal } : {}) }
}
