import type { Emisor } from '../data/queue/signals.ts'
import type { Salud } from '../domain/deps.ts'
import type { EventoRecien } from '../domain/eventos/evento.ts'
import type { AvisarTrabajo } from '../domain/webhooks/webhook.ts'
import type { Log } from '../platform/log.ts'
import type { Sonda } from './probe.ts'
import type { Workers } from './workers.ts'

/** Phase of a process, its workers, and its health. */
export class Vida {
  fase: 'arrancando' | 'lista' | 'deteniendo' = 'arrancando'
  workers: Workers | undefined
  /** Sender of signals about work to other processes, in a process without workers. */
  emisor: Emisor | undefined
  /** Probe of the database; undefined before the database is open. */
  sonda: Sonda | undefined
  readonly #log: Log
  readonly #conWorkers: boolean

  /** @param conWorkers true if this process runs the queue's workers */
  constructor(log: Log, conWorkers: boolean) {
    this.#log = log
    this.#conWorkers = conWorkers
  }

  readonly avisarTrabajo: AvisarTrabajo = (webhooks) => {
    if (this.workers) this.workers.avisar(webhooks)
    else this.emisor?.senalar(webhooks)
  }

  readonly despachar = (recientes: readonly EventoRecien[]): void => {
    if (this.workers) {
      this.workers.despachar(recientes)
      return
    }
    const claves = recientes.flatMap(({ webhooks, evento: { comercio_id, modo } }) =>
      webhooks.map((webhook) => ({ comercio_id, modo, webhook })),
    )
    this.emisor?.senalar(claves)
  }

  /**
   * Logs the loss of an idle connection. During a stop it logs nothing, because PostgreSQL may end a session that is
   * being closed.
   */
  readonly alPerder = (err: Error): void => {
    if (this.fase !== 'deteniendo') this.#log.warn({ err }, 'idle connection lost')
  }

  async salud(): Promise<Salud> {
    const { base_de_datos, escritura } = (await this.sonda?.mirar()) ?? { base_de_datos: false, escritura: false }
    const cola = base_de_datos && (!this.#conWorkers || (this.workers?.late() ?? false))
    return { ok: this.fase === 'lista' && escritura && cola, base_de_datos, escritura, cola, migraciones: true }
  }
}
