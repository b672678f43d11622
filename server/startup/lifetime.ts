import type { SignalSender } from '../data/queue/signals.ts'
import type { Health } from '../domain/deps.ts'
import type { RecentEvento } from '../domain/eventos/evento.ts'
import type { NotifyJobs } from '../domain/records/webhookKey.ts'
import type { Log } from '../platform/log.ts'
import type { Probe } from './probe.ts'
import type { Workers } from './workers.ts'

/** State of a process: its phase, its workers, and its health. */
export class Lifetime {
  phase: 'arrancando' | 'lista' | 'deteniendo' = 'arrancando'
  workers: Workers | undefined
  /** Sender of signals that wake the workers of other processes. Set only in a process without workers. */
  sender: SignalSender | undefined
  /** Probe of the database; undefined before the database is open. */
  probe: Probe | undefined
  readonly #log: Log
  readonly #runsWorkers: boolean

  /** @param runsWorkers true if this process runs the queue's workers */
  constructor(log: Log, runsWorkers: boolean) {
    this.#log = log
    this.#runsWorkers = runsWorkers
  }

  readonly notifyJobs: NotifyJobs = (webhooks) => {
    if (this.workers) this.workers.notify(webhooks)
    else this.sender?.send(webhooks)
  }

  readonly dispatch = (recentEventos: readonly RecentEvento[]): void => {
    if (this.workers) {
      this.workers.dispatch(recentEventos)
      return
    }
    const keys = recentEventos.flatMap(({ webhooks, evento: { comercio_id, modo } }) =>
      webhooks.map((webhook) => ({ comercio_id, modo, webhook })),
    )
    this.sender?.send(keys)
  }

  /**
   * Logs the loss of an idle connection. During a stop it logs nothing, because PostgreSQL may end a session that is
   * being closed.
   */
  readonly onLoss = (err: Error): void => {
    if (this.phase !== 'deteniendo') this.#log.warn({ err }, 'idle connection lost')
  }

  async health(): Promise<Health> {
    const { base_de_datos, escritura } = (await this.probe?.look()) ?? { base_de_datos: false, escritura: false }
    const cola = base_de_datos && (!this.#runsWorkers || (this.workers?.isHealthy() ?? false))
    return { ok: this.phase === 'lista' && escritura && cola, base_de_datos, escritura, cola, migraciones: true }
  }
}
