import cluster, { type Worker } from 'node:cluster'
import { ErrorDeArranque } from '../proceso.ts'
import type { AlHijo, DelHijo, Preguntas, Valores } from './mensajes.ts'

/** How long it may take to answer what it is asked about itself, in milliseconds. */
const PLAZO_DE_RESPUESTA = 4_000
/** How long it may take to end before it is killed, in milliseconds: longer than any request or exchange. */
const PLAZO_DE_FIN = 40_000

/** One of several API processes, as the one that looks after them sees it. */
export class ProcesoDeApi {
  /** Until it serves. Rejects with ErrorDeArranque if it ends before; why, it tells itself on stderr. */
  readonly sirve: Promise<void>
  /** Until it has ended. */
  readonly fin: Promise<void>
  /** What it had counted when it ended. */
  contado: Valores = []
  /** Whether it was told to end. */
  despedido = false
  readonly #hijo: Worker
  readonly #porResponder = new Map<number, (valor: Preguntas[keyof Preguntas]) => void>()
  #numero = 0

  /** @param consola takes its lines */
  constructor(consola: (linea: string) => void) {
    this.#hijo = cluster.fork()
    const sirve = Promise.withResolvers<void>()
    const fin = Promise.withResolvers<void>()
    this.sirve = sirve.promise
    this.fin = fin.promise
    this.#hijo.on('message', (mensaje: DelHijo) => {
      if (mensaje.que === 'linea') consola(mensaje.linea)
      else if (mensaje.que === 'listo') sirve.resolve()
      else if (mensaje.que === 'fin') this.contado = mensaje.metricas
      else this.#porResponder.get(mensaje.numero)?.(mensaje.valor)
    })
    this.#hijo.once('exit', (codigo, senal) => {
      sirve.reject(new ErrorDeArranque(`Un proceso de la API terminó antes de servir (${senal ?? codigo}).`))
      fin.resolve()
    })
    // Whoever waits for it gets it all the same.
    this.sirve.catch(() => {})
  }

  get pid(): number | undefined {
    return this.#hijo.process.pid
  }

  /** Asks the process about itself; undefined if it does not answer in four seconds. */
  preguntar<Sobre extends keyof Preguntas>(sobre: Sobre): Promise<Preguntas[Sobre] | undefined> {
    const numero = this.#numero++
    return new Promise((resolve) => {
      const callar = setTimeout(() => responder(undefined), PLAZO_DE_RESPUESTA)
      const responder = (valor: Preguntas[keyof Preguntas] | undefined) => {
        clearTimeout(callar)
        this.#porResponder.delete(numero)
        resolve(valor as Preguntas[Sobre] | undefined)
      }
      this.#porResponder.set(numero, responder)
      this.#decir({ que: 'pregunta', numero, sobre })
    })
  }

  /** Tells it to end, and waits until it has. */
  async despedir(): Promise<void> {
    this.despedido = true
    this.#decir({ que: 'parar' })
    const matar = setTimeout(() => this.#hijo.process.kill('SIGKILL'), PLAZO_DE_FIN)
    await this.fin
    clearTimeout(matar)
  }

  /** It may have ended just now. */
  #decir(mensaje: AlHijo): void {
    if (this.#hijo.isConnected()) this.#hijo.send(mensaje, () => {})
  }
}
