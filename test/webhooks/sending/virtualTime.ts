import type { Timers } from '../../../server/platform/time/timers.ts'

interface Task {
  at: number
  act: () => void
}

/** Time in milliseconds that moves only in {@link run}: from one task to the next. */
export class VirtualTime {
  now = 0
  readonly #tasks = new Set<Task>()

  /** Calls `act` after `ms`. @returns a function that cancels the call */
  after(ms: number, act: () => void): () => void {
    const task = { at: this.now + Math.max(0, ms), act }
    this.#tasks.add(task)
    return () => this.#tasks.delete(task)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve)
    })
  }

  /** Timers that a process may use. */
  get timers(): Timers {
    return { now: () => this.now, after: (ms, act) => this.after(ms, act) }
  }

  /** Runs tasks in the order of their times until `done`, or until a time. All promises settle between two tasks. */
  async run(until: number, done: () => boolean): Promise<void> {
    await settled()
    while (!done()) {
      let next: Task | undefined
      for (const task of this.#tasks) if (!next || task.at < next.at) next = task
      if (!next || next.at > until) return
      this.#tasks.delete(next)
      this.now = next.at
      next.act()
      await settled()
    }
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
