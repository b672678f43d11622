import { afterEach, beforeEach, vi } from 'vitest'

/** Timers of exactly so many milliseconds, which is how a deadline is known, pass when they are told to and never by themselves. */
export function useDeadlines(deadlineMs: number) {
  const puestos = new Map<object, () => void>()
  beforeEach(() => {
    const { setTimeout: realSetTimeout, clearTimeout: quitar } = globalThis
    vi.stubGlobal('setTimeout', (hacer: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      if (ms !== deadlineMs) return realSetTimeout(hacer, ms, ...args)
      const reloj = { unref: () => reloj }
      puestos.set(reloj, () => hacer(...args))
      return reloj
    })
    vi.stubGlobal('clearTimeout', (reloj: NodeJS.Timeout) => puestos.delete(reloj) || quitar(reloj))
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    puestos.clear()
  })
  return {
    /** How many wait to pass. */
    puestos: () => puestos.size,
    /** All pass that have been set by now, the oldest first. */
    vencer() {
      for (const pasar of [...puestos.values()]) pasar()
    },
  }
}
