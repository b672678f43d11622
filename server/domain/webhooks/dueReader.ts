import { byPart } from '../../data/spread.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import { type Admission, IN_FLIGHT_PER_WEBHOOK, MAX_WAITING, SLOW_AFTER } from './admission.ts'
import { readDue } from './due.ts'
import { type Endpoint, type ReadyDelivery, toReady } from './endpoint.ts'
import type { ContenidoDeEntrega } from './entrega.ts'

/** Maximum number of endpoints of one read. */
export const PER_READ = 200
/** Maximum number of endpoints that are considered for one read. */
const MIRADOS = 500
/** Maximum number of concurrent reads. */
export const READS_AT_ONCE = 2
/**
 * Maximum number of an endpoint's deliveries in memory at which more are read. An endpoint with more than these still
 * has enough to send.
 */
export const READ_THRESHOLD = 16

interface Pedida {
  endpoint: Endpoint
  cuantas: number
}

interface ParaLeer {
  /** Reads the rows of endpoints. */
  conocer: (endpoints: readonly Endpoint[]) => Promise<void>
  /** Called when a delivery may be ready to send. */
  alLeer: () => void
  alFallar: (error: unknown) => void
}

/** Reads due deliveries into memory: many endpoints in one read, each within its share. */
export class DueReader {
  readonly #deps: Pick<DepsDeTrabajo, 'db' | 'reloj' | 'timers' | 'secretos' | 'log'>
  readonly #cupos: Admission<ReadyDelivery, Endpoint>
  readonly #alFallar: (error: unknown) => void
  readonly #alLeer: () => void
  readonly #conocer: (endpoints: readonly Endpoint[]) => Promise<void>
  readonly #porLeer = new Set<Endpoint>()
  #leyendo = 0
  #cerrado = false

  constructor(
    deps: Pick<DepsDeTrabajo, 'db' | 'reloj' | 'timers' | 'secretos' | 'log'>,
    cupos: Admission<ReadyDelivery, Endpoint>,
    { conocer, alLeer, alFallar }: ParaLeer,
  ) {
    this.#deps = deps
    this.#cupos = cupos
    this.#conocer = conocer
    this.#alLeer = alLeer
    this.#alFallar = alFallar
  }

  /** Announces that an endpoint may have deliveries that are not in memory. They are read as soon as there is room. */
  request(endpoint: Endpoint): void {
    endpoint.announce()
    this.consider(endpoint)
  }

  /**
   * Starts to read further deliveries of this or another endpoint if the memory has room for them. Called when a
   * delivery of the endpoint has ended.
   */
  consider(endpoint: Endpoint): void {
    if (this.#porLeer.size > 0) this.#empezar()
    const { readMode, waiting } = endpoint
    if (readMode !== 'unread' || waiting.length > READ_THRESHOLD || this.#cerrado) return
    // An endpoint that hangs can send no delivery, so its deliveries would only occupy the places of others.
    if (endpoint.estaColgada(this.#deps.timers.now(), SLOW_AFTER)) return
    this.#porLeer.add(endpoint)
    this.#empezar()
  }

  forget(endpoint: Endpoint): void {
    this.#porLeer.delete(endpoint)
  }

  close(): void {
    this.#cerrado = true
    this.#porLeer.clear()
  }

  /** Starts a read in a microtask, so that one read serves all requests of one turn of the event loop. */
  #empezar(): void {
    if (this.#leyendo >= READS_AT_ONCE) return
    this.#leyendo++
    queueMicrotask(async () => {
      const leyo = await this.#leer()
      this.#leyendo--
      if (leyo && this.#porLeer.size > 0 && !this.#cerrado) this.#empezar()
    })
  }

  /**
   * Reads the due deliveries of the chosen endpoints.
   * @returns true if there was something to read and room for it, and no read failed
   */
  async #leer(): Promise<boolean> {
    const pedidas = this.#tomar()
    if (pedidas.length === 0) return false
    const partes = await byPart(this.#deps.db, pedidas, ({ endpoint }) => endpoint.arriendo.key.comercio_id)
    const hechas = await Promise.all(
      partes.map(([, parte]) =>
        this.#leerParte(parte).then(
          () => true,
          (error: unknown) => {
            this.#alFallar(error)
            return false
          },
        ),
      ),
    )
    this.#alLeer()
    return !hechas.includes(false)
  }

  async #leerParte(pedidas: readonly Pedida[]): Promise<void> {
    let leidas: ContenidoDeEntrega[][] = []
    try {
      const pedidos = pedidas.map(({ endpoint: { arriendo, enMemoria }, cuantas }) => ({
        ...arriendo.key,
        cuantas,
        salvo: [...enMemoria],
      }))
      // An address or a state may have changed since a delivery became due, so the rows of the endpoints are read, too.
      ;[leidas] = await Promise.all([
        readDue(this.#deps, pedidos, this.#deps.reloj()),
        this.#conocer(pedidas.map(({ endpoint }) => endpoint)),
      ])
      const ahora = this.#deps.timers.now()
      for (const [i, { endpoint, cuantas }] of pedidas.entries()) {
        const suyas = leidas[i]!
        for (const contenido of suyas) this.#take(endpoint, toReady(contenido, ahora))
        // If the read returned as many deliveries as requested, more may be due.
        if (suyas.length >= cuantas) endpoint.announce()
      }
    } catch (error) {
      for (const { endpoint } of pedidas) endpoint.announce()
      throw error
    } finally {
      const ahora = this.#deps.timers.now()
      for (const [i, { endpoint, cuantas }] of pedidas.entries()) {
        this.#cupos.liberar(endpoint, cuantas)
        const traidas = leidas[i]?.map(({ entrega }) => entrega.evento) ?? []
        endpoint.endRead(traidas, ahora)
      }
    }
    for (const { endpoint } of pedidas) if (endpoint.sendMode === 'open') this.consider(endpoint)
  }

  /**
   * Chooses the endpoints of the next read in turn, as long as memory has room for their deliveries. The more endpoints
   * wait, the fewer deliveries each one gets.
   */
  #tomar(): Pedida[] {
    const pedidas: Pedida[] = []
    const porEndpoint = Math.max(IN_FLIGHT_PER_WEBHOOK, Math.ceil(MAX_WAITING / this.#porLeer.size))
    let mirar = Math.min(MIRADOS, this.#porLeer.size)
    for (const endpoint of this.#porLeer) {
      if (pedidas.length === PER_READ || mirar-- === 0) break
      this.#porLeer.delete(endpoint)
      if (endpoint.isReading) continue
      const cuantas = this.#cupos.reservar(endpoint, porEndpoint)
      if (cuantas > 0) {
        endpoint.startRead()
        pedidas.push({ endpoint, cuantas })
      } else if (endpoint.sendMode === 'open') this.#porLeer.add(endpoint)
    }
    return pedidas
  }

  #take(endpoint: Endpoint, lista: ReadyDelivery): void {
    if (endpoint.enMemoria.has(lista.evento) || !endpoint.mayTake(lista.guia_id)) return
    endpoint.enMemoria.add(lista.evento)
    this.#cupos.poner(endpoint, lista)
  }
}
