import { byPart, isDistributed } from '../../data/spread.ts'
import { translateError } from '../../platform/errors.ts'
import { sleep, type Timers } from '../../platform/time/timers.ts'
import { type AttemptResult, type SettlementDeps, settleAttempts } from './settleAttempts.ts'
import { settleSuccesses } from './settleSuccesses.ts'

/** Maximum number of results that are settled together. */
export const SETTLEMENT_GROUP = 100
/** Time for which the first result of a group waits for others, in milliseconds. */
export const GATHERING_MS = 15
/**
 * Maximum number of groups of results that are settled at the same time. While one group is written to the disk, the
 * next group is built.
 */
export const SETTLEMENTS_AT_ONCE = 2
/** Number of unsettled results from which no new exchange begins. */
export const MANY_PENDING = 600

/** Results that are settled by the same statement. */
interface Clase {
  por: AttemptResult[]
  asentar: (grupo: readonly AttemptResult[]) => Promise<void>
}

/**
 * Settles results in groups. One statement over arrays settles first attempts that succeed at a healthy endpoint. A
 * transaction settles all other attempts and updates the health of their endpoints. A settlement that fails is repeated
 * until it succeeds. Otherwise a process would send the delivery again.
 */
export class Settlement {
  readonly #deps: SettlementDeps & { timers: Timers }
  readonly #alAsentar: (grupo: readonly AttemptResult[], conSalud: boolean) => void
  readonly #exitos: Clase = { por: [], asentar: (grupo) => this.#asentarExitos(grupo) }
  readonly #demas: Clase = { por: [], asentar: (grupo) => settleAttempts(this.#deps, grupo) }
  /** Cancels the timer of the next group; undefined if no result waits for it. */
  #cancelGathering: (() => void) | undefined
  #grupos = 0
  #asentando = 0
  /** Number of results in settlement that wait for an unreachable machine, while other machines are reachable. */
  #apartados = 0
  #abandonado = false

  /** @param alAsentar receives each settled group, and true if the state of its endpoints may have changed */
  constructor(
    deps: SettlementDeps & { timers: Timers },
    alAsentar: (grupo: readonly AttemptResult[], conSalud: boolean) => void,
  ) {
    this.#deps = deps
    this.#alAsentar = alAsentar
  }

  /** Number of results that are not settled yet. */
  get pending(): number {
    return this.#exitos.por.length + this.#demas.por.length + this.#asentando
  }

  /** True if new exchanges may begin. Results that wait for an unreachable machine do not count. */
  get hasRoom(): boolean {
    return this.pending - this.#apartados < MANY_PENDING
  }

  /**
   * Adds a result to the next group.
   * @param sano true if the endpoint is known to be healthy; then a successful first attempt changes nothing about it
   */
  add(resultado: AttemptResult, sano: boolean): void {
    const { entrega, respuesta } = resultado
    const clase = sano && respuesta.error === null && entrega.intentos === 0 ? this.#exitos : this.#demas
    if (clase.por.push(resultado) >= SETTLEMENT_GROUP) this.flush()
    else this.#cancelGathering ??= this.#deps.timers.after(GATHERING_MS, () => this.flush())
  }

  /** Settles the results that wait for a group, as far as {@link SETTLEMENTS_AT_ONCE} allows. */
  flush(): void {
    this.#cancelGathering?.()
    this.#cancelGathering = undefined
    for (const clase of [this.#demas, this.#exitos])
      while (clase.por.length > 0 && this.#grupos < SETTLEMENTS_AT_ONCE) {
        const grupo = clase.por.splice(0, SETTLEMENT_GROUP)
        this.#asentando += grupo.length
        this.#grupos++
        void this.#asentar(clase, grupo)
      }
  }

  /** Stops the repeats of settlements that fail. */
  abandon(): void {
    this.#abandonado = true
    this.#cancelGathering?.()
  }

  /**
   * Settles a group, separately in each database that holds rows of its merchants (Citus has several). Results whose
   * database fails are repeated later and do not delay other groups.
   */
  async #asentar(clase: Clase, grupo: readonly AttemptResult[]): Promise<void> {
    const partes = await byPart(this.#deps.dbSinEspera, grupo, ({ entrega }) => entrega.comercio_id)
    await Promise.all(
      partes.map(async ([, parte]) => {
        const inicio = this.#deps.timers.now()
        if (await this.#probar(clase, parte)) this.#terminar(clase, parte, inicio)
        else void this.#insistir(clase, parte, inicio)
      }),
    )
    this.#grupos--
    this.flush()
  }

  async #insistir(clase: Clase, parte: readonly AttemptResult[], inicio: number): Promise<void> {
    const apartados = isDistributed(this.#deps.dbSinEspera) ? parte.length : 0
    this.#apartados += apartados
    let espera = 100
    do {
      await sleep(this.#deps.timers, espera)
      espera = Math.min(2 * espera, 5_000)
    } while (!this.#abandonado && !(await this.#probar(clase, parte)))
    this.#apartados -= apartados
    this.#terminar(clase, parte, inicio)
  }

  async #probar(clase: Clase, parte: readonly AttemptResult[]): Promise<boolean> {
    try {
      await clase.asentar(parte)
      return true
    } catch (err) {
      const nivel = translateError(err).codigo === 'no_disponible' ? 'warn' : 'error'
      this.#deps.log[nivel]({ err, entregas: parte.length }, 'webhook settlement failed')
      return false
    }
  }

  #terminar(clase: Clase, parte: readonly AttemptResult[], inicio: number): void {
    const buenas = parte.filter(({ respuesta }) => respuesta.error === null).length
    const ms = Math.round(this.#deps.timers.now() - inicio)
    this.#deps.log.info({ cola: 'webhook_avisos', intentos: parte.length, buenas, ms }, 'job')
    this.#asentando -= parte.length
    this.#alAsentar(parte, clase === this.#demas)
  }

  async #asentarExitos(grupo: readonly AttemptResult[]): Promise<void> {
    const { dbSinEspera, reloj } = this.#deps
    const sobran = await settleSuccesses(dbSinEspera, grupo, reloj())
    if (sobran.length > 0) await settleAttempts(this.#deps, sobran)
  }
}
