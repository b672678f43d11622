import { randomUUID } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import type { Db } from '../../data/db.ts'
import { sleep, type Timers } from '../../platform/time/timers.ts'
import { findOrphans, heartbeat, LEASE_QUEUE, type LeaseRecord, recordLeases } from './pumps.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** Interval between two heartbeats of the process, in milliseconds. */
const LATIDO = 4_000
/**
 * Maximum age of the last heartbeat, in milliseconds, at which an exchange may begin. An exchange takes 15 s at most,
 * so it ends before the lease does. An old holder and a new holder therefore never overlap.
 */
const CONFIANZA = 10_000
/** Time for which this process assumes that another process holds an endpoint, in milliseconds. */
const RECUERDO = 2_000
/** Maximum number of leases of a process. */
const MAXIMO = 40_000
/**
 * Number of leases that a process claims without pauses. Above this number, the process claims {@link TOMA} leases and
 * then waits for {@link ENTRE_TOMAS}. Processes with fewer leases are therefore quicker to claim.
 */
const SIN_PAUSA = 4_000
/** Pause between two claims, in milliseconds. */
const ENTRE_TOMAS = 100
/** Maximum number of leases in one claim. */
const TOMA = 200
/**
 * Maximum number of leases in one statement that records leases, renews the heartbeats of pg-boss or releases leases.
 */
const POR_SENTENCIA = 2_000
/** Fraction of the heartbeat period of pg-boss after which the heartbeat is renewed. */
const PARTE_DEL_PLAZO = 1 / 3

const claimOf = ({ id, retryCount }: LeaseRecord) => `${id} ${retryCount}`

/** Lease of an endpoint that this process holds. */
export class Lease {
  readonly key: ClaveDeWebhook
  /** Claim on the job of the lease. A later claim belongs to another process. */
  readonly jobId: LeaseRecord
  /** Time when the last confirmed heartbeat was sent, in milliseconds of the process's clock. */
  latido: number
  /**
   * True once the lease is recorded and lives by the heartbeat of the process. Before that, the lease lives by its
   * claim alone.
   */
  anotado = false
  /** Milliseconds after the last renewal at which pg-boss gives up the job. */
  readonly deadline: number
  /** Time of the last renewal in pg-boss, in milliseconds of the process's clock. */
  renewed: number

  constructor(clave: ClaveDeWebhook, trabajo: LeaseRecord, latido: number, plazo = Number.POSITIVE_INFINITY) {
    this.key = clave
    this.jobId = trabajo
    this.latido = latido
    this.deadline = plazo
    this.renewed = latido
  }

  /** Returns true if an exchange that begins now ends within the lease. */
  isValid(ahora: number): boolean {
    return ahora - this.latido < CONFIANZA
  }
}

interface Oyente {
  /** Called with endpoints of which this process has just got the leases. */
  alTomar: (arriendos: readonly Lease[]) => void
  /** Called with a lease that another process may hold by now. */
  alPerder: (arriendo: Lease) => void
  /** Called with endpoints that this process asked for and that another process holds. */
  alNoTomar: (claves: readonly ClaveDeWebhook[]) => void
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
  readonly #db: Pick<Db, 'consultar'>
  readonly #timers: Timers
  readonly #oyente: Oyente
  /** Id of this process in `webhook_bomba`. A heartbeat creates a new id if the process holds no recorded lease. */
  #bomba = ''
  readonly #suyos = new Map<string, Lease>()
  readonly #pedidos = new Map<string, { clave: ClaveDeWebhook; deOtro: boolean }>()
  /** Endpoints that another process held at the latest request, with the time until which this process assumes so. */
  readonly #ajenos = new Map<string, number>()
  #tomando: Promise<void> | undefined
  #otra = false
  #soltando: Promise<void> = Promise.resolve()
  /** Claims that were given up and whose jobs may still exist. */
  readonly #porBorrar = new Set<LeaseRecord>()
  #cerrado = false
  #ultimoLatido = Number.NEGATIVE_INFINITY
  #latiendo = false

  /** @param db database sessions whose commits do not wait for the disk */
  constructor(boss: PgBoss, db: Pick<Db, 'consultar'>, timers: Timers, oyente: Oyente) {
    this.#boss = boss
    this.#db = db
    this.#timers = timers
    this.#oyente = oyente
  }

  /** Returns the leases in the order in which they were claimed. */
  all(): Lease[] {
    return [...this.#suyos.values()]
  }

  /**
   * Requests an endpoint for the next {@link take}.
   * @param deOtro true if another process announced the work; the process that holds the endpoint got the same
   * announcement
   */
  request(clave: ClaveDeWebhook, deOtro: boolean): void {
    const { webhook } = clave
    if (this.#suyos.has(webhook)) return
    if (deOtro && (this.#ajenos.get(webhook) ?? 0) > this.#timers.now()) return
    this.#pedidos.set(webhook, { clave, deOtro: deOtro && (this.#pedidos.get(webhook)?.deOtro ?? true) })
  }

  /**
   * Claims the requested endpoints, and all others that no process holds. A call during a claim starts another claim
   * after it.
   */
  take(): Promise<void> {
    if (this.#tomando) this.#otra = true
    this.#tomando ??= this.#tomarTodo().finally(() => {
      this.#tomando = undefined
    })
    return this.#tomando
  }

  async #tomarTodo(): Promise<void> {
    do {
      this.#otra = false
      const pedidos = [...this.#pedidos.values()].filter(({ clave }) => !this.#suyos.has(clave.webhook))
      this.#pedidos.clear()
      // The job of an endpoint that is being given up still exists and would prevent a new job.
      await this.#soltando
      await this.#encolar(pedidos.map(({ clave }) => clave))
      while (!this.#cerrado && this.#suyos.size < MAXIMO && (await this.#reclamar()) === TOMA)
        if (this.#suyos.size >= SIN_PAUSA) await sleep(this.#timers, ENTRE_TOMAS)
      this.#recordarAjenos(pedidos.filter(({ clave }) => !this.#suyos.has(clave.webhook)))
    } while (this.#otra && !this.#cerrado)
  }

  #recordarAjenos(ajenos: readonly { clave: ClaveDeWebhook; deOtro: boolean }[]): void {
    const ahora = this.#timers.now()
    for (const [webhook, hasta] of this.#ajenos) if (hasta < ahora) this.#ajenos.delete(webhook)
    for (const { clave } of ajenos) this.#ajenos.set(clave.webhook, ahora + RECUERDO)
    const propios = ajenos.filter(({ deOtro }) => !deOtro).map(({ clave }) => clave)
    if (propios.length > 0) this.#oyente.alNoTomar(propios)
  }

  /** Creates the jobs of endpoints. The queue allows no second job for an endpoint, waiting or held. */
  async #encolar(claves: readonly ClaveDeWebhook[]): Promise<void> {
    if (claves.length === 0 || this.#cerrado) return
    const trabajos = claves.map(({ comercio_id, modo, webhook }) => ({
      data: { comercio_id, modo, webhook },
      singletonKey: webhook,
    }))
    await this.#boss.insert(LEASE_QUEUE, trabajos, { returnId: false })
  }

  async #reclamar(): Promise<number> {
    const latido = this.#timers.now()
    const trabajos = await this.#boss.fetch<ClaveDeWebhook>(LEASE_QUEUE, { batchSize: TOMA })
    const nuevos = trabajos.map(
      ({ id, retryCount, data, heartbeatSeconds }) =>
        new Lease(data, { id, retryCount }, latido, heartbeatSeconds ? heartbeatSeconds * 1_000 : undefined),
    )
    // A process that was declared dead may claim its own endpoint again before a heartbeat tells that it lost it.
    this.#perder(nuevos.flatMap(({ key }) => this.#suyos.get(key.webhook) ?? []))
    for (const arriendo of nuevos) this.#suyos.set(arriendo.key.webhook, arriendo)
    if (nuevos.length > 0) this.#oyente.alTomar(nuevos)
    return trabajos.length
  }

  /** Sends the heartbeat of the process if it is due. A lease that the heartbeat does not confirm is lost. */
  async beat(ahora: number): Promise<void> {
    if (this.#latiendo || this.#suyos.size === 0 || ahora - this.#ultimoLatido < LATIDO) return
    this.#latiendo = true
    this.#ultimoLatido = ahora
    try {
      await this.#confirmar(ahora)
    } finally {
      this.#latiendo = false
    }
  }

  async #confirmar(ahora: number): Promise<void> {
    const anotados = this.all().filter(({ anotado }) => anotado)
    const nueva = anotados.length === 0
    if (nueva) this.#bomba = randomUUID()
    const perdidos = await heartbeat(this.#db, this.#bomba, nueva)
    // Another process has declared this process dead. Leases that live by their claim are recorded at the next
    // heartbeat.
    if (!perdidos) return this.#perder(anotados)
    const idos = new Set(perdidos.map(claimOf))
    const seFue = ({ jobId }: Lease) => idos.size > 0 && idos.has(claimOf(jobId))
    for (const arriendo of anotados) if (!seFue(arriendo)) arriendo.latido = ahora
    this.#perder(anotados.filter(seFue))
    await this.#anotar(ahora)
    await this.#renovar(ahora)
    if (this.#porBorrar.size > 0) await this.#borrar([])
  }

  /** Records the leases that are not yet recorded for this process. Until then, a lease expires with its claim. */
  async #anotar(ahora: number): Promise<void> {
    const nuevos = this.all().filter(({ anotado }) => !anotado)
    for (let desde = 0; desde < nuevos.length; desde += POR_SENTENCIA) {
      const unos = nuevos.slice(desde, desde + POR_SENTENCIA)
      const tomas = unos.map(({ jobId }) => jobId)
      const hechas = new Set(await recordLeases(this.#db, this.#bomba, tomas))
      // While a lease close to its end was recorded, another process may have taken it.
      const aTiempo = unos.filter((uno) => hechas.has(uno.jobId.id) && uno.isValid(this.#timers.now()))
      for (const arriendo of aTiempo) {
        arriendo.anotado = true
        arriendo.latido = ahora
      }
      const demas = unos.filter(({ anotado }) => !anotado)
      this.#perder(demas)
      await this.#borrar(demas)
    }
  }

  /** Renews the heartbeats of pg-boss; the heartbeats that expire first are renewed first. */
  async #renovar(ahora: number): Promise<void> {
    const unos = this.all()
      .filter(({ renewed, deadline }) => ahora - renewed > PARTE_DEL_PLAZO * deadline)
      .sort((a, b) => a.renewed + a.deadline - (b.renewed + b.deadline))
      .slice(0, POR_SENTENCIA)
    if (unos.length === 0) return
    // pg-boss returns the renewed jobs, although its types do not say so.
    const { settled } = (await this.#boss.touch(
      LEASE_QUEUE,
      unos.map(({ jobId }) => jobId),
    )) as { settled?: string[] }
    if (!settled) throw new Error('pg-boss touch() returned no list of renewed jobs')
    const vivos = new Set(settled)
    for (const arriendo of unos) if (vivos.has(arriendo.jobId.id)) arriendo.renewed = ahora
    this.#perder(unos.filter(({ jobId }) => !vivos.has(jobId.id)))
  }

  #perder(arriendos: readonly Lease[]): void {
    for (const arriendo of arriendos) {
      if (this.#suyos.get(arriendo.key.webhook) !== arriendo) continue
      this.#suyos.delete(arriendo.key.webhook)
      this.#oyente.alPerder(arriendo)
    }
  }

  /**
   * Returns the leases of dead processes to the queue, unless a process did so within the last seconds.
   * @returns the number of leases
   */
  async rescue(): Promise<number> {
    const huerfanas = await findOrphans(this.#db)
    for (let desde = 0; desde < huerfanas.length; desde += POR_SENTENCIA)
      await this.#boss.fail(LEASE_QUEUE, huerfanas.slice(desde, desde + POR_SENTENCIA), {
        message: 'process lost',
      })
    return huerfanas.length
  }

  /** Gives up leases. */
  async release(arriendos: readonly Lease[]): Promise<void> {
    if (arriendos.length === 0) return
    for (const { key } of arriendos) this.#suyos.delete(key.webhook)
    await this.#borrar(arriendos)
  }

  /**
   * Deletes jobs, including the jobs that could not be deleted before. A job that stays recorded for this process would
   * never be free for another process.
   */
  async #borrar(arriendos: readonly Lease[]): Promise<void> {
    for (const { jobId } of arriendos) this.#porBorrar.add(jobId)
    const soltando = this.#soltando.then(async () => {
      while (this.#porBorrar.size > 0) {
        const unas = [...this.#porBorrar].slice(0, POR_SENTENCIA)
        await this.#boss.deleteJob(LEASE_QUEUE, unas)
        for (const una of unas) this.#porBorrar.delete(una)
      }
    })
    this.#soltando = soltando.then(
      () => {},
      () => {},
    )
    await soltando
  }

  /** Stops claiming endpoints, and waits until a claim in progress ends. */
  async close(): Promise<void> {
    this.#cerrado = true
    await this.#tomando?.catch(() => {})
  }
}
