interface Cita {
  en: number
  orden: number
  hacer: () => void
}

/**
 * Virtual clock in milliseconds. It runs tasks when they are due, and tasks of the same instant in the order of
 * scheduling.
 */
export class Tiempo {
  ahora = 0
  #orden = 0
  readonly #monton: Cita[] = []

  /** Schedules a task `ms` milliseconds from now. */
  tras(ms: number, hacer: () => void): void {
    const cita = { en: this.ahora + ms, orden: this.#orden++, hacer }
    let i = this.#monton.push(cita) - 1
    for (let padre = (i - 1) >> 1; i > 0 && antes(cita, this.#monton[padre]!); i = padre, padre = (i - 1) >> 1) {
      this.#monton[i] = this.#monton[padre]!
      this.#monton[padre] = cita
    }
  }

  /** Runs the tasks that are due up to an instant, or until no task is left. */
  correr(hasta: number): void {
    for (let [primera] = this.#monton; primera && primera.en <= hasta; [primera] = this.#monton) {
      this.#sacar()
      this.ahora = primera.en
      primera.hacer()
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

const antes = (a: Cita, b: Cita) => a.en < b.en || (a.en === b.en && a.orden < b.orden)

/** Simulated machine whose threads share its cores. */
export class Maquina {
  readonly #tiempo: Tiempo
  readonly #listos: Hilo[] = []
  #libres: number

  constructor(tiempo: Tiempo, nucleos: number) {
    this.#tiempo = tiempo
    this.#libres = nucleos
  }

  hilo(): Hilo {
    return new Hilo((hilo) => {
      this.#listos.push(hilo)
      this.#repartir()
    })
  }

  #repartir(): void {
    while (this.#libres > 0) {
      const hilo = this.#listos.shift()
      if (!hilo) return
      this.#libres--
      const { ms, hecho } = hilo.empezar()
      this.#tiempo.tras(ms, () => {
        this.#libres++
        hilo.acabar()
        hecho()
        this.#repartir()
      })
    }
  }
}

/** Simulated thread: runs its tasks one after another, each when a core is free. */
export class Hilo {
  readonly #cola: { ms: number; hecho: () => void }[] = []
  readonly #pedirNucleo: (hilo: Hilo) => void
  #ocupado = false

  constructor(pedirNucleo: (hilo: Hilo) => void) {
    this.#pedirNucleo = pedirNucleo
  }

  get espera(): number {
    return this.#cola.length
  }

  hacer(ms: number, hecho: () => void): void {
    this.#cola.push({ ms, hecho })
    this.#pedir()
  }

  empezar() {
    return this.#cola.shift()!
  }

  acabar(): void {
    this.#ocupado = false
    this.#pedir()
  }

  #pedir(): void {
    if (this.#ocupado || this.#cola.length === 0) return
    this.#ocupado = true
    this.#pedirNucleo(this)
  }
}
