/** Limiter of concurrency: runs a function when its turn comes, and returns the function's result. */
export type Turns = <T>(task: () => Promise<T>) => Promise<T>

/** Creates a limiter that runs at most `maxConcurrent` functions at a time; the others wait in order. */
export function createTurns(maxConcurrent: number): Turns {
  const waiters: (() => void)[] = []
  let freeSlots = maxConcurrent
  return async (task) => {
    if (freeSlots > 0) freeSlots--
    else await new Promise<void>((resolve) => waiters.push(resolve))
    try {
      return await task()
    } finally {
      const nextWaiter = waiters.shift()
      if (nextWaiter) nextWaiter()
      else freeSlots++
    }
  }
}

/** Limiter of concurrency per owner, such as a merchant, a courier or a network. */
export type OwnerTurns = <T>(owner: string, task: () => Promise<T>) => Promise<T>

/**
 * Creates a limiter that runs at most `perOwner` functions of each owner at a time, and at most `overall` of all owners.
 */
export function createSharedTurns({ perOwner, overall }: { perOwner: number; overall: number }): OwnerTurns {
  const ownerTurns = createOwnerTurns(perOwner)
  const turn = createTurns(overall)
  return (owner, task) => ownerTurns(owner, () => turn(task))
}

/**
 * Creates a limiter that runs at most `maxConcurrent` functions of each owner at a time. Owners do not wait for each other.
 */
export function createOwnerTurns(maxConcurrent: number): OwnerTurns {
  const owners = new Map<string, { turno: Turns; count: number }>()
  return async (owner, task) => {
    const ownerTurns = owners.get(owner) ?? { turno: createTurns(maxConcurrent), count: 0 }
    owners.set(owner, ownerTurns)
    ownerTurns.count++
    try {
      return await ownerTurns.turno(task)
    } finally {
      ownerTurns.count--
      if (ownerTurns.count === 0) owners.delete(owner)
    }
  }
}
