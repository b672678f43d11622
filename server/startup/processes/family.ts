import { setTimeout as esperar } from 'node:timers/promises'
import type { Salud } from '../../domain/deps.ts'
import type { Log } from '../../platform/log.ts'
import { ApiProcess } from './apiProcess.ts'
import type { ChildQuestions, MetricValues } from './messages.ts'
import { sumMetrics } from './sums.ts'

/** Pause before a new process replaces one that exited by itself, in milliseconds. */
const PAUSA = 1_000

/** Group of API processes on one port: as many as configured, and one more during a rolling restart. */
export class ProcessFamily {
  readonly #cuantos: number
  readonly #exemplars: boolean
  readonly #log: Log
  readonly #consola: (linea: string) => void
  readonly #sirven = new Set<ApiProcess>()
  readonly #nacen = new Set<ApiProcess>()
  /** Sums of the counters of processes that have ended, because a counter must not decrease. */
  #contado: MetricValues = []
  #terminando = false
  #renovando: Promise<void> | undefined
  #otraVez = false

  /**
   * @param exemplars true if the metrics name traces
   * @param consola receives the console lines of the first process
   */
  constructor(cuantos: number, exemplars: boolean, log: Log, consola: (linea: string) => void) {
    this.#cuantos = cuantos
    this.#exemplars = exemplars
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
    return (await sumMetrics([this.#contado, ...valores], this.#exemplars)).metrics()
  }

  /** Health of all processes together. Each value is true only if every expected process reports true. */
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
    const sums = await sumMetrics([this.#contado, proceso.reported.filter(crece)], this.#exemplars)
    this.#contado = await sums.getMetricsAsJSON()
    if (proceso.dismissed) return
    this.#log.error({ pid: proceso.pid }, 'API process exited unexpectedly')
    while (!this.#terminando && this.#sirven.size + this.#nacen.size < this.#cuantos) {
      await esperar(PAUSA)
      await this.#uno().catch((err: unknown) => this.#terminando || this.#log.error({ err }, 'process not replaced'))
    }
  }
}

/** Selects counters and histograms. A gauge counts only while its process lives. */
const crece = ({ type }: MetricValues[number]) => String(type) === 'counter' || String(type) === 'histogram'
