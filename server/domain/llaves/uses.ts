import { type Db, statement } from '../../data/db.ts'
import type { Log } from '../../platform/log.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import { expiresSoon, type LlaveRow } from '../identities/llave.ts'

/**
 * Minimum time between two stored uses of a key (`INTERVAL_MS`), and time for which uses are collected before they are written
 * (`DELAY_MS`), both in milliseconds.
 */
const INTERVAL_MS = MINUTE_MS
const DELAY_MS = 1_000

const RECORD = statement<{ ids: readonly string[]; instants: readonly Date[] }>(
  'llaves.record',
  'central',
  `update llave l set usado_en = u.usado_en
   from unnest(:ids::text[], :instants::timestamptz[]) as u(id, usado_en)
   where l.id = u.id and (l.usado_en is null or u.usado_en - l.usado_en >= interval '${INTERVAL_MS / 1_000} seconds')`,
)

/**
 * Stores when keys were last used, and logs keys that are used although they expire soon. `record` is called when a
 * key's row was read, at most every 0.4 s. Requests do not wait for the write, and the check itself needs no query.
 */
export class LlaveUses {
  readonly #db: Pick<Db, 'query'>
  readonly #log: Log
  readonly #pending = new Map<string, Date>()
  readonly #warned = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(db: Pick<Db, 'query'>, log: Log) {
    this.#db = db
    this.#log = log
  }

  /**
   * Notes a use of a key for the next write. Logs a warning, once for each key and process, if the key expires within
   * seven days.
   */
  record({ id, dueno, vence_en, usado_en }: Pick<LlaveRow, 'id' | 'dueno' | 'vence_en' | 'usado_en'>, now: Date): void {
    if (expiresSoon(vence_en, now) && !this.#warned.has(id)) {
      this.#warned.add(id)
      this.#log.warn({ llave: `llave_${id}`, dueno, vence_en }, 'key ends soon')
    }
    if (usado_en && Math.abs(now.getTime() - usado_en.getTime()) < INTERVAL_MS) return
    this.#pending.set(id, now)
    this.#timer ??= setTimeout(() => void this.write(), DELAY_MS).unref()
  }

  /**
   * Writes the collected uses. Uses that cannot be written are lost, but the next use of the key stores nearly the same
   * time.
   */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending.size === 0) return
    const uses = [...this.#pending].sort(([a], [b]) => (a < b ? -1 : 1))
    this.#pending.clear()
    const values = { ids: uses.map(([id]) => id), instants: uses.map(([, instant]) => instant) }
    await this.#db.query(RECORD, values).catch((err: unknown) => this.#log.warn({ err }, 'key uses lost'))
  }
}
