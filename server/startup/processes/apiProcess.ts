import cluster, { type Worker } from 'node:cluster'
import { StartError } from '../process.ts'
import type { ChildQuestions, FromChild, MetricValues, ToChild } from './messages.ts'

/** Time limit in milliseconds for a process to answer a question of the primary process. */
const PLAZO_DE_RESPUESTA = 4_000
/**
 * Time limit in milliseconds for a process to end before it is killed. It is longer than any request or webhook
 * exchange.
 */
const PLAZO_DE_FIN = 40_000

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
  readonly #hijo: Worker
  readonly #porResponder = new Map<number, (valor: ChildQuestions[keyof ChildQuestions]) => void>()
  #numero = 0

  /** @param consola receives the process's console lines */
  constructor(consola: (linea: string) => void) {
    this.#hijo = cluster.fork()
    const sirve = Promise.withResolvers<void>()
    const fin = Promise.withResolvers<void>()
    this.serving = sirve.promise
    this.end = fin.promise
    this.#hijo.on('message', (mensaje: FromChild) => {
      if (mensaje.que === 'linea') consola(mensaje.linea)
      else if (mensaje.que === 'listo') sirve.resolve()
      else if (mensaje.que === 'fin') this.reported = mensaje.metricas
      else this.#porResponder.get(mensaje.numero)?.(mensaje.valor)
    })
    this.#hijo.once('exit', (codigo, senal) => {
      sirve.reject(new StartError(`Un proceso de la API terminó antes de servir (${senal ?? codigo}).`))
      fin.resolve()
    })
    // Prevents an unhandled rejection; code that awaits `serving` still gets the error.
    this.serving.catch(() => {})
  }

  get pid(): number | undefined {
    return this.#hijo.process.pid
  }

  /** Asks the process about itself; undefined if it does not answer in four seconds. */
  ask<Sobre extends keyof ChildQuestions>(sobre: Sobre): Promise<ChildQuestions[Sobre] | undefined> {
    const numero = this.#numero++
    return new Promise((resolve) => {
      const callar = setTimeout(() => responder(undefined), PLAZO_DE_RESPUESTA)
      const responder = (valor: ChildQuestions[keyof ChildQuestions] | undefined) => {
        clearTimeout(callar)
        this.#porResponder.delete(numero)
        resolve(valor as ChildQuestions[Sobre] | undefined)
      }
      this.#porResponder.set(numero, responder)
      this.#decir({ que: 'pregunta', numero, sobre })
    })
  }

  /** Tells the process to end, and waits until it has ended. Kills it after 40 seconds. */
  async dismiss(): Promise<void> {
    this.dismissed = true
    this.#decir({ que: 'parar' })
    const matar = setTimeout(() => this.#hijo.process.kill('SIGKILL'), PLAZO_DE_FIN)
    await this.end
    clearTimeout(matar)
  }

  /** Sends a message. Ignores a process that has just ended. */
  #decir(mensaje: ToChild): void {
    if (this.#hijo.isConnected()) this.#hijo.send(mensaje, () => {})
  }
}
