/** Monotonic time and timers of a process. Tests replace them by a time that they move. */
export interface Timers {
  /** Returns the time in milliseconds since an arbitrary start. */
  now(): number
  /** Calls `act` once, after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, act: () => void): () => void
}

/** Timers of Node. */
export const processTimers: Timers = {
  now: () => performance.now(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}

/** Waits for `ms` milliseconds. */
export const sleep = (timers: Timers, ms: number): Promise<void> =>
  new Promise((resolve) => {
    timers.after(ms, resolve)
  })
