import type { PgBoss } from 'pg-boss'
import { byPart } from '../data/spread.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { type Arriendo, Arriendos } from './arriendos.ts'
import type { Cupos } from './cupos.ts'
import { Endpoint, type Lista } from './endpoint.ts'
import { type DepsDeReceptor, leerReceptores } from './receptor.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** How long an endpoint without anything to send is held, in milliseconds: steady traffic takes nothing anew. */
const OCIO = 5_000
/** How often, while it holds any, it takes those that nobody holds, in milliseconds. */
const TOMA = 2_000

type DepsDeEndpoints = DepsDeReceptor & Pick<DepsDeTrabajo, 'dbSinEspera' | 'senalar' | 'hayTrabajo'>

interface Oyente {
  /** An endpoint is held from now on. */
  alTomar: (endpoint: Endpoint) => void
  /** An endpoint's row was read. */
  alConocer: (endpoint: Endpoint) => void
  /** An endpoint is held no longer. */
  alDejar: (endpoint: Endpoint) => void
  alFallar: (error: unknown) => void
}

/** The endpoints that this process holds: their leases, and what is known of them. */
export class Endpoints {
  readonly #deps: DepsDeEndpoints
  readonly #cupos: Cupos<Lista, Endpoint>
  readonly #oyente: Oyente
  readonly #arriendos: Arriendos
  readonly #suyos = new Map<string, Endpoint>()
  /** Deliveries under way of endpoints that were lost: who takes one again must not send them twice. */
  readonly #enElAire = new Map<string, Set<string>>()
  readonly #porConocer = new Set<Endpoint>()
  #conociendo = false
  #proximaToma = 0
  #cerrado = false

  constructor(boss: PgBoss, deps: DepsDeEndpoints, cupos: Cupos<Lista, Endpoint>, oyente: Oyente) {
    this.#deps = deps
    this.#cupos = cupos
    this.#oyente = oyente
    this.#arriendos = new Arriendos(boss, deps.dbSinEspera, {
      alTomar: (arriendos) => {
        for (const arriendo of arriendos) this.#atender(arriendo)
      },
      alPerder: ({ clave }) => this.#dejar(this.#suyos.get(clave.webhook)),
      // Its holder may not have heard of what was committed here.
      alNoTomar: (claves) => deps.senalar(claves),
    })
  }

  de(webhook: string): Endpoint | undefined {
    return this.#suyos.get(webhook)
  }

  todos(): Iterable<Endpoint> {
    return this.#suyos.values()
  }

  /**
   * Asks for endpoints that aren't held here.
   * @param deOtro whether another process says that there is work: then whoever holds them was told, too
   */
  pedir(claves: readonly ClaveDeWebhook[], deOtro: boolean): void {
    for (const clave of claves) this.#arriendos.pedir(clave, deOtro)
    if (claves.length > 0) this.tomar()
  }

  /** Takes what was asked for, and whatever else nobody holds. */
  tomar(): void {
    this.#arriendos.tomar().catch(this.#oyente.alFallar)
  }

  /** Gives back what dead processes held. @returns how many endpoints */
  rescatar(): Promise<number> {
    return this.#arriendos.rescatar()
  }

  /** Gives the sign of life, when it is time, gives up what has been idle, and takes what nobody holds. */
  cuidar(ahora: number): void {
    if (this.#suyos.size === 0) return
    this.#arriendos.latir(ahora).catch(this.#oyente.alFallar)
    const ociosos = [...this.#suyos.values()].filter(
      ({ enMemoria, leyendo, porLeer, actividad }) =>
        enMemoria.size === 0 && !leyendo && !porLeer && actividad < ahora - OCIO,
    )
    this.soltar(ociosos).catch(this.#oyente.alFallar)
    if (ahora < this.#proximaToma) return
    this.#proximaToma = ahora + TOMA
    this.#deps.hayTrabajo()
    this.tomar()
  }

  /** Gives endpoints up; all of them, if it isn't said which. */
  async soltar(endpoints: readonly Endpoint[] = [...this.#suyos.values()]): Promise<void> {
    for (const endpoint of endpoints) this.#dejar(endpoint)
    await this.#arriendos.soltar(endpoints.map(({ arriendo }) => arriendo))
  }

  async cerrar(): Promise<void> {
    this.#cerrado = true
    await this.#arriendos.cerrar()
  }

  #atender(arriendo: Arriendo): void {
    const { webhook, comercio_id } = arriendo.clave
    const enElAire = this.#enElAire.get(webhook) ?? new Set()
    this.#enElAire.delete(webhook)
    const endpoint = new Endpoint(arriendo, this.#cupos.abrir(comercio_id), performance.now(), enElAire)
    this.#suyos.set(webhook, endpoint)
    this.#oyente.alTomar(endpoint)
  }

  #dejar(endpoint: Endpoint | undefined): void {
    if (!endpoint) return
    const { webhook } = endpoint.arriendo.clave
    this.#suyos.delete(webhook)
    this.#porConocer.delete(endpoint)
    for (const { evento } of endpoint.espera) endpoint.enMemoria.delete(evento)
    if (endpoint.enMemoria.size > 0) this.#enElAire.set(webhook, endpoint.enMemoria)
    this.#cupos.cerrar(endpoint)
    this.#oyente.alDejar(endpoint)
  }

  /** An attempt at an endpoint that isn't held any more is settled. */
  olvidar(webhook: string, evento: string): void {
    const enElAire = this.#enElAire.get(webhook)
    enElAire?.delete(evento)
    if (enElAire?.size === 0) this.#enElAire.delete(webhook)
  }

  /** Reads an endpoint's row, together with those of others that are asked for meanwhile. */
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
          const partes = await byPart(this.#deps.db, todos, ({ arriendo }) => arriendo.clave.comercio_id)
          await Promise.all(partes.map(([, parte]) => this.conocerTodos(parte).catch(this.#oyente.alFallar)))
        }
      } catch (error) {
        this.#oyente.alFallar(error)
      } finally {
        this.#conociendo = false
      }
    })
  }

  /** Reads endpoints' rows. */
  async conocerTodos(todos: readonly Endpoint[]): Promise<void> {
    for (const endpoint of todos) this.#porConocer.delete(endpoint)
    // What is read is at least as new as this.
    const ahora = performance.now()
    const claves = todos.map(({ arriendo }) => arriendo.clave)
    const receptores = await leerReceptores(this.#deps, claves, (webhook) => this.#suyos.get(webhook)?.receptor)
    for (const endpoint of todos) {
      endpoint.conocer(receptores.get(endpoint.arriendo.clave.webhook), ahora)
      this.#oyente.alConocer(endpoint)
    }
  }
}
