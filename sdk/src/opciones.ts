import { ErrorGuias, type NombreDeError } from './errores.js'

/** Lo que cada método acepta como último argumento; lo que falte se toma de las opciones de `Guias`. */
export interface OpcionesDeSolicitud {
  /** Para abortarla: `AbortSignal.timeout(…)`, o el de un `AbortController`. Da un `ErrorAbortado`. */
  signal?: AbortSignal | undefined
  /** Milisegundos que se espera cada respuesta entera, en cada intento; 30 000 si falta. `Infinity` espera siempre. */
  tiempoLimite?: number | undefined
  /** Milisegundos para todo: los intentos y lo que se espera entre ellos; en una lista, por página. Sin límite si falta. */
  plazoTotal?: number | undefined
  /** Cuántas veces más se envía si algo pasajero falla y repetir es seguro; 2 si falta, 0 para ninguna. */
  reintentos?: number | undefined
  /** Cabeceras de más. Las de este paquete (la llave, el tipo del cuerpo) no se cambian así. */
  cabeceras?: Readonly<Record<string, string>> | undefined
}

/**
 * Qué fue de un intento. Sin la llave, sin cuerpos y sin parámetros, para que pueda ir a un registro:
 *
 * - `respuesta`: llegó, y vale.
 * - `reintento`: falló, y se enviará otra vez en `esperaMs` milisegundos.
 * - `falla`: falló, y así se queda; es lo que recibe quien llamó.
 */
export interface Suceso {
  tipo: 'respuesta' | 'reintento' | 'falla'
  metodo: string
  /** Ruta sin los parámetros de después de «?». */
  ruta: string
  /** 1 la primera vez. */
  intento: number
  /** Cuánto tardó este intento, en milisegundos. */
  ms: number
  /** Estado HTTP; nulo si no hubo respuesta. */
  status: number | null
  idSolicitud: string | null
  /** El nombre del error, y el código del problema si la API lo dio. */
  error: NombreDeError | null
  codigo: string | null
  esperaMs: number | null
}

/** Recibe cada {@link Suceso}. Lo que lance se pasa por alto. */
export type Registro = (suceso: Suceso) => void

export type Ajustes = Required<Omit<OpcionesDeSolicitud, 'signal'>> & Pick<OpcionesDeSolicitud, 'signal'>

const POR_OMISION: Ajustes = { tiempoLimite: 30_000, plazoTotal: Infinity, reintentos: 2, cabeceras: {} }

/** What is given over what stands; `undefined` counts as not given. */
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
