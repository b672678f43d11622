import { isLandlineOf, parseTelephone } from './generated/interpret.js'
import type { PaisConPlan } from './generated/plans.js'

export type { PaisConPlan } from './generated/plans.js'

/** Teléfono que se pudo leer. */
export interface TelefonoLeido {
  /** Número en E.164, como lo guarda y lo devuelve el servicio. */
  e164: string
  /** País del número. Nulo si el servicio no atiende ese país; entonces solo se miró la forma del número. */
  pais: PaisConPlan | null
  /**
   * Verdadero si el número es posible pero no figura en el plan de numeración de su país. La guía llevaría la
   * advertencia `telefono_dudoso`.
   */
  dudoso: boolean
  /** Verdadero si es un teléfono fijo, que no recibe el mensaje con que se pide la ubicación. */
  fijo: boolean
}

/** Texto que no es un teléfono; `error` dice por qué y qué hacer. */
export interface TelefonoIlegible {
  error: string
}

/**
 * Lee un teléfono tal como se escribe, con el mismo resultado que el servicio y sin llamarlo. Sin `pais`, o con un país
 * que el servicio no atiende, el texto necesita `+` y el código de país.
 *
 * ```ts
 * import { leerTelefono } from '@guias/sdk/telefono'
 *
 * const leido = leerTelefono('3148 1676', 'GT')
 * if ('error' in leido) mostrar(leido.error)
 * else guardar(leido.e164) // +50231481676
 * ```
 */
export function leerTelefono(texto: string, pais?: string | undefined): TelefonoLeido | TelefonoIlegible {
  const lectura = parseTelephone(texto, pais)
  if ('error' in lectura) return lectura
  if ('e164' in lectura) return { ...lectura, fijo: isLandlineOf(lectura.e164) }
  if (/^\+[1-9]\d{6,14}$/.test(lectura.foreign))
    return { e164: lectura.foreign, pais: null, dudoso: false, fijo: false }
  return { error: 'no tiene la forma de un número: + y de 7 a 15 dígitos, por ejemplo +50255551234' }
}
