import { setTimeout as esperar } from 'node:timers/promises'
import { AggregatorRegistry } from 'prom-client'
import type { Salud } from '../../domain/deps.ts'
import type { Log } from '../../platform/log.ts'
import { ApiProcess } from './apiProcess.ts'
import type { ChildQuestions, MetricValues } from './messages.ts'

/** Pause before a new process replaces one that exited by itself, in milliseconds. */
const PAUSA = 1_000

/** API processes on one port: as many as configured, and one more during a rolling restart. */
export class ProcessFamily {
  readonly #cuantos: number
  readonly #log: Log
  readonly #consola: (linea: string) => void
  readonly #sirven = new Set<ApiProcess>()
  readonly #nacen = new Set<ApiProcess>()
  /** Sums of the counters of processes that have ended, because a counter must not decrease. */
  #contado: MetricValues = []
  #terminando = false
  #renovando: Promise<void> | undefined
  #otraVez = false

  /** @param consola receives the console lines of the first process */
  constructor(cuantos: number, log: Log, consola: (linea: string) => void) {
    this.#cuantos = cuantos
    this.#log = log
    this.#consola = consola
  }

  /**
   * Starts the first process alone, because it may have to migrate or to report a fault. Then starts the other
   * processes at once.
   * @throws StartError if a process ends before it serves
   */
  async spawn(): Promise<void> {
    await this.#uno(this.#consola)
    await Promise.all(Array.from({ length: this.#cuantos - 1 }, () => this.#uno()))
  }

  /**
   * Replaces each process by a new one, one after another: an old process stops once a new one serves. If a new process
   * does not start, the remaining old processes stay. A call during a restart causes one more restart afterwards.
   */
  async renew(): Promise<void> {
    if (this.#renovando) {
      this.#otraVez = true
      return this.#renovando
    }
    do {
      this.#otraVez = false
      this.#renovando = this.#renovar()
      await this.#renovando
      this.#renovando = undefined
    } while (this.#otraVez)
  }

  async #renovar(): Promise<void> {
    try {
      for (const viejo of [...this.#sirven]) {
        await this.#uno()
        await viejo.dismiss()
      }
      this.#log.info({ procesos: this.#sirven.size }, 'rolling restart finished')
    } catch (err) {
      if (!this.#terminando) this.#log.error({ err, procesos: this.#sirven.size }, 'rolling restart failed')
    }
  }

  async terminate(): Promise<void> {
    this.#terminando = true
    await Promise.all([...this.#nacen, ...this.#sirven].map((proceso) => proceso.dismiss()))
  }

  /** Metrics of all processes together, including processes that have ended, in the exposition format. */
  async expose(): Promise<string> {
    const valores = await this.#preguntar('metricas')
    return AggregatorRegistry.aggregate([this.#contado, ...valores]).metrics()
  }

  /** Health of all processes together: a member is true when every expected process says so. */
  async health(): Promise<Salud> {
    const todas = await this.#preguntar('salud')
    const cada = (parte: keyof Salud) => todas.length >= this.#cuantos && todas.every((salud) => salud[parte])
    return {
      ok: cada('ok'),
      base_de_datos: cada('base_de_datos'),
      escritura: cada('escritura'),
      cola: cada('cola'),
      migraciones: cada('migraciones'),
    }
  }

  async #preguntar<Sobre extends keyof ChildQuestions>(sobre: Sobre): Promise<ChildQuestions[Sobre][]> {
    const respuestas = await Promise.all([...this.#sirven].map((proceso) => proceso.ask(sobre)))
    return respuestas.filter((respuesta) => respuesta !== undefined)
  }

  /** Starts one more process, and waits until it serves. */
  async #uno(consola: (linea: string) => void = () => {}): Promise<void> {
    if (this.#terminando) throw new Error('API processes are stopping')
    const proceso = new ApiProcess(consola)
    this.#nacen.add(proceso)
    try {
      await proceso.serving
    } finally {
      this.#nacen.delete(proceso)
    }
    this.#sirven.add(proceso)
    void proceso.end.then(() => this.#alTerminar(proceso))
  }

  async #alTerminar(proceso: ApiProcess): Promise<void> {
    this.#sirven.delete(proceso)
    this.#contado = await sumadas([this.#contado, proceso.reported.filter(crece)])
    if (proceso.dismissed) return
    this.#log.error({ pid: proceso.pid }, 'API process exited unexpectedly')
    while (!this.#terminando && this.#sirven.size + this.#nacen.size < this.#cuantos) {
      await esperar(PAUSA)
      await this.#uno().catch((err: unknown) => this.#terminando || this.#log.error({ err }, 'process not replaced'))
    }
  }
}

const sumadas = (valores: MetricValues[]): Promise<MetricValues> =>
  AggregatorRegistry.aggregate(valores).getMetricsAsJSON()

/** Selects counters and histograms. A gauge counts only while its process lives. */
const crece = ({ type }: MetricValues[number]) => String(type) === 'counter' || String(type) === 'histogram'
