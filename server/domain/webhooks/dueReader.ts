import type { Db } from '../../data/db.ts'
import { byPart } from '../../data/spread.ts'
import { type Cupos, EN_ESPERA, LENTO, POR_WEBHOOK } from './admission.ts'
import { leerVencidas } from './due.ts'
import { aLista, type Endpoint, type Lista } from './endpoint.ts'
import type { Contenido } from './entrega.ts'

/** Maximum number of endpoints of one read. */
export const POR_LECTURA = 200
/** Maximum number of endpoints that are considered for one read. */
const MIRADOS = 500
/** Maximum number of concurrent reads. */
export const A_LA_VEZ = 2
/** Maximum number of deliveries that may wait in a line when more are read for it. */
export const UMBRAL = 16

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
export class Lector {
  readonly #db: Db
  readonly #reloj: () => Date
  readonly #cupos: Cupos<Lista, Endpoint>
  readonly #alFallar: (error: unknown) => void
  readonly #alLeer: () => void
  readonly #conocer: (endpoints: readonly Endpoint[]) => Promise<void>
  readonly #porLeer = new Set<Endpoint>()
  #leyendo = 0
  #cerrado = false

  constructor(
    { db, reloj }: { db: Db; reloj: () => Date },
    cupos: Cupos<Lista, Endpoint>,
    { conocer, alLeer, alFallar }: ParaLeer,
  ) {
    this.#db = db
    this.#reloj = reloj
    this.#cupos = cupos
    this.#conocer = conocer
    this.#alLeer = alLeer
    this.#alFallar = alFallar
  }

  /** Announces that an endpoint may have deliveries that are not in memory. They are read as soon as there is room. */
  pedir(endpoint: Endpoint): void {
    endpoint.porLeer = true
    this.considerar(endpoint)
  }

  /**
   * Starts a read if there is room, for this endpoint or for another. Called when a delivery of the endpoint has ended.
   */
  considerar(endpoint: Endpoint): void {
    if (this.#porLeer.size > 0) this.#empezar()
    const { porLeer, leyendo, espera } = endpoint
    if (!porLeer || leyendo || espera.length > UMBRAL || this.#cerrado) return
    // An endpoint that hangs can send no delivery, so its deliveries would only occupy the places of others.
    if (endpoint.estaColgada(performance.now(), LENTO)) return
    this.#porLeer.add(endpoint)
    this.#empezar()
  }

  olvidar(endpoint: Endpoint): void {
    this.#porLeer.delete(endpoint)
  }

  cerrar(): void {
    this.#cerrado = true
    this.#porLeer.clear()
  }

  /** Starts a read in a microtask, so that one read serves all requests of one turn of the event loop. */
  #empezar(): void {
    if (this.#leyendo >= A_LA_VEZ) return
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
    const partes = await byPart(this.#db, pedidas, ({ endpoint }) => endpoint.arriendo.clave.comercio_id)
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
    let leidas: Contenido[][] = []
    try {
      const pedidos = pedidas.map(({ endpoint: { arriendo, enMemoria }, cuantas }) => ({
        ...arriendo.clave,
        cuantas,
        salvo: [...enMemoria],
      }))
      // An address or a state may have changed since a delivery became due, so the rows of the endpoints are read, too.
      ;[leidas] = await Promise.all([
        leerVencidas(this.#db, pedidos, this.#reloj()),
        this.#conocer(pedidas.map(({ endpoint }) => endpoint)),
      ])
      const ahora = performance.now()
      for (const [i, { endpoint, cuantas }] of pedidas.entries()) {
        const suyas = leidas[i]!
        for (const contenido of suyas) this.#poner(endpoint, aLista(contenido, ahora))
        // If the read returned as many deliveries as requested, more may be due.
        if (suyas.length >= cuantas) endpoint.porLeer = true
      }
    } catch (error) {
      for (const { endpoint } of pedidas) endpoint.porLeer = true
      throw error
    } finally {
      const ahora = performance.now()
      for (const [i, { endpoint, cuantas }] of pedidas.entries()) {
        this.#cupos.liberar(endpoint, cuantas)
        const traidas = leidas[i]?.map(({ entrega }) => entrega.evento) ?? []
        endpoint.terminarLectura(traidas, ahora)
      }
    }
    for (const { endpoint } of pedidas) if (endpoint.tope > 1) this.considerar(endpoint)
  }

  /**
   * Chooses the endpoints of the next read, in turn, as far as there is room. The more endpoints wait, the fewer
   * deliveries each one gets.
   */
  #tomar(): Pedida[] {
    const pedidas: Pedida[] = []
    const porEndpoint = Math.max(POR_WEBHOOK, Math.ceil(EN_ESPERA / this.#porLeer.size))
    let mirar = Math.min(MIRADOS, this.#porLeer.size)
    for (const endpoint of this.#porLeer) {
      if (pedidas.length === POR_LECTURA || mirar-- === 0) break
      this.#porLeer.delete(endpoint)
      if (endpoint.leyendo) continue
      const cuantas = this.#cupos.reservar(endpoint, porEndpoint)
      if (cuantas > 0) {
        endpoint.leyendo = true
        endpoint.porLeer = false
        pedidas.push({ endpoint, cuantas })
      } else if (endpoint.tope > 1) this.#porLeer.add(endpoint)
    }
    return pedidas
  }

  #poner(endpoint: Endpoint, lista: Lista): void {
    if (endpoint.enMemoria.has(lista.evento)) return
    endpoint.enMemoria.add(lista.evento)
    this.#cupos.poner(endpoint, lista)
  }
}
