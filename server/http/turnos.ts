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

/** The same, for an owner. */
export type TurnosPorDueno = <T>(dueno: string, hacer: () => Promise<T>) => Promise<T>

/** Makes turns of which each owner has at most so many under way, and all owners together. */
export function crearTurnosRepartidos({ porDueno, todos }: { porDueno: number; todos: number }): TurnosPorDueno {
  const suyos = crearTurnosPorDueno(porDueno)
  const turno = crearTurnos(todos)
  return (dueno, hacer) => suyos(dueno, () => turno(hacer))
}

/** Makes turns that each owner has for himself: at most so many of his are under way, whatever the others do. */
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
