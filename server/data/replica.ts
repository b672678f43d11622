import { translateError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { Connections } from './connections.ts'
import { type Db, type Query, queryWith, statement } from './db.ts'
import { readLsn } from './lsn.ts'

/** Reads from the database or from a replica of it. */
export interface ReadDb {
  /** Runs a query. The rows may be up to five seconds old. */
  readonly consultar: Query
}

/** Maximum delay of a replica that is read, in milliseconds. */
const ATRASO = 5_000
/** Time for which a check of the replica is valid, in milliseconds. */
const VIGENCIA = 1_000
/** Time for which a failed replica is not read, in milliseconds. */
const DESCANSO = 5_000

/** Query for the database's present position in its write-ahead log (WAL). */
const ESCRITO = statement<object, { lsn: string }>('replica.escrito', 'select pg_current_wal_lsn()::text as lsn')
/** Query for the position that a replica has replayed. A server that is no replica has replayed everything. */
const REHECHO = statement<object, { lsn: string }>(
  'replica.rehecho',
  'select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end)::text as lsn',
)

/**
 * Streaming replica that is read while its delay is small. A query starts a check of the delay, in the background and
 * once a second at most. The check compares the position that the replica has replayed with positions that the database
 * had written at known times. The delay is therefore right even if the servers' clocks differ, or if little is written.
 */
export class Replica implements ReadDb {
  readonly #primaria: Db
  readonly #consultar: Query
  readonly #log: Log
  readonly #ahora: () => number
  #escritos: { en: number; lsn: bigint }[] = []
  #mirada_en = Number.NEGATIVE_INFINITY
  #mirando = false
  /** Time until which the last check allows reads from the replica; in the past before the first check. */
  #sirve_hasta = Number.NEGATIVE_INFINITY
  #descansa_hasta = Number.NEGATIVE_INFINITY

  /** @param ahora monotonic clock, in milliseconds */
  constructor(primaria: Db, conexiones: Connections, log: Log, ahora = () => performance.now()) {
    this.#primaria = primaria
    this.#consultar = queryWith(conexiones)
    this.#log = log
    this.#ahora = ahora
  }

  readonly consultar: Query = async (sentencia, ...valores) => {
    if (!this.#sirve()) return this.#primaria.consultar(sentencia, ...valores)
    try {
      return await this.#consultar(sentencia, ...valores)
    } catch (err) {
      if (translateError(err).codigo !== 'no_disponible') throw err
      this.#descansar(err)
      return this.#primaria.consultar(sentencia, ...valores)
    }
  }

  #sirve(): boolean {
    const ahora = this.#ahora()
    if (ahora < this.#descansa_hasta) return false
    if (ahora - this.#mirada_en > VIGENCIA && !this.#mirando) void this.#mirar()
    return ahora < this.#sirve_hasta
  }

  async #mirar(): Promise<void> {
    this.#mirando = true
    this.#mirada_en = this.#ahora()
    try {
      const en = this.#ahora()
      const [escrito] = await this.#primaria.consultar(ESCRITO)
      this.#escritos.push({ en, lsn: readLsn(escrito!.lsn) })
      const [rehecho] = await this.#consultar(REHECHO)
      this.#juzgar(readLsn(rehecho!.lsn))
    } catch (err) {
      this.#descansar(err)
    } finally {
      this.#mirando = false
    }
  }

  #juzgar(rehecho: bigint): void {
    const ultimo = this.#escritos.findLast(({ lsn }) => lsn <= rehecho)
    const ahora = this.#ahora()
    this.#escritos = this.#escritos.filter((uno) => uno === ultimo || uno.en > ahora - 2 * ATRASO)
    // After the check, the delay grows at most as fast as time passes. The replica may therefore be read until its
    // delay could reach `ATRASO`.
    this.#sirve_hasta = ultimo ? ultimo.en + ATRASO : Number.NEGATIVE_INFINITY
  }

  #descansar(err: unknown): void {
    this.#log.warn({ err }, 'replica failed, reading from the primary')
    this.#sirve_hasta = Number.NEGATIVE_INFINITY
    this.#descansa_hasta = this.#ahora() + DESCANSO
  }
}
