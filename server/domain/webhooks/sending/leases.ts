import { randomUUID } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import type { Db } from '../../../data/db.ts'
import { sleep, type Timers } from '../../../platform/time/timers.ts'
import type { ClaveDeWebhook } from '../../records/webhookKey.ts'
import { findOrphans, heartbeat, LEASE_QUEUE, type LeaseRecord, recordLeases } from './leaseRecords.ts'

/** Interval between two heartbeats of the process, in milliseconds. */
const HEARTBEAT_INTERVAL_MS = 4_000
/**
 * Maximum age of the last heartbeat, in milliseconds, at which an exchange may begin. An exchange takes 15 s at most,
 * so it ends before the lease does. An old holder and a new holder therefore never overlap.
 */
const MAX_HEARTBEAT_AGE_MS = 10_000
/** Time for which this process assumes that another process holds an endpoint, in milliseconds. */
const FOREIGN_HOLD_MS = 2_000
/** Maximum number of leases of a process. */
const MAX_LEASES = 40_000
/**
 * Number of leases that a process claims without pauses. Above this number, the process claims {@link LEASES_PER_CLAIM} leases and
 * then waits for {@link ENTRE_TOMAS}. Processes with fewer leases are therefore quicker to claim.
 */
const LEASES_WITHOUT_PAUSE = 4_000
/** Pause between two claims, in milliseconds. */
const ENTRE_TOMAS = 100
/** Maximum number of leases in one claim. */
const LEASES_PER_CLAIM = 200
/**
 * Maximum number of leases in one statement that records leases, renews the heartbeats of pg-boss or releases leases.
 */
const LEASES_PER_STATEMENT = 2_000
/** Fraction of the heartbeat period of pg-boss after which the heartbeat is renewed. */
const RENEWAL_FRACTION = 1 / 3

const claimOf = ({ id, retryCount }: LeaseRecord) => `${id} ${retryCount}`

/** Lease of an endpoint that this process holds. */
export class Lease {
  readonly key: ClaveDeWebhook
  /** Claim on the job of the lease. A later claim belongs to another process. */
  readonly claim: LeaseRecord
  /** Time when the last confirmed heartbeat was sent, in milliseconds of the process's clock. */
  heartbeatAt: number
  /**
   * True once the lease is recorded and lives by the heartbeat of the process. Before that, the lease lives by its
   * claim alone.
   */
  recorded = false
  /** Milliseconds after the last renewal at which pg-boss gives up the job. */
  readonly timeoutMs: number
  /** Time of the last renewal in pg-boss, in milliseconds of the process's clock. */
  renewedAt: number

  constructor(key: ClaveDeWebhook, job: LeaseRecord, heartbeatAt: number, timeoutMs = Number.POSITIVE_INFINITY) {
    this.key = key
    this.claim = job
    this.heartbeatAt = heartbeatAt
    this.timeoutMs = timeoutMs
    this.renewedAt = heartbeatAt
  }

  /** Returns true if an exchange that begins now ends within the lease. */
  isValid(now: number): boolean {
    return now - this.heartbeatAt < MAX_HEARTBEAT_AGE_MS
  }
}

interface LeaseListener {
  /** Called with endpoints of which this process has just got the leases. */
  onTaken: (leases: readonly Lease[]) => void
  /** Called with a lease that another process may hold by now. */
  onLost: (lease: Lease) => void
  /** Called with endpoints that this process asked for and that another process holds. */
  onNotTaken: (keys: readonly ClaveDeWebhook[]) => void
}

/**
 * Leases of the endpoints that this process holds. Each lease is a job of an exclusive queue, with one job for each
 * endpoint, waiting or held. The process that holds the job sends all deliveries of the endpoint, so two processes
 * never send the same delivery. Within seconds, a lease is recorded as a lease of this process. It then lives as long
 * as the process sends its own heartbeat, which is one row for any number of leases. The heartbeat of pg-boss is long
 * and rarely renewed. It is for versions of the service that do not know `webhook_bomba`.
 */
export class Leases {
  readonly #boss: PgBoss
  readonly #db: Pick<Db, 'query'>
  readonly #timers: Timers
  readonly #listener: LeaseListener
  /** Id of this process in `webhook_bomba`. A heartbeat creates a new id if the process holds no recorded lease. */
  #pumpId = ''
  readonly #held = new Map<string, Lease>()
  readonly #requested = new Map<string, { clave: ClaveDeWebhook; fromOther: boolean }>()
  /** Endpoints that another process held at the latest request, with the time until which this process assumes so. */
  readonly #foreignUntil = new Map<string, number>()
  #taking: Promise<void> | undefined
  #takeAgain = false
  #releasing: Promise<void> = Promise.resolve()
  /** Claims that were given up and whose jobs may still exist. */
  readonly #toDelete = new Set<LeaseRecord>()
  #closed = false
  #lastBeatAt = Number.NEGATIVE_INFINITY
  #beating = false

  /** @param db database sessions whose commits do not wait for the disk */
  constructor(boss: PgBoss, db: Pick<Db, 'query'>, timers: Timers, listener: LeaseListener) {
    this.#boss = boss
    this.#db = db
    this.#timers = timers
    this.#listener = listener
  }

  /** Returns the leases in the order in which they were claimed. */
  all(): Lease[] {
    return [...this.#held.values()]
  }

  /**
   * Requests an endpoint for the next {@link take}.
   * @param fromOther true if another process announced the work; the process that holds the endpoint got the same
   * announcement
   */
  request(clave: ClaveDeWebhook, fromOther: boolean): void {
    const { webhook } = clave
    if (this.#held.has(webhook)) return
    if (fromOther && (this.#foreignUntil.get(webhook) ?? 0) > this.#timers.now()) return
    this.#requested.set(webhook, { clave, fromOther: fromOther && (this.#requested.get(webhook)?.fromOther ?? true) })
  }

  /**
   * Claims the requested endpoints, and all others that no process holds. A call during a claim starts another claim
   * after it.
   */
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
      const requested = [...this.#requested.values()].filter(({ clave }) => !this.#held.has(clave.webhook))
      this.#requested.clear()
      // The job of an endpoint that is being given up still exists and would prevent a new job.
      await this.#releasing
      await this.#enqueue(requested.map(({ clave }) => clave))
      while (!this.#closed && this.#held.size < MAX_LEASES && (await this.#claim()) === LEASES_PER_CLAIM)
        if (this.#held.size >= LEASES_WITHOUT_PAUSE) await sleep(this.#timers, ENTRE_TOMAS)
      this.#rememberForeign(requested.filter(({ clave }) => !this.#held.has(clave.webhook)))
    } while (this.#takeAgain && !this.#closed)
  }

  #rememberForeign(foreign: readonly { clave: ClaveDeWebhook; fromOther: boolean }[]): void {
    const now = this.#timers.now()
    for (const [webhook, until] of this.#foreignUntil) if (until < now) this.#foreignUntil.delete(webhook)
    for (const { clave } of foreign) this.#foreignUntil.set(clave.webhook, now + FOREIGN_HOLD_MS)
    const keysToSignal = foreign.filter(({ fromOther }) => !fromOther).map(({ clave }) => clave)
    if (keysToSignal.length > 0) this.#listener.onNotTaken(keysToSignal)
  }

  /** Creates the jobs of endpoints. The queue allows no second job for an endpoint, waiting or held. */
  async #enqueue(keys: readonly ClaveDeWebhook[]): Promise<void> {
    if (keys.length === 0 || this.#closed) return
    const jobs = keys.map(({ comercio_id, modo, webhook }) => ({
      data: { comercio_id, modo, webhook },
      singletonKey: webhook,
    }))
    await this.#boss.insert(LEASE_QUEUE, jobs, { returnId: false })
  }

  async #claim(): Promise<number> {
    const heartbeatAt = this.#timers.now()
    const jobs = await this.#boss.fetch<ClaveDeWebhook>(LEASE_QUEUE, { batchSize: LEASES_PER_CLAIM })
    const newLeases = jobs.map(
      ({ id, retryCount, data, heartbeatSeconds }) =>
        new Lease(data, { id, retryCount }, heartbeatAt, heartbeatSeconds ? heartbeatSeconds * 1_000 : undefined),
    )
    // A process that was declared dead may claim its own endpoint again before a heartbeat tells that it lost it.
    this.#lose(newLeases.flatMap(({ key }) => this.#held.get(key.webhook) ?? []))
    for (const lease of newLeases) this.#held.set(lease.key.webhook, lease)
    if (newLeases.length > 0) this.#listener.onTaken(newLeases)
    return jobs.length
  }

  /** Sends the heartbeat of the process if it is due. A lease that the heartbeat does not confirm is lost. */
  async beat(now: number): Promise<void> {
    if (this.#beating || this.#held.size === 0 || now - this.#lastBeatAt < HEARTBEAT_INTERVAL_MS) return
    this.#beating = true
    this.#lastBeatAt = now
    try {
      await this.#confirm(now)
    } finally {
      this.#beating = false
    }
  }

  async #confirm(now: number): Promise<void> {
    const recordedLeases = this.all().filter(({ recorded }) => recorded)
    const isNewPump = recordedLeases.length === 0
    if (isNewPump) this.#pumpId = randomUUID()
    const lostRecords = await heartbeat(this.#db, this.#pumpId, isNewPump)
    // Another process has declared this process dead. Leases that live by their claim are recorded at the next
    // heartbeat.
    if (!lostRecords) return this.#lose(recordedLeases)
    const lostClaims = new Set(lostRecords.map(claimOf))
    const isLost = ({ claim }: Lease) => lostClaims.size > 0 && lostClaims.has(claimOf(claim))
    for (const lease of recordedLeases) if (!isLost(lease)) lease.heartbeatAt = now
    this.#lose(recordedLeases.filter(isLost))
    await this.#record(now)
    await this.#renew(now)
    if (this.#toDelete.size > 0) await this.#delete([])
  }

  /** Records the leases that are not yet recorded for this process. Until then, a lease expires with its claim. */
  async #record(now: number): Promise<void> {
    const newLeases = this.all().filter(({ recorded }) => !recorded)
    for (let from = 0; from < newLeases.length; from += LEASES_PER_STATEMENT) {
      const batch = newLeases.slice(from, from + LEASES_PER_STATEMENT)
      const tomas = batch.map(({ claim }) => claim)
      const recordedIds = new Set(await recordLeases(this.#db, this.#pumpId, tomas))
      // While a lease close to its end was recorded, another process may have taken it.
      const inTime = batch.filter((lease) => recordedIds.has(lease.claim.id) && lease.isValid(this.#timers.now()))
      for (const lease of inTime) {
        lease.recorded = true
        lease.heartbeatAt = now
      }
      const unrecorded = batch.filter(({ recorded }) => !recorded)
      this.#lose(unrecorded)
      await this.#delete(unrecorded)
    }
  }

  /** Renews the heartbeats of pg-boss; the heartbeats that expire first are renewed first. */
  async #renew(now: number): Promise<void> {
    const batch = this.all()
      .filter(({ renewedAt, timeoutMs }) => now - renewedAt > RENEWAL_FRACTION * timeoutMs)
      .sort((a, b) => a.renewedAt + a.timeoutMs - (b.renewedAt + b.timeoutMs))
      .slice(0, LEASES_PER_STATEMENT)
    if (batch.length === 0) return
    // pg-boss returns the renewed jobs, although its types do not say so.
    const { settled } = (await this.#boss.touch(
      LEASE_QUEUE,
      batch.map(({ claim }) => claim),
    )) as { settled?: string[] }
    if (!settled) throw new Error('pg-boss touch() returned no list of renewed jobs')
    const aliveIds = new Set(settled)
    for (const lease of batch) if (aliveIds.has(lease.claim.id)) lease.renewedAt = now
    this.#lose(batch.filter(({ claim }) => !aliveIds.has(claim.id)))
  }

  #lose(leases: readonly Lease[]): void {
    for (const lease of leases) {
      if (this.#held.get(lease.key.webhook) !== lease) continue
      this.#held.delete(lease.key.webhook)
      this.#listener.onLost(lease)
    }
  }

  /**
   * Returns the leases of dead processes to the queue, unless a process did so within the last seconds.
   * @returns the number of leases
   */
  async rescue(): Promise<number> {
    const orphans = await findOrphans(this.#db)
    for (let from = 0; from < orphans.length; from += LEASES_PER_STATEMENT)
      await this.#boss.fail(LEASE_QUEUE, orphans.slice(from, from + LEASES_PER_STATEMENT), {
        message: 'process lost',
      })
    return orphans.length
  }

  /** Gives up leases. */
  async release(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    for (const { key } of leases) this.#held.delete(key.webhook)
    await this.#delete(leases)
  }

  /**
   * Deletes jobs, including the jobs that could not be deleted before. A job that stays recorded for this process would
   * never be free for another process.
   */
  async #delete(leases: readonly Lease[]): Promise<void> {
    for (const { claim } of leases) this.#toDelete.add(claim)
    const deletion = this.#releasing.then(async () => {
      while (this.#toDelete.size > 0) {
        const claims = [...this.#toDelete].slice(0, LEASES_PER_STATEMENT)
        await this.#boss.deleteJob(LEASE_QUEUE, claims)
        for (const claim of claims) this.#toDelete.delete(claim)
      }
    })
    this.#releasing = deletion.then(
      () => {},
      () => {},
    )
    await deletion
  }

  /** Stops claiming endpoints, and waits until a claim in progress ends. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#taking?.catch(() => {})
  }
}
