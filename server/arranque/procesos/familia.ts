import { setTimeout as esperar } from 'node:timers/promises'
import { AggregatorRegistry } from 'prom-client'
import type { Salud } from '../../deps.ts'
import type { Log } from '../../log.ts'
import type { Preguntas, Valores } from './mensajes.ts'
import { ProcesoDeApi } from './proceso.ts'

/** How long it is waited before another takes the place of one that ended by itself, in milliseconds. */
const PAUSA = 1_000

/** Processes of the API on one port: as many as there shall be, and while they are renewed one more. */
export class Familia {
  readonly #cuantos: number
  readonly #log: Log
  readonly #consola: (linea: string) => void
  readonly #sirven = new Set<ProcesoDeApi>()
  readonly #nacen = new Set<ProcesoDeApi>()
  /** What those that ended had counted: a counter doesn't go back. */
  #contado: Valores = []
  #terminando = false
  #renovando: Promise<void> | undefined
  #otraVez = false

  /** @param consola takes the lines of the first */
  constructor(cuantos: number, log: Log, consola: (linea: string) => void) {
    this.#cuantos = cuantos
    this.#log = log
    this.#consola = consola
  }

  /**
   * The first alone, for it may have to migrate, or to say what is wrong; then the others at once.
   * @throws ErrorDeArranque if one ends before it serves
   */
  async nacer(): Promise<void> {
    await this.#uno(this.#consola)
    await Promise.all(Array.from({ length: this.#cuantos - 1 }, () => this.#uno()))
  }

  /**
   * Puts a new process in the place of each, one after the other: one lets go once another serves. If a new one doesn't
   * start, those that are left stay. Asked for meanwhile, it is done once more afterwards.
   */
  async renovar(): Promise<void> {
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
        await viejo.despedir()
      }
      this.#log.info({ procesos: this.#sirven.size }, 'renewed')
    } catch (err) {
      if (!this.#terminando) this.#log.error({ err, procesos: this.#sirven.size }, 'not renewed')
    }
  }

  async terminar(): Promise<void> {
    this.#terminando = true
    await Promise.all([...this.#nacen, ...this.#sirven].map((proceso) => proceso.despedir()))
  }

  /** What all of them counted, those that ended before among them, in the exposition format. */
  async exponer(): Promise<string> {
    const valores = await this.#preguntar('metricas')
    return AggregatorRegistry.aggregate([this.#contado, ...valores]).metrics()
  }

  /** Health of all processes together: a member is true when every expected process says so. */
  async salud(): Promise<Salud> {
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

  async #preguntar<Sobre extends keyof Preguntas>(sobre: Sobre): Promise<Preguntas[Sobre][]> {
    const respuestas = await Promise.all([...this.#sirven].map((proceso) => proceso.preguntar(sobre)))
    return respuestas.filter((respuesta) => respuesta !== undefined)
  }

  /** One more. */
  async #uno(consola: (linea: string) => void = () => {}): Promise<void> {
    if (this.#terminando) throw new Error('stopping')
    const proceso = new ProcesoDeApi(consola)
    this.#nacen.add(proceso)
    try {
      await proceso.sirve
    } finally {
      this.#nacen.delete(proceso)
    }
    this.#sirven.add(proceso)
    void proceso.fin.then(() => this.#alTerminar(proceso))
  }

  async #alTerminar(proceso: ProcesoDeApi): Promise<void> {
    this.#sirven.delete(proceso)
    this.#contado = await sumadas([this.#contado, proceso.contado.filter(crece)])
    if (proceso.despedido) return
    this.#log.error({ pid: proceso.pid }, 'process ended by itself')
    while (!this.#terminando && this.#sirven.size + this.#nacen.size < this.#cuantos) {
      await esperar(PAUSA)
      await this.#uno().catch((err: unknown) => this.#terminando || this.#log.error({ err }, 'process not replaced'))
    }
  }
}

const sumadas = (valores: Valores[]): Promise<Valores> => AggregatorRegistry.aggregate(valores).getMetricsAsJSON()

/** Gauges are of those that live. */
const crece = ({ type }: Valores[number]) => String(type) === 'counter' || String(type) === 'histogram'
