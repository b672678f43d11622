import type { PgBoss } from 'pg-boss'
import { byPart } from '../../data/spread.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import type { Admission } from './admission.ts'
import { Endpoint, type ReadyDelivery } from './endpoint.ts'
import { type Lease, Leases } from './leases.ts'
import { type DepsDeReceptor, leerReceptores } from './receptor.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/**
 * Time for which an endpoint with nothing to send is held, in milliseconds, so that steady traffic needs no new claims.
 */
const OCIO = 5_000
/** Interval between two claims of free endpoints while this process holds endpoints, in milliseconds. */
const TOMA = 2_000

type DepsDeEndpoints = DepsDeReceptor & Pick<DepsDeTrabajo, 'dbSinEspera' | 'timers' | 'senalar' | 'hayTrabajo'>

interface Oyente {
  /** Called when this process begins to hold an endpoint. */
  alTomar: (endpoint: Endpoint) => void
  /** Called when the row of an endpoint was read. */
  alConocer: (endpoint: Endpoint) => void
  /** Called when this process no longer holds an endpoint. */
  alDejar: (endpoint: Endpoint) => void
  alFallar: (error: unknown) => void
}

/** Endpoints that this process holds, with their leases and their data. */
export class Endpoints {
  readonly #deps: DepsDeEndpoints
  readonly #cupos: Admission<ReadyDelivery, Endpoint>
  readonly #oyente: Oyente
  readonly #arriendos: Leases
  readonly #suyos = new Map<string, Endpoint>()
  /**
   * Endpoints that this process lost while it was sending their deliveries. If this process takes an endpoint again, it
   * must not send these deliveries twice, nor later events of their guides at the same time.
   */
  readonly #enElAire = new Map<string, Endpoint>()
  readonly #porConocer = new Set<Endpoint>()
  #conociendo = false
  #proximaToma = 0
  #cerrado = false

  constructor(boss: PgBoss, deps: DepsDeEndpoints, cupos: Admission<ReadyDelivery, Endpoint>, oyente: Oyente) {
    this.#deps = deps
    this.#cupos = cupos
    this.#oyente = oyente
    this.#arriendos = new Leases(boss, deps.dbSinEspera, deps.timers, {
      alTomar: (arriendos) => {
        for (const arriendo of arriendos) this.#atender(arriendo)
      },
      alPerder: ({ key }) => this.#dejar(this.#suyos.get(key.webhook)),
      // The process that holds the endpoint may not know of deliveries committed by this process, so it gets a signal.
      alNoTomar: (claves) => deps.senalar(claves),
    })
  }

  /** Returns an endpoint by its code; undefined if this process does not hold it. */
  de(webhook: string): Endpoint | undefined {
    return this.#suyos.get(webhook)
  }

  todos(): Iterable<Endpoint> {
    return this.#suyos.values()
  }

  /**
   * Requests endpoints that this process does not hold.
   * @param deOtro true if another process announced the work; the process that holds the endpoint got the same
   * announcement
   */
  pedir(claves: readonly ClaveDeWebhook[], deOtro: boolean): void {
    for (const clave of claves) this.#arriendos.request(clave, deOtro)
    if (claves.length > 0) this.tomar()
  }

  /** Claims the requested endpoints, and all others that no process holds. */
  tomar(): void {
    this.#arriendos.take().catch(this.#oyente.alFallar)
  }

  /** Returns the leases of dead processes to the queue. @returns the number of endpoints */
  rescatar(): Promise<number> {
    return this.#arriendos.rescue()
  }

  /** Sends the heartbeat if it is due, releases idle endpoints, and claims endpoints that no process holds. */
  cuidar(ahora: number): void {
    if (this.#suyos.size === 0) return
    this.#arriendos.beat(ahora).catch(this.#oyente.alFallar)
    const ociosos = [...this.#suyos.values()].filter(
      ({ enMemoria, readMode, actividad }) => enMemoria.size === 0 && readMode === 'read' && actividad < ahora - OCIO,
    )
    this.soltar(ociosos).catch(this.#oyente.alFallar)
    if (ahora < this.#proximaToma) return
    this.#proximaToma = ahora + TOMA
    this.#deps.hayTrabajo()
    this.tomar()
  }

  /** Gives up endpoints, by default all of them. */
  async soltar(endpoints: readonly Endpoint[] = [...this.#suyos.values()]): Promise<void> {
    for (const endpoint of endpoints) this.#dejar(endpoint)
    await this.#arriendos.release(endpoints.map(({ arriendo }) => arriendo))
  }

  async cerrar(): Promise<void> {
    this.#cerrado = true
    await this.#arriendos.close()
  }

  #atender(arriendo: Lease): void {
    const { webhook, comercio_id } = arriendo.key
    const before = this.#enElAire.get(webhook)
    this.#enElAire.delete(webhook)
    const endpoint = new Endpoint(arriendo, this.#cupos.abrir(comercio_id), this.#deps.timers.now(), before)
    this.#suyos.set(webhook, endpoint)
    this.#oyente.alTomar(endpoint)
  }

  #dejar(endpoint: Endpoint | undefined): void {
    if (!endpoint) return
    const { webhook } = endpoint.arriendo.key
    this.#suyos.delete(webhook)
    this.#porConocer.delete(endpoint)
    for (const { evento } of endpoint.waiting) endpoint.enMemoria.delete(evento)
    if (endpoint.enMemoria.size > 0) this.#enElAire.set(webhook, endpoint)
    this.#cupos.cerrar(endpoint)
    this.#oyente.alDejar(endpoint)
  }

  /** Records that a delivery of an endpoint that this process no longer holds is no longer in memory. */
  olvidar(webhook: string, evento: string): void {
    const enMemoria = this.#enElAire.get(webhook)?.enMemoria
    enMemoria?.delete(evento)
    if (enMemoria?.size === 0) this.#enElAire.delete(webhook)
  }

  /** Reads the row of an endpoint, together with the rows of other endpoints requested at the same time. */
  conocer(endpoint: Endpoint): void {
    if (this.#cerrado) return
    this.#porConocer.add(endpoint)
    if (this.#conociendo) return
    this.#conociendo = true
    queueMicrotask(async () => {
      try {
        while (this.#porConocer.size > 0 && !this.#cerrado) {
          const todos = [...this.#porConocer]
          this.#porConocer.clear()
          const partes = await byPart(this.#deps.db, todos, ({ arriendo }) => arriendo.key.comercio_id)
          await Promise.all(partes.map(([, parte]) => this.conocerTodos(parte).catch(this.#oyente.alFallar)))
        }
      } catch (error) {
        this.#oyente.alFallar(error)
      } finally {
        this.#conociendo = false
      }
    })
  }

  /** Reads the rows of endpoints. */
  async conocerTodos(todos: readonly Endpoint[]): Promise<void> {
    for (const endpoint of todos) this.#porConocer.delete(endpoint)
    // The time is taken before the read, so the data is at least as new as this time says.
    const ahora = this.#deps.timers.now()
    const claves = todos.map(({ arriendo }) => arriendo.key)
    const receptores = await leerReceptores(this.#deps, claves, (webhook) => this.#suyos.get(webhook)?.receptor)
    for (const endpoint of todos) {
      endpoint.conocer(receptores.get(endpoint.arriendo.key.webhook), ahora)
      this.#oyente.alConocer(endpoint)
    }
  }
}
