import cluster, { type Worker } from 'node:cluster'
import { StartError } from '../process.ts'
import type { ChildQuestions, FromChild, MetricValues, ToChild } from './messages.ts'

/** Time limit in milliseconds for a process to answer a question of the primary process. */
const ANSWER_DEADLINE_MS = 4_000
/**
 * Time limit in milliseconds for a process to end before it is killed. It is longer than any request or webhook
 * exchange.
 */
const EXIT_DEADLINE_MS = 40_000

/** One of several API processes, as the primary process sees it. */
export class ApiProcess {
  /**
   * Resolves when the process serves. Rejects with StartError if the process ends before; the process itself
   * writes the reason to stderr.
   */
  readonly serving: Promise<void>
  /** Resolves when the process has ended. */
  readonly end: Promise<void>
  /** Metrics of the process at its end. */
  reported: MetricValues = []
  /** True if the process was told to end. */
  dismissed = false
  readonly #child: Worker
  readonly #unanswered = new Map<number, (value: ChildQuestions[keyof ChildQuestions]) => void>()
  #number = 0

  /** @param console receives the process's console lines */
  constructor(console: (line: string) => void) {
    this.#child = cluster.fork()
    const serving = Promise.withResolvers<void>()
    const exit = Promise.withResolvers<void>()
    this.serving = serving.promise
    this.end = exit.promise
    this.#child.on('message', (message: FromChild) => {
      if (message.kind === 'linea') console(message.linea)
      else if (message.kind === 'listo') serving.resolve()
      else if (message.kind === 'fin') this.reported = message.metrics
      else this.#unanswered.get(message.numero)?.(message.valor)
    })
    this.#child.once('exit', (code, exitSignal) => {
      serving.reject(new StartError(`Un proceso de la API terminó antes de servir (${exitSignal ?? code}).`))
      exit.resolve()
    })
    // Prevents an unhandled rejection; code that awaits `serving` still gets the error.
    this.serving.catch(() => {})
  }

  get pid(): number | undefined {
    return this.#child.process.pid
  }

  /** Asks the process about itself; undefined if it does not answer in four seconds. */
  ask<Topic extends keyof ChildQuestions>(sobre: Topic): Promise<ChildQuestions[Topic] | undefined> {
    const numero = this.#number++
    return new Promise((resolve) => {
      const silenceTimer = setTimeout(() => responder(undefined), ANSWER_DEADLINE_MS)
      const responder = (value: ChildQuestions[keyof ChildQuestions] | undefined) => {
        clearTimeout(silenceTimer)
        this.#unanswered.delete(numero)
        resolve(value as ChildQuestions[Topic] | undefined)
      }
      this.#unanswered.set(numero, responder)
      this.#tell({ kind: 'pregunta', numero, sobre })
    })
  }

  /** Tells the process to end, and waits until it has ended. Kills it after 40 seconds. */
  async dismiss(): Promise<void> {
    this.dismissed = true
    this.#tell({ kind: 'parar' })
    const killTimer = setTimeout(() => this.#child.process.kill('SIGKILL'), EXIT_DEADLINE_MS)
    await this.end
    clearTimeout(killTimer)
  }

  /** Sends a message. Ignores a process that has just ended. */
  #tell(message: ToChild): void {
    if (this.#child.isConnected()) this.#child.send(message, () => {})
  }
}
