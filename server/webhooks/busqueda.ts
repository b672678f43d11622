import type { Db } from '../db.ts'
import { hallarVencidas } from './vencidas.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** How long the search pauses after a pass, in milliseconds: at first, and at most, while nothing is found. */
const PAUSA = 500
const PAUSA_MAXIMA = 5_000
/** The pause is at least so many times as long as the pass: a tenth of the time at most is spent searching. */
const VECES = 9

/**
 * Looks for endpoints with deliveries due, from one to the next: it repairs what nobody told, after a crash or a lost
 * signal. The less it finds the rarer it looks, until somebody asks.
 */
export class Busqueda {
  readonly #deps: { db: Db; reloj: () => Date }
  readonly #alHallar: (claves: readonly ClaveDeWebhook[]) => boolean
  readonly #alFallar: (error: unknown) => void
  #temporizador: NodeJS.Timeout | undefined
  #buscando: Promise<void> | undefined
  #pausa = PAUSA
  /** Before that instant there is no pass, whoever asks. */
  #libre = 0
  #pedida = false
  #cerrada = false

  /** @param alHallar is told of what is due; returns whether any of it was news */
  constructor(
    deps: { db: Db; reloj: () => Date },
    alHallar: (claves: readonly ClaveDeWebhook[]) => boolean,
    alFallar: (error: unknown) => void,
  ) {
    this.#deps = deps
    this.#alHallar = alHallar
    this.#alFallar = alFallar
  }

  /** Looks as soon as it may. */
  readonly pedir = (): void => {
    this.#pedida = true
    if (!this.#buscando) this.#citar(0)
  }

  async cerrar(): Promise<void> {
    this.#cerrada = true
    clearTimeout(this.#temporizador)
    await this.#buscando
  }

  #citar(ms: number): void {
    clearTimeout(this.#temporizador)
    if (this.#cerrada) return
    const falta = Math.max(ms, this.#libre - performance.now())
    this.#temporizador = setTimeout(() => {
      this.#buscando = this.#pasar().finally(() => {
        this.#buscando = undefined
        this.#citar(this.#pedida ? 0 : this.#pausa)
      })
    }, falta)
  }

  async #pasar(): Promise<void> {
    const inicio = performance.now()
    this.#pedida = false
    const hubo = await this.#recorrer()
    this.#pausa = hubo ? PAUSA : Math.min(2 * this.#pausa, PAUSA_MAXIMA)
    const fin = performance.now()
    this.#libre = fin + Math.min(PAUSA_MAXIMA, VECES * (fin - inicio))
  }

  /** Parts are searched side by side; one that is away keeps no other from it. */
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
      const { claves, ultimo } = await hallarVencidas(db, this.#deps.reloj(), despues)
      if (this.#alHallar(claves)) hubo = true
      despues = ultimo
    } while (despues && !this.#cerrada)
    return hubo
  }
}
