import type { LookUp } from '../../api/http/identity.ts'
import { translateError } from '../../platform/errors.ts'

/**
 * Milliseconds for which a row from the database is valid, counted from the start of its query. A revocation takes
 * effect everywhere in less than 1 s, counted from its own timestamp. The timestamp is some time before the commit.
 */
const LIFETIME_MS = 500
/** Milliseconds between two rounds, each of which reads the texts in use again. */
const ROUND_MS = 400
/**
 * Milliseconds for which a text is in use after a request presented it. Reading five rows together with others costs
 * less than reading a row alone.
 */
const USE_MS = 2_000
/** Maximum number of cached texts, separately for texts with a row and for texts without a row. */
const MAX_TEXTS = 10_000

/** Result of one query for the row that belongs to the text of a credential. */
interface ReadEntry<Row> {
  /** Start of the query, in milliseconds; minus infinity if the query failed. */
  desde: number
  /** Start of the last successful query, in milliseconds; before `desde` if the last query failed. */
  confirmedAt: number
  row: Promise<Row | undefined>
  /**
   * Time until which the text is in use. If a request presented the text since this query, the next round extends the
   * time.
   */
  inUseUntil: number
  /** True if a request presented the text since this query. */
  requested: boolean
  /**
   * Result of the next query for the same text, which a round has started. It replaces this result when the query
   * succeeds.
   */
  next?: ReadEntry<Row> | undefined
}

/**
 * Returns the function that reads a text's row. Returns undefined for a text that cannot be a credential; such a text
 * is not cached. Calls that begin together should share a statement.
 * @param requested true if a request presented the text since the last query
 */
type Find<Row> = (text: string) => ((requested: boolean) => Promise<Row | undefined>) | undefined

/** Calls a function after some milliseconds. The process does not wait for the call before it exits. */
type Delay = (perform: () => void, ms: number) => void
const unreferencedTimeout: Delay = (perform, ms) => void setTimeout(perform, ms).unref()

/**
 * Cache of the rows that belong to the texts of credentials, so that a request computes no digest. Concurrent requests
 * share a read, and a failed read is not cached. Rounds read all texts in use again, together, before their rows are
 * too old. No request waits for a round, and a thousand keys cost a few statements a second. The rounds end when no
 * requests come.
 *
 * Texts without a row are cached separately. However many of these texts come, they evict no text with a row.
 */
export class RowCache<Row> {
  readonly #now: () => number
  readonly #find: Find<Row>
  readonly #graceMs: number
  readonly #delay: Delay
  readonly #known = new Map<string, ReadEntry<Row>>()
  readonly #unknown = new Map<string, ReadEntry<Row>>()
  /** Texts with a row that the next round examines. */
  readonly #inUse = new Set<string>()
  /** True while a next round is scheduled. */
  #isScheduled = false

  /**
   * @param now monotonic clock, in milliseconds
   * @param graceMs milliseconds for which the last row read stays valid while the database is unavailable
   * @param delay schedules the rounds
   */
  constructor(now: () => number, find: Find<Row>, graceMs = 0, delay = unreferencedTimeout) {
    this.#now = now
    this.#find = find
    this.#graceMs = graceMs
    this.#delay = delay
  }

  /** Reports whether a text had a row when it was last read. */
  knows(text: string): boolean {
    return this.#known.has(text)
  }

  /**
   * Returns the row of a text, from the cache or from the database; undefined if the text has no row.
   * @param lookUp wraps the look-up of a text that is not known to have a row, and may refuse the look-up
   */
  read(text: string, lookUp: LookUp): Promise<Row | undefined> | undefined {
    const now = this.#now()
    const knownEntry = this.#known.get(text)
    const entry = knownEntry ?? this.#unknown.get(text)
    if (entry) {
      entry.requested = true
      if (vale(entry, now)) return entry.row
      if (entry.next && vale(entry.next, now)) return entry.next.row
    }
    const read = this.#find(text)
    if (!read) return undefined
    const newEntry: ReadEntry<Row> = {
      desde: now,
      confirmedAt: now,
      row: undefined!,
      inUseUntil: now + USE_MS,
      requested: false,
    }
    const row = knownEntry
      ? read(true).catch((error: unknown) => this.#keepPrevious(knownEntry, newEntry, error))
      : lookUp(() => read(true))
    newEntry.row = row
    putEntry(knownEntry ? this.#known : this.#unknown, text, newEntry)
    row.then(
      (foundRow) => this.#settle(text, newEntry, foundRow),
      () => {
        newEntry.desde = Number.NEGATIVE_INFINITY
      },
    )
    return row
  }

  /**
   * Returns the previous row if the database is unavailable and the row is not older than `graceMs`; else throws the
   * error.
   */
  #keepPrevious(knownEntry: ReadEntry<Row>, newEntry: ReadEntry<Row>, error: unknown): Promise<Row | undefined> {
    if (this.#now() - knownEntry.confirmedAt >= this.#graceMs || translateError(error).codigo !== 'no_disponible')
      throw error
    newEntry.confirmedAt = knownEntry.confirmedAt
    return knownEntry.row
  }

  /** Reads the rows of all texts in use again, except rows that stay valid until the next round. */
  #runRound(): void {
    const now = this.#now()
    for (const text of this.#inUse) {
      const entry = this.#known.get(text)
      if (entry?.requested) entry.inUseUntil = now + USE_MS
      if (!entry || entry.inUseUntil <= now) this.#inUse.delete(text)
      else if (!entry.next && !vale(entry, now + ROUND_MS)) this.#renew(text, entry, now)
    }
    if (this.#inUse.size > 0) this.#schedule()
  }

  #renew(text: string, entry: ReadEntry<Row>, now: number): void {
    const newEntry: ReadEntry<Row> = {
      desde: now,
      confirmedAt: now,
      row: undefined!,
      inUseUntil: entry.inUseUntil,
      requested: false,
    }
    const row = this.#find(text)!(entry.requested).catch((error: unknown) => this.#keepPrevious(entry, newEntry, error))
    newEntry.row = row
    entry.requested = false
    entry.next = newEntry
    row.then(
      (foundRow) => {
        if (this.#known.get(text) !== entry) return
        newEntry.requested = entry.requested
        putEntry(this.#known, text, newEntry)
        this.#settle(text, newEntry, foundRow)
      },
      // The previous row stays valid until it is too old. A request then reads the row itself and gets the error.
      () => {
        entry.next = undefined
      },
    )
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#delay(() => {
      this.#isScheduled = false
      this.#runRound()
    }, ROUND_MS)
  }

  /** Moves the result of a query to the cache of texts with a row or to the cache of texts without a row. */
  #settle(text: string, entry: ReadEntry<Row>, foundRow: Row | undefined): void {
    const [de, a] = foundRow ? [this.#unknown, this.#known] : [this.#known, this.#unknown]
    if (de.get(text) === entry) {
      de.delete(text)
      putEntry(a, text, entry)
    }
    if (this.#known.get(text) !== entry) return
    this.#inUse.add(text)
    this.#schedule()
  }
}

/** Reports whether the result of a query is still valid at that time. */
const vale = ({ desde }: ReadEntry<unknown>, now: number) => now - desde < LIFETIME_MS

/** Adds a result as the newest entry, and drops the oldest entry if the cache is full. */
function putEntry<Row>(entries: Map<string, ReadEntry<Row>>, text: string, entry: ReadEntry<Row>): void {
  entries.delete(text)
  if (entries.size >= MAX_TEXTS) entries.delete(entries.keys().next().value!)
  entries.set(text, entry)
}
