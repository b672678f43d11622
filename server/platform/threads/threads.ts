import { unavailable } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ThreadTasks } from './serve.ts'
import { DeadThread, WorkerThread } from './thread.ts'
import { WaitingList } from './waiting.ts'

interface Reglas {
  /** Module that a thread runs; the module calls `serveTasks`. */
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
  /** Thread that runs the task; undefined while the task waits. */
  hilo?: WorkerThread
}

const MUCHOS = 'Hay demasiados documentos en preparación. Repita la solicitud en unos segundos.'

/**
 * Pool of threads for work that would block the event loop. Owners take turns. However many tasks one owner has, other
 * owners wait for only one of them at a time.
 */
export class ThreadPool<T extends ThreadTasks> {
  readonly #reglas: Reglas
  readonly #log: Log
  readonly #espera: WaitingList<Pedido>
  readonly #hilos = new Set<WorkerThread>()
  #ocio: NodeJS.Timeout | undefined
  #detenido = false

  constructor(log: Log, reglas: Reglas) {
    this.#log = log
    this.#reglas = reglas
    this.#espera = new WaitingList(reglas.enEspera)
  }

  /**
   * Runs a task in a thread.
   * @param dueno owner of the task, who takes turns with other owners
   * @param senal aborts when no request waits for the result any more
   * @throws Problema 503 if the task gets no turn or its thread dies; any other error of the task itself
   */
  async run<N extends keyof T & string>(
    dueno: string,
    tarea: N,
    datos: Parameters<T[N]>[0],
    senal?: AbortSignal,
  ): Promise<Buffer> {
    if (this.#detenido || senal?.aborted) throw unavailable('El servicio ya no espera este documento.')
    const pedido: Pedido = { dueno, tarea, datos, fin: Promise.withResolvers() }
    const dejarlo = () => this.#dejar(pedido, unavailable('La solicitud se abandonó.'))
    const reloj = setTimeout(() => pedido.hilo ?? this.#dejar(pedido, unavailable(MUCHOS)), this.#reglas.paciencia)
    senal?.addEventListener('abort', dejarlo)
    this.#espera.add(dueno, pedido)?.fin.reject(unavailable(MUCHOS))
    this.#repartir()
    try {
      return await pedido.fin.promise
    } finally {
      clearTimeout(reloj)
      senal?.removeEventListener('abort', dejarlo)
    }
  }

  /** Ends all threads at once. Waiting tasks fail with a 503. */
  async stop(): Promise<void> {
    this.#detenido = true
    clearTimeout(this.#ocio)
    for (let pedido = this.#espera.next(); pedido; pedido = this.#espera.next())
      pedido.fin.reject(unavailable('El servicio se está deteniendo.'))
    await Promise.all([...this.#hilos].map((hilo) => hilo.terminate()))
  }

  #dejar(pedido: Pedido, problema: Error): void {
    this.#espera.remove(pedido.dueno, pedido)
    pedido.hilo?.cancel()
    pedido.fin.reject(problema)
  }

  #repartir(): void {
    while (!this.#detenido) {
      const libre = [...this.#hilos].find((hilo) => hilo.idle)
      if (!libre && this.#hilos.size >= this.#reglas.cuantos) return
      const pedido = this.#espera.next()
      if (!pedido) return
      void this.#hacer(libre ?? this.#nuevo(), pedido)
    }
  }

  #nuevo(): WorkerThread {
    const hilo = new WorkerThread(this.#reglas.modulo, () => this.#hilos.delete(hilo))
    this.#hilos.add(hilo)
    return hilo
  }

  async #hacer(hilo: WorkerThread, pedido: Pedido): Promise<void> {
    pedido.hilo = hilo
    const plazo = setTimeout(() => void hilo.terminate(), this.#reglas.plazo)
    try {
      pedido.fin.resolve(await hilo.run(pedido.tarea, pedido.datos))
    } catch (err) {
      if (err instanceof DeadThread && !this.#detenido) this.#log.warn({ err, tarea: pedido.tarea }, 'thread lost')
      pedido.fin.reject(err instanceof DeadThread ? unavailable('Falló al preparar el documento. Repita.', err) : err)
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
        if (!hilo.idle) continue
        this.#hilos.delete(hilo)
        void hilo.terminate()
      }
    }, this.#reglas.ocio).unref()
    this.#ocio.refresh()
  }
}
