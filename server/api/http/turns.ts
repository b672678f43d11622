/** Limiter of concurrency: runs a function when its turn comes, and returns the function's result. */
export type Turnos = <T>(hacer: () => Promise<T>) => Promise<T>

/** Creates a limiter that runs at most `aLaVez` functions at a time; the others wait in order. */
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

/** Limiter of concurrency per owner, such as a merchant, a courier or a network. */
export type TurnosPorDueno = <T>(dueno: string, hacer: () => Promise<T>) => Promise<T>

/**
 * Creates a limiter that runs at most `porDueno` functions of each owner at a time, and at most `todos` of all owners.
 */
export function crearTurnosRepartidos({ porDueno, todos }: { porDueno: number; todos: number }): TurnosPorDueno {
  const suyos = crearTurnosPorDueno(porDueno)
  const turno = crearTurnos(todos)
  return (dueno, hacer) => suyos(dueno, () => turno(hacer))
}

/**
 * Creates a limiter that runs at most `aLaVez` functions of each owner at a time. Owners do not wait for each other.
 */
export function crearTurnosPorDueno(aLaVez: number): TurnosPorDueno {
  const duenos = new Map<string, { turno: Turnos; cuantos: number }>()
  return async (dueno, hacer) => {
    const suyos = duenos.get(dueno) ?? { turno: crearTurnos(aLaVez), cuantos: 0 }
    duenos.set(dueno, suyos)
    suyos.cuantos++
    try {
      return await suyos.turno(hacer)
    } finally {
      suyos.cuantos--
      if (suyos.cuantos === 0) duenos.delete(dueno)
    }
  }
}
