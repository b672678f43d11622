/** Owner of a request. */
export interface GroupOwner {
  /** Key that identifies the owner. */
  readonly clave: string
}

/** Request of one owner. A group contains all of its data or none. */
export interface GroupRequest<D extends GroupOwner, T> {
  readonly dueno: D
  readonly datos: readonly T[]
}

interface EnEspera<D extends GroupOwner, T, R> extends GroupRequest<D, T> {
  resolver: (resultados: R[]) => void
  rechazar: (error: unknown) => void
}

interface Cola<D extends GroupOwner, T, R> {
  /** Waiting requests by owner, in the order of the owners' turns. */
  readonly duenos: Map<string, EnEspera<D, T, R>[]>
  enVuelo: number
  programada: boolean
}

interface Reglas<D extends GroupOwner, T, R> {
  /** Maximum number of data in a group. A single request with more data forms a group of its own. */
  maximo: number
  /** Groups under way at a time, per queue. */
  aLaVez: number
  /** Returns the text that identifies an owner; owners with the same text share groups. */
  juntos: (dueno: D) => string
  /**
   * Processes a group, completely or not at all.
   * @param solo true if the group belongs to one owner, so that no other owner waits for it
   * @returns a result for each of the data, in their order
   */
  hacer: (pedidos: readonly GroupRequest<D, T>[], solo: boolean) => Promise<R[]>
  /** Reports whether the data of one owner may have caused the error. The group is then processed owner by owner. */
  esDeUno: (error: unknown) => boolean
}

/** Time for which an owner's requests are processed alone after its data made a group fail, in milliseconds. */
const APARTE = 10_000

/**
 * Processes together the requests that arrive at the same time. Owners take turns: however many requests one owner
 * makes, the next group also has requests of the others. An owner that makes a group fail costs the others one
 * repetition, and is then processed alone.
 */
export class Groups<D extends GroupOwner, T, R> {
  readonly #reglas: Reglas<D, T, R>
  readonly #ahora: () => number
  readonly #colas = new Map<string, Cola<D, T, R>>()
  /** Owners that are processed alone, with the time at which this ends. */
  readonly #aparte = new Map<string, number>()

  /** @param ahora monotonic clock, in milliseconds */
  constructor(reglas: Reglas<D, T, R>, ahora = () => performance.now()) {
    this.#reglas = reglas
    this.#ahora = ahora
  }

  async request(dueno: D, datos: readonly T[]): Promise<R[]> {
    if (datos.length === 0) return []
    return new Promise((resolver, rechazar) => {
      const nombre = this.#vaAparte(dueno) ? `aparte ${dueno.clave}` : `juntos ${this.#reglas.juntos(dueno)}`
      const cola = this.#colas.get(nombre) ?? { duenos: new Map(), enVuelo: 0, programada: false }
      this.#colas.set(nombre, cola)
      const suyos = cola.duenos.get(dueno.clave)
      const pedido = { dueno, datos, resolver, rechazar }
      if (suyos) suyos.push(pedido)
      else cola.duenos.set(dueno.clave, [pedido])
      if (cola.programada) return
      // Without a timer, the group takes all requests of this turn of the event loop, and a single request does not
      // wait for others.
      cola.programada = true
      setImmediate(() => {
        cola.programada = false
        this.#hacerGrupos(nombre, cola)
      })
    })
  }

  #vaAparte({ clave }: D): boolean {
    const hasta = this.#aparte.get(clave)
    if (hasta === undefined) return false
    if (hasta > this.#ahora()) return true
    this.#aparte.delete(clave)
    return false
  }

  #hacerGrupos(nombre: string, cola: Cola<D, T, R>): void {
    while (cola.duenos.size > 0 && cola.enVuelo < this.#reglas.aLaVez) {
      const grupo = this.#tomar(cola)
      cola.enVuelo++
      void this.#hacer(grupo).finally(() => {
        cola.enVuelo--
        this.#hacerGrupos(nombre, cola)
        if (cola.enVuelo === 0 && cola.duenos.size === 0 && !cola.programada) this.#colas.delete(nombre)
      })
    }
  }

  /** Takes one request of each owner in turn, until the group is full. */
  #tomar({ duenos }: Cola<D, T, R>): EnEspera<D, T, R>[] {
    const grupo: EnEspera<D, T, R>[] = []
    let cuantos = 0
    for (const [clave, suyos] of duenos) {
      const [primero] = suyos
      if (cuantos > 0 && cuantos + primero!.datos.length > this.#reglas.maximo) continue
      grupo.push(primero!)
      cuantos += primero!.datos.length
      suyos.shift()
      // The owner moves to the end of the Map, so this loop visits it again after all others.
      duenos.delete(clave)
      if (suyos.length > 0) duenos.set(clave, suyos)
      if (cuantos >= this.#reglas.maximo) break
    }
    return grupo
  }

  async #hacer(grupo: readonly EnEspera<D, T, R>[]): Promise<void> {
    const porDueno = Map.groupBy(grupo, ({ dueno }) => dueno.clave)
    try {
      this.#repartir(grupo, await this.#reglas.hacer(grupo, porDueno.size === 1))
    } catch (error) {
      if (porDueno.size > 1 && this.#reglas.esDeUno(error)) await this.#separar([...porDueno.values()])
      else for (const { rechazar } of grupo) rechazar(error)
    }
  }

  /**
   * Processes each owner's requests of a failed group separately and in parallel. Nothing of the group was done, so
   * only the owner at fault is delayed.
   */
  async #separar(partes: readonly EnEspera<D, T, R>[][]): Promise<void> {
    await Promise.all(
      partes.map(async (parte) => {
        try {
          // `solo` is false although each owner is alone here. An owner whose data fails again is then known to be at
          // fault.
          this.#repartir(parte, await this.#reglas.hacer(parte, false))
        } catch (error) {
          if (this.#reglas.esDeUno(error)) this.#aparte.set(parte[0]!.dueno.clave, this.#ahora() + APARTE)
          await this.#hacer(parte)
        }
      }),
    )
  }

  #repartir(grupo: readonly EnEspera<D, T, R>[], resultados: R[]): void {
    let desde = 0
    for (const { datos, resolver } of grupo) {
      resolver(resultados.slice(desde, desde + datos.length))
      desde += datos.length
    }
  }
}
