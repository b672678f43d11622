import { randomUUID } from 'node:crypto'
import { type Db, statement } from '../../../data/db.ts'
import { sleep } from '../../../platform/time/timers.ts'
import type { JobDeps } from '../../deps.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'

// One row says who holds an endpoint, and one row for each process says until when:
//
//     webhook_arriendo           webhook_bomba
//     endpoint ── held by ─────► process ── lives ──► PUMP_LIFE_SECONDS from its last heartbeat
//
// A lease ends when its process releases it, or when its process is dead. Any process deletes the rows of dead processes,
// and all their leases with them. An exchange begins only within MAX_HEARTBEAT_AGE_MS of the last heartbeat and
// takes 15 s at most. It ends before the lease may, so two holders never overlap.

/** Seconds without a heartbeat after which any process may take the endpoints of a process. */
export const PUMP_LIFE_SECONDS = 25
/** Interval between two heartbeats of a process, in milliseconds. */
const HEARTBEAT_INTERVAL_MS = 4_000
/** Maximum age of the last heartbeat, in milliseconds, at which an exchange may begin. */
const MAX_HEARTBEAT_AGE_MS = 10_000
/** Time for which this process assumes that another process holds an endpoint, in milliseconds. */
const FOREIGN_HOLD_MS = 2_000
/** Maximum number of leases of a process. */
const MAX_LEASES = 40_000
/**
 * Number of leases that a process claims without pauses. Above this number, it waits for {@link CLAIM_PAUSE_MS} after each
 * claim. Processes with fewer leases are therefore quicker to claim.
 */
const LEASES_WITHOUT_PAUSE = 4_000
const CLAIM_PAUSE_MS = 100
/** Maximum number of leases in one claim. */
const LEASES_PER_CLAIM = 200
/** Maximum number of leases that one statement releases. */
const LEASES_PER_RELEASE = 2_000

const REGISTER = statement<{ pump: string }>(
  'leases.register',
  'central',
  'insert into webhook_bomba (id, latido_en) values (:pump::uuid, now())',
)

/** Sends the heartbeat of a process. Returns no row if the process was declared dead. */
const BEAT = statement<{ pump: string }, { leases: number }>(
  'leases.beat',
  'central',
  `update webhook_bomba set latido_en = now() where id = :pump::uuid
   returning (select count(*)::int from webhook_arriendo where bomba = :pump::uuid) as leases`,
)

/**
 * Claims the endpoints that no process holds. Claims the process's own leases again: a claim whose answer was lost is
 * found by the next one. Locks the row of the process, so that no other process declares it dead at the same time.
 */
const CLAIM = statement<
  { pump: string; claim: number; webhooks: readonly string[] },
  { isAlive: boolean; claimed: string[] }
>(
  'leases.claim',
  'central',
  `with p as materialized (select id from webhook_bomba where id = :pump::uuid for key share),
   a as (
     insert into webhook_arriendo as held (webhook, bomba, toma)
     select webhook, p.id, :claim::int from p, unnest(:webhooks::text[]) webhook
     on conflict (webhook) do update set toma = excluded.toma where held.bomba = excluded.bomba
     returning webhook
   )
   select exists (select from p) as "isAlive", array(select webhook from a) as claimed`,
)

/** Releases leases by the number of their claim. A release that comes late does not end a later claim. */
const RELEASE = statement<{ pump: string; webhooks: readonly string[]; claims: readonly number[] }>(
  'leases.release',
  'central',
  `delete from webhook_arriendo a using unnest(:webhooks::text[], :claims::int[]) as r(webhook, toma)
   where a.webhook = r.webhook and a.toma = r.toma and a.bomba = :pump::uuid`,
)

/** Deletes the row of a process. The deletion of its leases follows from it. */
const END = statement<{ pump: string }>('leases.end', 'central', 'delete from webhook_bomba where id = :pump::uuid')

/** Deletes dead processes, and so their leases. */
const BURY = statement<object, { leases: number }>(
  'leases.bury',
  'central',
  `with dead as (
     delete from webhook_bomba where latido_en < now() - interval '${PUMP_LIFE_SECONDS} seconds' returning id
   )
   select count(*)::int as leases from webhook_arriendo a join dead on a.bomba = dead.id`,
)

interface LeaseListener {
  /** Called with endpoints of which this process has just got the leases. */
  onTaken: (keys: readonly WebhookKey[]) => void
  /** Called with an endpoint that another process may hold by now. */
  onLost: (webhook: string) => void
  /** Called with endpoints that this process asked for and that another process holds. */
  onNotTaken: (keys: readonly WebhookKey[]) => void
}

interface LeaseRequest {
  key: WebhookKey
  fromOther: boolean
}

/**
 * Leases of the endpoints that this process holds. The process that holds an endpoint sends all its deliveries, so two
 * processes never send the same delivery. One heartbeat serves any number of leases.
 */
export class Leases {
  readonly #db: Pick<Db, 'query'>
  readonly #noWaitDb: Pick<Db, 'query'>
  readonly #timers: JobDeps['timers']
  readonly #listener: LeaseListener
  /** Id of this process in `webhook_bomba`; undefined while it has no row. */
  #pump: string | undefined
  /** Numbers of the claims, by endpoint. */
  readonly #held = new Map<string, number>()
  #claimNumber = 0
  readonly #requested = new Map<string, LeaseRequest>()
  /** Endpoints that another process held at the latest request, with the time until which this process assumes so. */
  readonly #foreignUntil = new Map<string, number>()
  #taking: Promise<void> | undefined
  #takeAgain = false
  #releasing: Promise<void> = Promise.resolve()
  #beating: Promise<void> | undefined
  /** Time when the last confirmed heartbeat was sent, in milliseconds of the process's clock. */
  #heartbeatAt = Number.NEGATIVE_INFINITY
  #lastBeatAt = Number.NEGATIVE_INFINITY
  #closed = false

  /**
   * @param noWaitDb database sessions whose commits do not wait for the disk. Heartbeats use them. A claim does not, because
   * one that a crash undoes would have two holders.
   */
  constructor({ db, noWaitDb, timers }: Pick<JobDeps, 'db' | 'noWaitDb' | 'timers'>, listener: LeaseListener) {
    this.#db = db
    this.#noWaitDb = noWaitDb
    this.#timers = timers
    this.#listener = listener
  }

  /** Returns the endpoints that this process holds. */
  all(): string[] {
    return [...this.#held.keys()]
  }

  /** Returns true if an exchange that begins now ends within the leases of this process. */
  areValid(now: number): boolean {
    return now - this.#heartbeatAt < MAX_HEARTBEAT_AGE_MS
  }

  /**
   * Requests an endpoint for the next {@link take}.
   * @param fromOther true if another process announced the work; the process that holds the endpoint got the same
   * announcement
   */
  request({ comercio_id, modo, webhook }: WebhookKey, fromOther: boolean): void {
    // Callers pass whole rows and deliveries. Only the key is kept.
    const key = { comercio_id, modo, webhook }
    if (this.#held.has(webhook)) return
    if (fromOther && (this.#foreignUntil.get(webhook) ?? 0) > this.#timers.now()) return
    this.#requested.set(webhook, { key, fromOther: fromOther && (this.#requested.get(webhook)?.fromOther ?? true) })
  }

  /** Claims the requested endpoints. A call during a claim starts another claim after it. */
  take(): Promise<void> {
    if (this.#taking) this.#takeAgain = true
    this.#taking ??= this.#takeAll().finally(() => {
      this.#taking = undefined
    })
    return this.#taking
  }

  async #takeAll(): Promise<void> {
    do {
      this.#takeAgain = false
      const requested = [...this.#requested.values()].filter(({ key }) => !this.#held.has(key.webhook))
      this.#requested.clear()
      // An endpoint that is being released still has its row.
      await this.#releasing
      for (let from = 0; from < requested.length && !this.#closed; from += LEASES_PER_CLAIM) {
        if (this.#held.size >= MAX_LEASES) return
        if (this.#held.size >= LEASES_WITHOUT_PAUSE) await sleep(this.#timers, CLAIM_PAUSE_MS)
        await this.#claim(requested.slice(from, from + LEASES_PER_CLAIM))
      }
    } while (this.#takeAgain && !this.#closed)
  }

  async #claim(requested: readonly LeaseRequest[]): Promise<void> {
    await this.beat(this.#timers.now())
    const pump = this.#pump
    if (!pump) return
    const claim = ++this.#claimNumber
    // Two processes that claim the same endpoints lock them in the same order.
    const webhooks = requested.map(({ key }) => key.webhook).sort()
    const [row] = await this.#db.query(CLAIM, { pump, claim, webhooks })
    // The process may have been declared dead during the claim.
    if (pump !== this.#pump) return
    if (!row!.isAlive) return this.#die()
    const claimed = new Set(row!.claimed)
    for (const webhook of claimed) this.#held.set(webhook, claim)
    const taken = requested.filter(({ key }) => claimed.has(key.webhook))
    if (taken.length > 0) this.#listener.onTaken(taken.map(({ key }) => key))
    this.#rememberForeign(requested.filter(({ key }) => !claimed.has(key.webhook)))
  }

  #rememberForeign(foreign: readonly LeaseRequest[]): void {
    const now = this.#timers.now()
    for (const [webhook, until] of this.#foreignUntil) if (until < now) this.#foreignUntil.delete(webhook)
    for (const { key } of foreign) this.#foreignUntil.set(key.webhook, now + FOREIGN_HOLD_MS)
    const keysToSignal = foreign.filter(({ fromOther }) => !fromOther).map(({ key }) => key)
    if (keysToSignal.length > 0) this.#listener.onNotTaken(keysToSignal)
  }

  /** Sends the heartbeat of the process if it is due. The first one, and the first after a death, makes its row. */
  async beat(now: number): Promise<void> {
    if (!this.#beating && now - this.#lastBeatAt >= HEARTBEAT_INTERVAL_MS) {
      this.#lastBeatAt = now
      this.#beating = this.#sendHeartbeat(now).finally(() => {
        this.#beating = undefined
      })
    }
    await this.#beating
  }

  async #sendHeartbeat(now: number): Promise<void> {
    const pump = this.#pump
    if (pump) {
      const held = [...this.#held]
      const [row] = await this.#noWaitDb.query(BEAT, { pump })
      const stillHeld = held.filter(([webhook, claim]) => this.#held.get(webhook) === claim)
      // A database that was restored to an earlier state lacks leases.
      const isComplete = row !== undefined && row.leases >= stillHeld.length
      if (isComplete) {
        this.#heartbeatAt = now
        return
      }
      this.#die()
      await this.#db.query(END, { pump })
    }
    if (this.#closed) return
    const newPump = randomUUID()
    await this.#db.query(REGISTER, { pump: newPump })
    this.#pump = newPump
    this.#heartbeatAt = now
    this.#lastBeatAt = now
  }

  /** Forgets the row of the process, and with it all leases. */
  #die(): void {
    this.#pump = undefined
    this.#heartbeatAt = Number.NEGATIVE_INFINITY
    this.#lastBeatAt = Number.NEGATIVE_INFINITY
    const lost = this.all()
    this.#held.clear()
    for (const webhook of lost) this.#listener.onLost(webhook)
  }

  /** Ends the leases of dead processes. @returns the number of leases */
  async bury(): Promise<number> {
    const [row] = await this.#db.query(BURY)
    return row!.leases
  }

  /** Releases endpoints. If that fails, their next claim by this process finds them. */
  async release(webhooks: readonly string[]): Promise<void> {
    const pump = this.#pump
    const leases = webhooks.flatMap((webhook) => {
      const claim = this.#held.get(webhook)
      return claim === undefined ? [] : [{ webhook, claim }]
    })
    if (!pump || leases.length === 0) return
    for (const { webhook } of leases) this.#held.delete(webhook)
    const release = this.#releasing.then(async () => {
      for (let from = 0; from < leases.length; from += LEASES_PER_RELEASE) {
        const batch = leases.slice(from, from + LEASES_PER_RELEASE)
        const claims = batch.map(({ claim }) => claim)
        await this.#db.query(RELEASE, { pump, webhooks: batch.map(({ webhook }) => webhook), claims })
      }
    })
    this.#releasing = release.catch(() => {})
    await release
  }

  /** Stops claiming endpoints, and waits until a claim in progress ends. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#taking?.catch(() => {})
  }

  /** Ends all leases. To be called after {@link close}. */
  async end(): Promise<void> {
    const pump = this.#pump
    this.#die()
    if (pump) await this.#db.query(END, { pump })
  }
}
