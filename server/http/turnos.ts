/** Runs what is given to it when its turn comes, and gives what comes of it. */
export type Turnos = <T>(hacer: () => Promise<T>) => Promise<T>

/** Makes turns of which at most `aLaVez` are under way; the others wait in order. */
export function crearTurnos(aLaVez: number): Turnos {
  const esperan: (() => void)[] = []
  let libres = aLaVez
  return async (hacer) => {
    if (libres > 0) libres--
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
