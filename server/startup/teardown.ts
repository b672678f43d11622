import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { explainStart } from './explainStart.ts'

/**
 * Stack of clean-up steps for the resources that a process has opened. The steps run in reverse order when a start
 * fails half-way or when the process ends.
 */
export class Teardown {
  readonly #steps: (() => unknown)[] = []
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  /** Adds a clean-up step. */
  add(teardown: () => unknown): void {
    this.#steps.push(teardown)
  }

  /** Runs all steps in reverse order. Logs a step that fails and continues with the next one. */
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) {
      try {
        await step()
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
export async function withTeardown<T>(config: Config, log: Log, work: (teardown: Teardown) => Promise<T>): Promise<T> {
  const teardown = new Teardown(log)
  try {
    return await work(teardown)
  } catch (error) {
    await teardown.run()
    throw explainStart(error, config)
  }
}

/** Wraps a stop so that every call returns the promise of the first call. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= work()
    return running
  }
}
