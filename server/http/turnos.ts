import { noDisponible } from '../errores.ts'

/** Runs what is given to it when its turn comes, and gives what comes of it. */
export type Turnos = <T>(hacer: () => Promise<T>) => Promise<T>

/**
 * Makes turns of which at most `aLaVez` are under way; the others wait in order.
 * @param enEspera how many may wait: one more is refused
 * @throws Problema 503 from the turn that is refused
 */
export function crearTurnos(aLaVez: number, enEspera = Number.POSITIVE_INFINITY): Turnos {
  const esperan: (() => void)[] = []
  let libres = aLaVez
  return async (hacer) => {
    if (libres > 0) libres--
    else if (esperan.length >= enEspera)
      throw noDisponible('Hay demasiadas solicitudes como esta a la vez. Repítala en unos segundos.')
    else await new Promise<void>((resolve) => esperan.push(resolve))
    try {
      return await hacer()
    } finally {
      const siguiente = esperan.shift()
      if (siguiente) siguiente()
      else libres++
    }
  }
}
