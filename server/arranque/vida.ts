import type { Workers } from '../cola/workers.ts'
import type { Db } from '../db.ts'
import type { Salud } from '../deps.ts'
import type { Log } from '../log.ts'

/** How a process is: what it is about just now, its workers, and whether what it stands on answers. */
export class Vida {
  fase: 'arrancando' | 'lista' | 'deteniendo' = 'arrancando'
  workers: Workers | undefined
  readonly #log: Log
  readonly #conWorkers: boolean

  /** @param conWorkers whether the queue is looked after in this process */
  constructor(log: Log, conWorkers: boolean) {
    this.#log = log
    this.#conWorkers = conWorkers
  }

  readonly avisarTrabajo = (): void => this.workers?.avisar()

  /** While it stops, PostgreSQL may end a session that is just being closed. */
  readonly alPerder = (err: Error): void => {
    if (this.fase !== 'deteniendo') this.#log.warn({ err }, 'idle connection lost')
  }

  async salud(db: Db): Promise<Salud> {
    const base_de_datos = await responde(db)
    const cola = base_de_datos && (!this.#conWorkers || (this.workers?.late() ?? false))
    return { ok: this.fase === 'lista' && cola, base_de_datos, cola, migraciones: true }
  }
}

async function responde(db: Db): Promise<boolean> {
  try {
    await Promise.race([db.pool.query('select 1'), new Promise((_, reject) => setTimeout(reject, 2_000).unref())])
    return true
  } catch {
    return false
  }
}
