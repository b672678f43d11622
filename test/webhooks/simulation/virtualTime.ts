interface Cita {
  en: number
  order: number
  perform: () => void
}

/**
 * Virtual clock in milliseconds. It runs tasks when they are due, and tasks of the same instant in the order of
 * scheduling.
 */
export class Tiempo {
  ahora = 0
  #nextOrder = 0
  readonly #monton: Cita[] = []

  /** Schedules a task `ms` milliseconds from now. */
  after(ms: number, hacer: () => void): void {
    const cita = { en: this.ahora + ms, order: this.#nextOrder++, perform: hacer }
    let i = this.#monton.push(cita) - 1
    for (let parent = (i - 1) >> 1; i > 0 && antes(cita, this.#monton[parent]!); i = parent, parent = (i - 1) >> 1) {
      this.#monton[i] = this.#monton[parent]!
      this.#monton[parent] = cita
    }
  }

  /** Runs the tasks that are due up to an instant, or until no task is left. */
  correr(hasta: number): void {
    for (let [primera] = this.#monton; primera && primera.en <= hasta; [primera] = this.#monton) {
      this.#sacar()
      this.ahora = primera.en
      primera.perform()
    }
  }

  #sacar(): void {
    const ultima = this.#monton.pop()!
    if (this.#monton.length === 0) return
    let i = 0
    for (;;) {
      let hijo = 2 * i + 1
      if (hijo >= this.#monton.length) break
      if (hijo + 1 < this.#monton.length && antes(this.#monton[hijo + 1]!, this.#monton[hijo]!)) hijo++
      if (!antes(this.#monton[hijo]!, ultima)) break
      this.#monton[i] = this.#monton[hijo]!
      i = hijo
    }
    this.#monton[i] = ultima
  }
}

const antes = (a: Cita, b: Cita) => a.en < b.en || (a.en === b.en && a.order < b.order)

/** Simulated machine whose threads share its cores. */
export class Maquina {
  readonly #tiempo: Tiempo
  readonly #listos: SimulatedThread[] = []
  #libres: number

  constructor(tiempo: Tiempo, nucleos: number) {
    this.#tiempo = tiempo
    this.#libres = nucleos
  }

  thread(): SimulatedThread {
    return new SimulatedThread((hilo) => {
      this.#listos.push(hilo)
      this.#deliverResults()
    })
  }

  #deliverResults(): void {
    while (this.#libres > 0) {
      const hilo = this.#listos.shift()
      if (!hilo) return
      this.#libres--
      const { ms, result: onDone } = hilo.start()
      this.#tiempo.after(ms, () => {
        this.#libres++
        hilo.settle()
        onDone()
        this.#deliverResults()
      })
    }
  }
}

/** Simulated thread: runs its tasks one after another, each when a core is free. */
export class SimulatedThread {
  readonly #cola: { ms: number; result: () => void }[] = []
  readonly #pedirNucleo: (hilo: SimulatedThread) => void
  #ocupado = false

  constructor(pedirNucleo: (hilo: SimulatedThread) => void) {
    this.#pedirNucleo = pedirNucleo
  }

  get delay(): number {
    return this.#cola.length
  }

  perform(ms: number, onDone: () => void): void {
    this.#cola.push({ ms, result: onDone })
    this.#request()
  }

  start() {
    return this.#cola.shift()!
  }

  settle(): void {
    this.#ocupado = false
    this.#request()
  }

  #request(): void {
    if (this.#ocupado || this.#cola.length === 0) return
    this.#ocupado = true
    this.#pedirNucleo(this)
  }
}
