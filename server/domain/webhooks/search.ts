import type { Db } from '../../data/db.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { findDue } from './due.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** Pause after a pass that found work, in milliseconds. */
const PAUSA = 500
/** Maximum pause between two passes, in milliseconds. */
const PAUSA_MAXIMA = 5_000
/**
 * Minimum ratio of the pause to the duration of the pass, so that at most a tenth of the time is spent searching. Passes
 * longer than a ninth of {@link PAUSA_MAXIMA} take a larger part of the time, because no pause is longer than that.
 */
const VECES = 9

/**
 * Searches for endpoints with due deliveries, one endpoint after another. Finds deliveries whose notification was lost,
 * after a crash or a lost signal. Searches less often while it finds nothing, until a caller requests a search.
 */
export class DueSearch {
  readonly #deps: Pick<DepsDeTrabajo, 'db' | 'reloj' | 'timers'>
  readonly #alHallar: (claves: readonly ClaveDeWebhook[]) => boolean
  readonly #alFallar: (error: unknown) => void
  #cancel = () => {}
  #buscando: Promise<void> | undefined
  #pausa = PAUSA
  /** Time before which no pass begins, even on request, in milliseconds of the process's clock. */
  #libre = 0
  #pedida = false
  #cerrada = false

  /** @param alHallar receives the endpoints with due deliveries; returns true if one of them was new to this process */
  constructor(
    deps: Pick<DepsDeTrabajo, 'db' | 'reloj' | 'timers'>,
    alHallar: (claves: readonly ClaveDeWebhook[]) => boolean,
    alFallar: (error: unknown) => void,
  ) {
    this.#deps = deps
    this.#alHallar = alHallar
    this.#alFallar = alFallar
  }

  /** Starts a pass as soon as one is allowed. */
  readonly request = (): void => {
    this.#pedida = true
    if (!this.#buscando) this.#citar(0)
  }

  async close(): Promise<void> {
    this.#cerrada = true
    this.#cancel()
    await this.#buscando
  }

  #citar(ms: number): void {
    this.#cancel()
    if (this.#cerrada) return
    const { timers } = this.#deps
    this.#cancel = timers.after(Math.max(0, ms, this.#libre - timers.now()), () => {
      this.#buscando = this.#pasar().finally(() => {
        this.#buscando = undefined
        this.#citar(this.#pedida ? 0 : this.#pausa)
      })
    })
  }

  async #pasar(): Promise<void> {
    const { now } = this.#deps.timers
    const inicio = now()
    this.#pedida = false
    const hubo = await this.#recorrer()
    this.#pausa = hubo ? PAUSA : Math.min(2 * this.#pausa, PAUSA_MAXIMA)
    const fin = now()
    this.#libre = fin + Math.min(PAUSA_MAXIMA, VECES * (fin - inicio))
  }

  /**
   * Searches all databases that hold merchants' rows (Citus has several), in parallel. An unreachable database does not
   * stop the search of the others.
   */
  async #recorrer(): Promise<boolean> {
    const partes = await Promise.allSettled(this.#deps.db.partes().map((parte) => this.#recorrerParte(parte)))
    for (const { status, reason } of partes as PromiseRejectedResult[])
      if (status === 'rejected') this.#alFallar(reason)
    return partes.some((parte) => parte.status === 'rejected' || parte.value)
  }

  async #recorrerParte(db: Db): Promise<boolean> {
    let hubo = false
    let despues: ClaveDeWebhook | undefined
    do {
      const { claves, ultimo } = await findDue(db, this.#deps.reloj(), despues)
      if (this.#alHallar(claves)) hubo = true
      despues = ultimo
    } while (despues && !this.#cerrada)
    return hubo
  }
}
