import { translateError } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { Connections } from './connections.ts'
import { type Db, type Query, queryWith, statement } from './db.ts'
import { readLsn } from './lsn.ts'

/** Reads from the database or from a replica of it. */
export interface ReadDb {
  /** Runs a query. The rows may be up to five seconds old. */
  readonly query: Query
}

/** Maximum delay of a replica that is read, in milliseconds. */
const MAX_DELAY_MS = 5_000
/** Time for which a check of the replica is valid, in milliseconds. */
const CHECK_TTL_MS = 1_000
/** Time for which a failed replica is not read, in milliseconds. */
const FAILURE_REST_MS = 5_000

/** Query for the database's present position in its write-ahead log (WAL). */
const WRITTEN_POSITION = statement<object, { lsn: string }>(
  'replica.writtenPosition',
  'central',
  'select pg_current_wal_lsn()::text as lsn',
)
/** Query for the position that a replica has replayed. A server that is no replica has replayed everything. */
const REPLAYED_POSITION = statement<object, { lsn: string }>(
  'replica.replayedPosition',
  'central',
  'select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end)::text as lsn',
)

/**
 * Streaming replica that is read while its delay is small. A query starts a check of the delay, in the background and
 * once a second at most. The check compares the position that the replica has replayed with positions that the database
 * had written at known times. The delay is therefore right even if the servers' clocks differ, or if little is written.
 */
export class Replica implements ReadDb {
  readonly #primary: Db
  readonly #queryReplica: Query
  readonly #log: Log
  readonly #now: () => number
  #writtenPositions: { en: number; lsn: bigint }[] = []
  #checkedAt = Number.NEGATIVE_INFINITY
  #isChecking = false
  /** Time until which the last check allows reads from the replica; in the past before the first check. */
  #usableUntil = Number.NEGATIVE_INFINITY
  #restsUntil = Number.NEGATIVE_INFINITY

  /** @param now monotonic clock, in milliseconds */
  constructor(primary: Db, connections: Connections, log: Log, now = () => performance.now()) {
    this.#primary = primary
    this.#queryReplica = queryWith(connections)
    this.#log = log
    this.#now = now
  }

  readonly query: Query = async (sqlStatement, ...values) => {
    if (!this.#isUsable()) return this.#primary.query(sqlStatement, ...values)
    try {
      return await this.#queryReplica(sqlStatement, ...values)
    } catch (err) {
      if (translateError(err).codigo !== 'no_disponible') throw err
      this.#rest(err)
      return this.#primary.query(sqlStatement, ...values)
    }
  }

  #isUsable(): boolean {
    const now = this.#now()
    if (now < this.#restsUntil) return false
    if (now - this.#checkedAt > CHECK_TTL_MS && !this.#isChecking) void this.#checkDelay()
    return now < this.#usableUntil
  }

  async #checkDelay(): Promise<void> {
    this.#isChecking = true
    this.#checkedAt = this.#now()
    try {
      const en = this.#now()
      const [written] = await this.#primary.query(WRITTEN_POSITION)
      this.#writtenPositions.push({ en, lsn: readLsn(written!.lsn) })
      const [replayed] = await this.#queryReplica(REPLAYED_POSITION)
      this.#judge(readLsn(replayed!.lsn))
    } catch (err) {
      this.#rest(err)
    } finally {
      this.#isChecking = false
    }
  }

  #judge(replayed: bigint): void {
    const last = this.#writtenPositions.findLast(({ lsn }) => lsn <= replayed)
    const now = this.#now()
    this.#writtenPositions = this.#writtenPositions.filter(
      (position) => position === last || position.en > now - 2 * MAX_DELAY_MS,
    )
    // After the check, the delay grows at most as fast as time passes. The replica may therefore be read until its
    // delay could reach `MAX_DELAY_MS`.
    this.#usableUntil = last ? last.en + MAX_DELAY_MS : Number.NEGATIVE_INFINITY
  }

  #rest(err: unknown): void {
    this.#log.warn({ err }, 'replica failed, reading from the primary')
    this.#usableUntil = Number.NEGATIVE_INFINITY
    this.#restsUntil = this.#now() + FAILURE_REST_MS
  }
}
