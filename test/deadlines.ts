import { afterEach, beforeEach, vi } from 'vitest'

/** Timers of exactly so many milliseconds, which is how a deadline is known, pass when they are told to and never by themselves. */
export function useDeadlines(deadlineMs: number) {
  const pendingTimers = new Map<object, () => void>()
  beforeEach(() => {
    const { setTimeout: realSetTimeout, clearTimeout: quitar } = globalThis
    vi.stubGlobal('setTimeout', (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      if (ms !== deadlineMs) return realSetTimeout(callback, ms, ...args)
      const timer = { unref: () => timer }
      pendingTimers.set(timer, () => callback(...args))
      return timer
    })
    vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => pendingTimers.delete(timer) || quitar(timer))
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    pendingTimers.clear()
  })
  return {
    /** How many wait to pass. */
    countPending: () => pendingTimers.size,
    /** All pass that have been set by now, the oldest first. */
    expireAll() {
      for (const fire of [...pendingTimers.values()]) fire()
    },
  }
}
