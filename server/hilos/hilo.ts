import { Worker } from 'node:worker_threads'
import type { Encargo, Hecho } from './atender.ts'

/** A thread died or was ended while it was at a task; the task itself may be all right. */
export class HiloMuerto extends Error {
  override readonly name = 'HiloMuerto'
}

/**
 * What a thread's heap may take, in megabytes: three times what any document needs, and not what would take the process
 * along. With half of it V8 collected garbage all the time (four times the CPU), for it counts the young generation in,
 * whose size is the process's (`--max-semi-space-size`), whatever is asked for here.
 */
const MEMORIA = { maxOldGenerationSizeMb: 256 }

/** A thread, as its pool sees it: at one task or at none. */
export class Hilo {
  readonly #worker: Worker
  #tarea: PromiseWithResolvers<Buffer> | undefined

  /** @param alMorir is told once, when the thread is no more, whatever ended it */
  constructor(modulo: URL, alMorir: () => void) {
    // Nothing of the process's environment or flags is a thread's business.
    this.#worker = new Worker(modulo, { env: {}, execArgv: [], resourceLimits: MEMORIA })
    this.#worker.unref()
    this.#worker.on('message', (hecho: Hecho) => {
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
      this.#tarea?.reject(new HiloMuerto('The thread ended before its task did.', { cause: causa }))
    })
  }

  get libre(): boolean {
    return this.#tarea === undefined
  }

  /** @throws HiloMuerto, and whatever the task throws */
  async hacer(tarea: string, datos: unknown): Promise<Buffer> {
    this.#enviar({ tarea, datos })
    this.#tarea = Promise.withResolvers()
    return this.#tarea.promise
  }

  /** Asks it to leave the task that it is at, whose result nobody wants any more. */
  dejarlo(): void {
    this.#enviar('dejarlo')
  }

  /** Ends it at once, whatever it is at. */
  async terminar(): Promise<void> {
    await this.#worker.terminate()
  }

  #enviar(encargo: Encargo): void {
    this.#worker.postMessage(encargo)
  }
}
