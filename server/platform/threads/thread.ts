import { Worker } from 'node:worker_threads'
import type { TaskResult, ThreadOrder } from './serve.ts'

/** Error of a task whose thread died or was ended; the task itself may be valid. */
export class DeadThread extends Error {
  override readonly name = 'DeadThread'
}

/**
 * Limit of a thread's heap, in megabytes. It is three times the need of any document, and too low to bring the process
 * down. With half of it, V8 collected garbage all the time, at four times the CPU. V8 also counts the young generation,
 * whose size is always the process's (`--max-semi-space-size`).
 */
const MEMORIA = { maxOldGenerationSizeMb: 256 }

/** Thread as its pool sees it, with one task or none. */
export class WorkerThread {
  readonly #worker: Worker
  #tarea: PromiseWithResolvers<Buffer> | undefined

  /** @param alMorir called once when the thread has ended, for any reason */
  constructor(modulo: URL, alMorir: () => void) {
    // A thread needs neither the environment nor the flags of the process.
    this.#worker = new Worker(modulo, { env: {}, execArgv: [], resourceLimits: MEMORIA })
    this.#worker.unref()
    this.#worker.on('message', (hecho: TaskResult) => {
      const tarea = this.#tarea
      this.#tarea = undefined
      if ('error' in hecho) tarea?.reject(hecho.error)
      else tarea?.resolve(Buffer.from(hecho.bytes.buffer, hecho.bytes.byteOffset, hecho.bytes.byteLength))
    })
    let causa: unknown
    this.#worker.on('error', (error) => {
      causa = error
    })
    this.#worker.on('exit', () => {
      alMorir()
      this.#tarea?.reject(new DeadThread('the thread ended before its task', { cause: causa }))
    })
  }

  get idle(): boolean {
    return this.#tarea === undefined
  }

  /**
   * Runs a task in the thread.
   * @throws DeadThread if the thread ends, and any error of the task
   */
  async run(tarea: string, datos: unknown): Promise<Buffer> {
    this.#enviar({ tarea, datos })
    this.#tarea = Promise.withResolvers()
    return this.#tarea.promise
  }

  /** Asks the thread to abort its current task, because no request needs the result any more. */
  cancel(): void {
    this.#enviar('dejarlo')
  }

  /** Ends the thread at once, even during a task. */
  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  #enviar(encargo: ThreadOrder): void {
    this.#worker.postMessage(encargo)
  }
}
