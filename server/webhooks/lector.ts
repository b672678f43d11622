import { byPart } from '../data/spread.ts'
import type { Db } from '../db.ts'
import { type Cupos, EN_ESPERA, LENTO, POR_WEBHOOK } from './cupos.ts'
import { aLista, type Endpoint, type Lista } from './endpoint.ts'
import type { Contenido } from './entrega.ts'
import { leerVencidas } from './vencidas.ts'

/** Endpoints of one read, those that are looked at for it at most, and reads under way at a time. */
export const POR_LECTURA = 200
const MIRADOS = 500
export const A_LA_VEZ = 2
/** How few deliveries may wait in a line for more of it to be read. */
export const UMBRAL = 16

interface Pedida {
  endpoint: Endpoint
  cuantas: number
}

interface ParaLeer {
  /** Reads the rows of endpoints. */
  conocer: (endpoints: readonly Endpoint[]) => Promise<void>
  /** Something may be sent. */
  alLeer: () => void
  alFallar: (error: unknown) => void
}

/** Brings what is due into memory: many endpoints at once, each no further than its share. */
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

  /** There may be deliveries of an endpoint that aren't in memory: they are read as soon as there is room. */
  pedir(endpoint: Endpoint): void {
    endpoint.porLeer = true
    this.considerar(endpoint)
  }

  /** Something of an endpoint is over: there may be room for more of it, or of another. */
  considerar(endpoint: Endpoint): void {
    if (this.#porLeer.size > 0) this.#empezar()
    const { porLeer, leyendo, espera } = endpoint
    if (!porLeer || leyendo || espera.length > UMBRAL || this.#cerrado) return
    // Of one that hangs nothing could be sent: it would only keep others' places.
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

  /** What is asked for in one turn of the loop is read together. */
  #empezar(): void {
    if (this.#leyendo >= A_LA_VEZ) return
    this.#leyendo++
    queueMicrotask(async () => {
      const leyo = await this.#leer()
      this.#leyendo--
      if (leyo && this.#porLeer.size > 0 && !this.#cerrado) this.#empezar()
    })
  }

  /** @returns whether there was anything to read, and room for it, and all of it was read */
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
      // Who sends what was due a while ago must know where to: an address or a state may have changed since.
      ;[leidas] = await Promise.all([
        leerVencidas(this.#db, pedidos, this.#reloj()),
        this.#conocer(pedidas.map(({ endpoint }) => endpoint)),
      ])
      const ahora = performance.now()
      for (const [i, { endpoint, cuantas }] of pedidas.entries()) {
        const suyas = leidas[i]!
        for (const contenido of suyas) this.#poner(endpoint, aLista(contenido, ahora))
        // A full answer: there may be more behind it.
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

  /** Of those that are to be read, in turn, the ones for which there is room; the more there are the less each gets. */
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
