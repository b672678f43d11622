import { noDisponible } from '../errores.ts'

/** Lets what is given to it run when its turn comes. */
export type Turnos = <T>(hacer: () => Promise<T>) => Promise<T>

/** At most so many at once; the others wait in order, and where `enEspera` of them wait already, more are told to come back. */
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
