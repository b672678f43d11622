import { unavailable } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ThreadTasks } from './serve.ts'
import { DeadThread, WorkerThread } from './thread.ts'
import { WaitingList } from './waiting.ts'

interface PoolRules {
  /** Module that a thread runs; the module calls `serveTasks`. */
  moduleUrl: URL
  /** Maximum number of threads. A thread starts when a task needs it. */
  count: number
  /** Maximum number of waiting tasks, of all owners. */
  waiting: number
  /** Maximum time that a task waits for its turn, in milliseconds. */
  patience: number
  /** Maximum duration of a task, in milliseconds. A thread that takes longer is considered hung and is ended. */
  timeout: number
  /** Time for which threads without work are kept, in milliseconds. */
  idleMs: number
}

interface TaskRequest {
  readonly dueno: string
  readonly task: string
  readonly datos: unknown
  readonly end: PromiseWithResolvers<Buffer>
  /** Thread that runs the task; undefined while the task waits. */
  thread?: WorkerThread
}

const TOO_MANY = 'Hay demasiados documentos en preparación. Repita la solicitud en unos segundos.'

/**
 * Pool of threads for work that would block the event loop. Owners take turns. However many tasks one owner has, other
 * owners wait for only one of them at a time.
 */
export class ThreadPool<T extends ThreadTasks> {
  readonly #rules: PoolRules
  readonly #log: Log
  readonly #waiting: WaitingList<TaskRequest>
  readonly #threads = new Set<WorkerThread>()
  #idleTimer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(log: Log, rules: PoolRules) {
    this.#log = log
    this.#rules = rules
    this.#waiting = new WaitingList(rules.waiting)
  }

  /**
   * Runs a task in a thread.
   * @param dueno owner of the task, who takes turns with other owners
   * @param signal aborts when no request waits for the result any more
   * @throws Problema 503 if the task gets no turn or its thread dies; any other error of the task itself
   */
  async run<N extends keyof T & string>(
    dueno: string,
    task: N,
    datos: Parameters<T[N]>[0],
    signal?: AbortSignal,
  ): Promise<Buffer> {
    if (this.#stopped || signal?.aborted) throw unavailable('El servicio ya no espera este documento.')
    const taskRequest: TaskRequest = { dueno, task, datos, end: Promise.withResolvers() }
    const abandon = () => this.#drop(taskRequest, unavailable('La solicitud se abandonó.'))
    const timer = setTimeout(
      () => taskRequest.thread ?? this.#drop(taskRequest, unavailable(TOO_MANY)),
      this.#rules.patience,
    )
    signal?.addEventListener('abort', abandon)
    this.#waiting.add(dueno, taskRequest)?.end.reject(unavailable(TOO_MANY))
    this.#assign()
    try {
      return await taskRequest.end.promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abandon)
    }
  }

  /** Ends all threads at once. Waiting tasks fail with a 503. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#idleTimer)
    for (let taskRequest = this.#waiting.next(); taskRequest; taskRequest = this.#waiting.next())
      taskRequest.end.reject(unavailable('El servicio se está deteniendo.'))
    await Promise.all([...this.#threads].map((thread) => thread.terminate()))
  }

  #drop(taskRequest: TaskRequest, problema: Error): void {
    this.#waiting.remove(taskRequest.dueno, taskRequest)
    taskRequest.thread?.cancel()
    taskRequest.end.reject(problema)
  }

  #assign(): void {
    while (!this.#stopped) {
      const idleThread = [...this.#threads].find((thread) => thread.idle)
      if (!idleThread && this.#threads.size >= this.#rules.count) return
      const taskRequest = this.#waiting.next()
      if (!taskRequest) return
      void this.#runTask(idleThread ?? this.#addThread(), taskRequest)
    }
  }

  #addThread(): WorkerThread {
    const thread = new WorkerThread(this.#rules.moduleUrl, () => this.#threads.delete(thread))
    this.#threads.add(thread)
    return thread
  }

  async #runTask(thread: WorkerThread, taskRequest: TaskRequest): Promise<void> {
    taskRequest.thread = thread
    const timeout = setTimeout(() => void thread.terminate(), this.#rules.timeout)
    try {
      taskRequest.end.resolve(await thread.run(taskRequest.task, taskRequest.datos))
    } catch (err) {
      if (err instanceof DeadThread && !this.#stopped) this.#log.warn({ err, task: taskRequest.task }, 'thread lost')
      taskRequest.end.reject(
        err instanceof DeadThread ? unavailable('Falló al preparar el documento. Repita.', err) : err,
      )
    } finally {
      clearTimeout(timeout)
      this.#rest()
      this.#assign()
    }
  }

  /** Ends threads that had no work for a while, which frees their memory. */
  #rest(): void {
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = undefined
      for (const thread of this.#threads) {
        if (!thread.idle) continue
        this.#threads.delete(thread)
        void thread.terminate()
      }
    }, this.#rules.idleMs).unref()
    this.#idleTimer.refresh()
  }
}
