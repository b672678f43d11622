import { hash } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import type { DepsDeTrabajo } from '../deps.ts'
import { proximasDe } from './vencidas.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** The queue of retries: a job of it asks for an endpoint when its next delivery is due. */
export const COLA_DE_REINTENTOS = 'reintentos'

/** Brings endpoints back when they may next be sent something. */
export class Reintentos {
  readonly #boss: PgBoss
  readonly #deps: Pick<DepsDeTrabajo, 'db' | 'reloj' | 'despertar'>
  /** By the second of the process's clock, what wakes the queue's worker then, which by itself looks rarely. */
  readonly #citas = new Map<number, NodeJS.Timeout>()

  constructor(boss: PgBoss, deps: Pick<DepsDeTrabajo, 'db' | 'reloj' | 'despertar'>) {
    this.#boss = boss
    this.#deps = deps
  }

  /**
   * Makes the jobs. A job's id is its endpoint's and its second's, so that however many deliveries fail, there is one.
   * @returns endpoints that may be sent something now
   */
  async citar(claves: readonly ClaveDeWebhook[]): Promise<ClaveDeWebhook[]> {
    const ahora = this.#deps.reloj()
    const proximas = await proximasDe(this.#deps.db, claves, ahora)
    const luego = proximas.filter(({ en }) => en > ahora)
    const trabajos = luego.map(({ comercio_id, modo, webhook, en }) => ({
      id: idDe(`${webhook} ${Math.ceil(en.getTime() / 1_000)}`),
      data: { comercio_id, modo, webhook },
      // From now by the queue's clock, which may not be ours.
      startAfter: Math.ceil((en.getTime() - ahora.getTime()) / 1_000),
    }))
    if (trabajos.length > 0) await this.#boss.insert(COLA_DE_REINTENTOS, trabajos, { returnId: false })
    for (const { startAfter } of trabajos) this.#apuntar(startAfter)
    return proximas.filter(({ en }) => en <= ahora)
  }

  cerrar(): void {
    for (const cita of this.#citas.values()) clearTimeout(cita)
  }

  /** @param s seconds after a job was made */
  #apuntar(s: number): void {
    const segundo = Math.ceil(performance.now() / 1_000) + s
    if (this.#citas.has(segundo)) return
    const dar = () => {
      this.#citas.delete(segundo)
      this.#deps.despertar(COLA_DE_REINTENTOS)
    }
    this.#citas.set(segundo, setTimeout(dar, segundo * 1_000 - performance.now()).unref())
  }
}

/** A UUID made of a text. */
const idDe = (texto: string) => hash('md5', texto).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
