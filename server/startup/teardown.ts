import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { explainStart } from './explainStart.ts'

/**
 * Stack of clean-up steps for the resources that a process has opened. The steps run in reverse order when a start
 * fails half-way or when the process ends.
 */
export class Teardown {
  readonly #pasos: (() => unknown)[] = []
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  /** Adds a clean-up step. */
  add(deshacer: () => unknown): void {
    this.#pasos.push(deshacer)
  }

  /** Runs all steps in reverse order. Logs a step that fails and continues with the next one. */
  async run(): Promise<void> {
    for (const paso of this.#pasos.splice(0).reverse()) {
      try {
        await paso()
      } catch (err) {
        this.#log.error({ err }, 'shutdown step failed')
      }
    }
  }
}

/**
 * Starts a process. If the start fails, closes the resources opened so far.
 * @throws StartError with the reason, in Spanish, for the operator; an unforeseen error is thrown as it is
 */
export async function withTeardown<T>(config: Config, log: Log, hacer: (deshacer: Teardown) => Promise<T>): Promise<T> {
  const deshacer = new Teardown(log)
  try {
    return await hacer(deshacer)
  } catch (error) {
    await deshacer.run()
    throw explainStart(error, config)
  }
}

/** Wraps a stop so that every call returns the promise of the first call. */
export function once(hacer: () => Promise<void>): () => Promise<void> {
  let hecho: Promise<void> | undefined
  return () => {
    hecho ??= hacer()
    return hecho
  }
}
