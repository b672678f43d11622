import pg from 'pg'
import type { Log } from '../../platform/log.ts'

/** Key of the advisory lock that every API process of this database holds in shared mode. */
const CERROJO = [0x67756961, 1] as const
/** Maximum age of the count, in milliseconds, before it is taken again. */
const VIGENCIA = 1_000
/** Timeout of a connection attempt and of a query, in milliseconds. */
const PLAZO = 5_000

/**
 * Counts the API processes that share this database. Each process holds an advisory lock on a session of its own while
 * it lives. No process therefore has to write rows or clean up. Reads of {@link processes} refresh the count in the
 * background, at most once a second. A process without requests does nothing.
 */
export class Presence {
  readonly #url: string
  readonly #log: Log
  #cliente: pg.Client | undefined
  #contado_en = Number.NEGATIVE_INFINITY
  #contando: Promise<void> | undefined
  #cerrada = false
  #cuantos = 1

  constructor(url: string, log: Log) {
    this.#url = url
    this.#log = log
  }

  /**
   * Number of API processes, at least 1. The value may be outdated; reading it starts a new count if it is older than a
   * second.
   */
  get processes(): number {
    if (performance.now() - this.#contado_en > VIGENCIA) this.count()
    return this.#cuantos
  }

  /** Starts a count, or joins the count in progress. Never rejects: a failure is logged. */
  count(): Promise<void> {
    this.#contado_en = performance.now()
    this.#contando ??= this.#contar()
      .catch((err: unknown) => {
        this.#log.warn({ err }, 'API process count failed')
        void this.#cliente?.end().catch(() => {})
        this.#cliente = undefined
      })
      .finally(() => {
        this.#contando = undefined
      })
    return this.#contando
  }

  async close(): Promise<void> {
    this.#cerrada = true
    await this.#contando
    await this.#cliente?.end().catch(() => {})
  }

  async #contar(): Promise<void> {
    if (this.#cerrada) return
    this.#cliente ??= await this.#entrar()
    const { rows } = await this.#cliente.query<{ cuantos: number }>({
      name: 'presencia.contar',
      text: `select count(*)::int as cuantos from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.granted`,
      values: [...CERROJO],
    })
    this.#cuantos = Math.max(1, rows[0]!.cuantos)
  }

  async #entrar(): Promise<pg.Client> {
    const cliente = new pg.Client({
      connectionString: this.#url,
      application_name: `guias presencia pid=${process.pid}`,
      connectionTimeoutMillis: PLAZO,
      query_timeout: PLAZO,
      keepAlive: true,
    })
    cliente.on('error', () => {})
    cliente.on('end', () => {
      if (this.#cliente === cliente) this.#cliente = undefined
    })
    try {
      await cliente.connect()
      await cliente.query('select pg_advisory_lock_shared($1, $2)', [...CERROJO])
      return cliente
    } catch (error) {
      await cliente.end().catch(() => {})
      throw error
    }
  }
}
