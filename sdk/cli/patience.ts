import { type Contexto, dormirSinError } from './orden.ts'
import { avisar, limpio } from './terminal.ts'

/** Seconds between two attempts while the service is away. The client itself repeats each attempt a few times, too. */
const PAUSE = 5

/** Waits while the service is away. Says why and when the command tries again, and then that the service is back. */
export class Patience {
  readonly #contexto: Contexto
  /** Reason that was said; empty while the service answers. */
  #said = ''

  constructor(contexto: Contexto) {
    this.#contexto = contexto
  }

  /** Waits before the next attempt. An outage is said once, and again if its reason changes. */
  async wait(error: unknown): Promise<void> {
    const { signal, whyAway } = this.#contexto
    const reason = whyAway(error)
    if (reason !== this.#said) this.#say(`${reason}. Lo intento otra vez cada ${PAUSE} s.`)
    this.#said = reason
    await dormirSinError(PAUSE * 1000, signal)
  }

  /** Ends the wait, because the service answered. */
  end(): void {
    if (this.#said !== '') this.#say('El servicio contesta otra vez.')
    this.#said = ''
  }

  #say(aviso: string) {
    avisar(this.#contexto.json ? JSON.stringify({ aviso }) : limpio(aviso))
  }
}
