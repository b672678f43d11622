import { type Context, sleepUntilAborted } from './command.ts'
import { notify, sanitize } from './terminal.ts'

/** Seconds between two attempts while the service is away. The client itself repeats each attempt a few times, too. */
const PAUSE = 5

/** Waits while the service is away. Says why and when the command tries again, and then that the service is back. */
export class Patience {
  readonly #context: Context
  /** Reason that was said; empty while the service answers. */
  #said = ''

  constructor(context: Context) {
    this.#context = context
  }

  /** Waits before the next attempt. An outage is said once, and again if its reason changes. */
  async wait(error: unknown): Promise<void> {
    const { signal, whyAway } = this.#context
    const reason = whyAway(error)
    if (reason !== this.#said) this.#say(`${reason}. Lo intento otra vez cada ${PAUSE} s.`)
    this.#said = reason
    await sleepUntilAborted(PAUSE * 1000, signal)
  }

  /** Ends the wait, because the service answered. */
  end(): void {
    if (this.#said !== '') this.#say('El servicio contesta otra vez.')
    this.#said = ''
  }

  #say(aviso: string) {
    notify(this.#context.json ? JSON.stringify({ aviso }) : sanitize(aviso))
  }
}
