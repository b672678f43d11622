/** Limiter of concurrency: runs a function when its turn comes, and returns the function's result. */
export type Turns = <T>(hacer: () => Promise<T>) => Promise<T>

/** Creates a limiter that runs at most `aLaVez` functions at a time; the others wait in order. */
export function createTurns(aLaVez: number): Turns {
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
export type OwnerTurns = <T>(dueno: string, hacer: () => Promise<T>) => Promise<T>

/**
 * Creates a limiter that runs at most `porDueno` functions of each owner at a time, and at most `todos` of all owners.
 */
export function createSharedTurns({ porDueno, todos }: { porDueno: number; todos: number }): OwnerTurns {
  const suyos = createOwnerTurns(porDueno)
  const turno = createTurns(todos)
  return (dueno, hacer) => suyos(dueno, () => turno(hacer))
}

/**
 * Creates a limiter that runs at most `aLaVez` functions of each owner at a time. Owners do not wait for each other.
 */
export function createOwnerTurns(aLaVez: number): OwnerTurns {
  const duenos = new Map<string, { turno: Turns; cuantos: number }>()
  return async (dueno, hacer) => {
    const suyos = duenos.get(dueno) ?? { turno: createTurns(aLaVez), cuantos: 0 }
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
