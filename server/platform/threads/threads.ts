import { noDisponible } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Tareas } from './serve.ts'
import { Hilo, HiloMuerto } from './thread.ts'
import { Espera } from './waiting.ts'

interface Reglas {
  /** Module that a thread runs; the module calls `atender`. */
  modulo: URL
  /** Maximum number of threads. A thread starts when a task needs it. */
  cuantos: number
  /** Maximum number of waiting tasks, of all owners. */
  enEspera: number
  /** Maximum time that a task waits for its turn, in milliseconds. */
  paciencia: number
  /** Maximum duration of a task, in milliseconds. A thread that takes longer is considered hung and is ended. */
  plazo: number
  /** Time for which threads without work are kept, in milliseconds. */
  ocio: number
}

interface Pedido {
  readonly dueno: string
  readonly tarea: string
  readonly datos: unknown
  readonly fin: PromiseWithResolvers<Buffer>
  /** Undefined while the task waits. */
  hilo?: Hilo
}

const MUCHOS = 'Hay demasiados documentos en preparación. Repita la solicitud en unos segundos.'

/**
 * Pool of threads for work that would block the event loop. Owners take turns: however many tasks an owner has, the
 * others wait for a single task of that owner at a time.
 */
export class Hilos<T extends Tareas> {
  readonly #reglas: Reglas
  readonly #log: Log
  readonly #espera: Espera<Pedido>
  readonly #hilos = new Set<Hilo>()
  #ocio: NodeJS.Timeout | undefined
  #detenido = false

  constructor(log: Log, reglas: Reglas) {
    this.#log = log
    this.#reglas = reglas
    this.#espera = new Espera(reglas.enEspera)
  }

  /**
   * Runs a task in a thread.
   * @param dueno owner of the task, who takes turns with other owners
   * @param senal aborts when no request waits for the result any more
   * @throws Problema 503 if the task gets no turn or its thread dies; any other error of the task itself
   */
  async hacer<N extends keyof T & string>(
    dueno: string,
    tarea: N,
    datos: Parameters<T[N]>[0],
    senal?: AbortSignal,
  ): Promise<Buffer> {
    if (this.#detenido || senal?.aborted) throw noDisponible('El servicio ya no espera este documento.')
    const pedido: Pedido = { dueno, tarea, datos, fin: Promise.withResolvers() }
    const dejarlo = () => this.#dejar(pedido, noDisponible('La solicitud se abandonó.'))
    const reloj = setTimeout(() => pedido.hilo ?? this.#dejar(pedido, noDisponible(MUCHOS)), this.#reglas.paciencia)
    senal?.addEventListener('abort', dejarlo)
    this.#espera.poner(dueno, pedido)?.fin.reject(noDisponible(MUCHOS))
    this.#repartir()
    try {
      return await pedido.fin.promise
    } finally {
      clearTimeout(reloj)
      senal?.removeEventListener('abort', dejarlo)
    }
  }

  /** Ends all threads at once. Waiting tasks fail with a 503. */
  async detener(): Promise<void> {
    this.#detenido = true
    clearTimeout(this.#ocio)
    for (let pedido = this.#espera.sacar(); pedido; pedido = this.#espera.sacar())
      pedido.fin.reject(noDisponible('El servicio se está deteniendo.'))
    await Promise.all([...this.#hilos].map((hilo) => hilo.terminar()))
  }

  #dejar(pedido: Pedido, problema: Error): void {
    this.#espera.quitar(pedido.dueno, pedido)
    pedido.hilo?.dejarlo()
    pedido.fin.reject(problema)
  }

  #repartir(): void {
    while (!this.#detenido) {
      const libre = [...this.#hilos].find((hilo) => hilo.libre)
      if (!libre && this.#hilos.size >= this.#reglas.cuantos) return
      const pedido = this.#espera.sacar()
      if (!pedido) return
      void this.#hacer(libre ?? this.#nuevo(), pedido)
    }
  }

  #nuevo(): Hilo {
    const hilo = new Hilo(this.#reglas.modulo, () => this.#hilos.delete(hilo))
    this.#hilos.add(hilo)
    return hilo
  }

  async #hacer(hilo: Hilo, pedido: Pedido): Promise<void> {
    pedido.hilo = hilo
    const plazo = setTimeout(() => void hilo.terminar(), this.#reglas.plazo)
    try {
      pedido.fin.resolve(await hilo.hacer(pedido.tarea, pedido.datos))
    } catch (err) {
      if (err instanceof HiloMuerto && !this.#detenido) this.#log.warn({ err, tarea: pedido.tarea }, 'thread lost')
      pedido.fin.reject(err instanceof HiloMuerto ? noDisponible('Falló al preparar el documento. Repita.', err) : err)
    } finally {
      clearTimeout(plazo)
      this.#descansar()
      this.#repartir()
    }
  }

  /** Ends threads that had no work for a while, which frees their memory. */
  #descansar(): void {
    this.#ocio ??= setTimeout(() => {
      this.#ocio = undefined
      for (const hilo of this.#hilos) {
        if (!hilo.libre) continue
        this.#hilos.delete(hilo)
        void hilo.terminar()
      }
    }, this.#reglas.ocio).unref()
    this.#ocio.refresh()
  }
}
