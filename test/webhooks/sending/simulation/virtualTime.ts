interface ScheduledTask {
  en: number
  order: number
  perform: () => void
}

/**
 * Virtual clock in milliseconds. It runs tasks when they are due, and tasks of the same instant in the order of
 * scheduling.
 */
export class Tiempo {
  now = 0
  #nextOrder = 0
  readonly #heap: ScheduledTask[] = []

  /** Schedules a task `ms` milliseconds from now. */
  after(ms: number, action: () => void): void {
    const task = { en: this.now + ms, order: this.#nextOrder++, perform: action }
    let i = this.#heap.push(task) - 1
    for (let parent = (i - 1) >> 1; i > 0 && before(task, this.#heap[parent]!); i = parent, parent = (i - 1) >> 1) {
      this.#heap[i] = this.#heap[parent]!
      this.#heap[parent] = task
    }
  }

  /** Runs the tasks that are due up to an instant, or until no task is left. */
  run(hasta: number): void {
    for (let [first] = this.#heap; first && first.en <= hasta; [first] = this.#heap) {
      this.#removeFirst()
      this.now = first.en
      first.perform()
    }
  }

  #removeFirst(): void {
    const last = this.#heap.pop()!
    if (this.#heap.length === 0) return
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= this.#heap.length) break
      if (child + 1 < this.#heap.length && before(this.#heap[child + 1]!, this.#heap[child]!)) child++
      if (!before(this.#heap[child]!, last)) break
      this.#heap[i] = this.#heap[child]!
      i = child
    }
    this.#heap[i] = last
  }
}

const before = (a: ScheduledTask, b: ScheduledTask) => a.en < b.en || (a.en === b.en && a.order < b.order)

/** Simulated machine whose threads share its cores. */
export class Machine {
  readonly #tiempo: Tiempo
  readonly #readyThreads: SimulatedThread[] = []
  #freeCores: number

  constructor(tiempo: Tiempo, cores: number) {
    this.#tiempo = tiempo
    this.#freeCores = cores
  }

  thread(): SimulatedThread {
    return new SimulatedThread((thread) => {
      this.#readyThreads.push(thread)
      this.#deliverResults()
    })
  }

  #deliverResults(): void {
    while (this.#freeCores > 0) {
      const thread = this.#readyThreads.shift()
      if (!thread) return
      this.#freeCores--
      const { ms, result: onDone } = thread.start()
      this.#tiempo.after(ms, () => {
        this.#freeCores++
        thread.settle()
        onDone()
        this.#deliverResults()
      })
    }
  }
}

/** Simulated thread: runs its tasks one after another, each when a core is free. */
export class SimulatedThread {
  readonly #queue: { ms: number; result: () => void }[] = []
  readonly #requestCore: (thread: SimulatedThread) => void
  #isBusy = false

  constructor(requestCore: (thread: SimulatedThread) => void) {
    this.#requestCore = requestCore
  }

  get delay(): number {
    return this.#queue.length
  }

  perform(ms: number, onDone: () => void): void {
    this.#queue.push({ ms, result: onDone })
    this.#request()
  }

  start() {
    return this.#queue.shift()!
  }

  settle(): void {
    this.#isBusy = false
    this.#request()
  }

  #request(): void {
    if (this.#isBusy || this.#queue.length === 0) return
    this.#isBusy = true
    this.#requestCore(this)
  }
}
