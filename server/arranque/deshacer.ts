import type { Config } from '../config/config.ts'
import type { Log } from '../log.ts'
import { explicarArranque } from './explicar.ts'

/**
 * What was opened so far, and how each of it is closed: in reverse, whether a start fails half-way or the process ends.
 */
export class Deshacer {
  readonly #pasos: (() => unknown)[] = []
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  al(deshacer: () => unknown): void {
    this.#pasos.push(deshacer)
  }

  async todo(): Promise<void> {
    for (const paso of this.#pasos.splice(0).reverse()) {
      try {
        await paso()
      } catch (err) {
        this.#log.error({ err }, 'stop')
      }
    }
  }
}

/**
 * Puts a process together; if that fails, what was opened is closed and the reason is told in words for its operator.
 */
export async function levantar<T>(config: Config, log: Log, hacer: (deshacer: Deshacer) => Promise<T>): Promise<T> {
  const deshacer = new Deshacer(log)
  try {
    return await hacer(deshacer)
  } catch (error) {
    await deshacer.todo()
    throw explicarArranque(error, config)
  }
}

/** The same stop, however often it is asked for. */
export function unaVez(hacer: () => Promise<void>): () => Promise<void> {
  let hecho: Promise<void> | undefined
  return () => {
    hecho ??= hacer()
    return hecho
  }
}
