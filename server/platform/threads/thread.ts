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
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 256 }

/** Thread as its pool sees it, with one task or none. */
export class WorkerThread {
  readonly #worker: Worker
  #task: PromiseWithResolvers<Buffer> | undefined

  /** @param onDeath called once when the thread has ended, for any reason */
  constructor(moduleUrl: URL, onDeath: () => void) {
    // A thread needs neither the environment nor the flags of the process.
    this.#worker = new Worker(moduleUrl, { env: {}, execArgv: [], resourceLimits: MEMORY_LIMITS })
    this.#worker.unref()
    this.#worker.on('message', (taskResult: TaskResult) => {
      const task = this.#task
      this.#task = undefined
      if ('error' in taskResult) task?.reject(taskResult.error)
      else task?.resolve(Buffer.from(taskResult.bytes.buffer, taskResult.bytes.byteOffset, taskResult.bytes.byteLength))
    })
    let cause: unknown
    this.#worker.on('error', (error) => {
      cause = error
    })
    this.#worker.on('exit', () => {
      onDeath()
      this.#task?.reject(new DeadThread('the thread ended before its task', { cause }))
    })
  }

  get idle(): boolean {
    return this.#task === undefined
  }

  /**
   * Runs a task in the thread.
   * @throws DeadThread if the thread ends, and any error of the task
   */
  async run(task: string, datos: unknown): Promise<Buffer> {
    this.#send({ task, datos })
    this.#task = Promise.withResolvers()
    return this.#task.promise
  }

  /** Asks the thread to abort its current task, because no request needs the result any more. */
  cancel(): void {
    this.#send('dejarlo')
  }

  /** Ends the thread at once, even during a task. */
  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  #send(order: ThreadOrder): void {
    this.#worker.postMessage(order)
  }
}
