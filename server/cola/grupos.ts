/** Whose a request is. */
export interface Dueno {
  /** By it the requests of one owner are known. */
  readonly clave: string
}

/** What one request asks for; it is never split over two groups. */
export interface Pedido<D extends Dueno, T> {
  readonly dueno: D
  readonly datos: readonly T[]
}

interface EnEspera<D extends Dueno, T, R> extends Pedido<D, T> {
  resolver: (resultados: R[]) => void
  rechazar: (error: unknown) => void
}

interface Cola<D extends Dueno, T, R> {
  /** What waits, by owner, in the order of their turns. */
  readonly duenos: Map<string, EnEspera<D, T, R>[]>
  enVuelo: number
  programada: boolean
}

interface Reglas<D extends Dueno, T, R> {
  /** Data of a group at most, unless a single request has more. */
  maximo: number
  /** Groups under way at a time, per queue. */
  aLaVez: number
  /** Which owners share groups: those of one text. */
  juntos: (dueno: D) => string
  /**
   * Does a group, whole or not at all.
   * @param solo whether it is one owner's, so that nobody else waits for it
   * @returns a result for each of the data, in their order
   */
  hacer: (pedidos: readonly Pedido<D, T>[], solo: boolean) => Promise<R[]>
  /** Whether an error may be one owner's fault: then the group is done owner by owner. */
  esDeUno: (error: unknown) => boolean
}

/** How long an owner whose data failed a group goes by himself, in milliseconds. */
const APARTE = 10_000

/**
 * Does together what is asked for at the same time. Owners take turns, so that however much one asks for, the next group has
 * the others' requests, too; whoever makes a group fail costs the others one repetition and then goes by himself.
 */
export class Grupos<D extends Dueno, T, R> {
  readonly #reglas: Reglas<D, T, R>
  readonly #colas = new Map<string, Cola<D, T, R>>()
  /** Owners that go by themselves, and until when. */
  readonly #aparte = new Map<string, number>()

  constructor(reglas: Reglas<D, T, R>) {
    this.#reglas = reglas
  }

  async pedir(dueno: D, datos: readonly T[]): Promise<R[]> {
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
      // No timer: whatever else arrives in this turn of the loop goes along, and a lone request waits for nobody.
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
    if (hasta > performance.now()) return true
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

  /** One request of each owner in turn, as far as they fit. */
  #tomar({ duenos }: Cola<D, T, R>): EnEspera<D, T, R>[] {
    const grupo: EnEspera<D, T, R>[] = []
    let cuantos = 0
    for (const [clave, suyos] of duenos) {
      const [primero] = suyos
      if (cuantos > 0 && cuantos + primero!.datos.length > this.#reglas.maximo) continue
      grupo.push(primero!)
      cuantos += primero!.datos.length
      suyos.shift()
      // Behind all the others, and visited again in this very loop.
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

  /** Nothing of the group was done: each owner's part goes by itself, side by side, and only who is at fault pays for it. */
  async #separar(partes: readonly EnEspera<D, T, R>[][]): Promise<void> {
    await Promise.all(
      partes.map(async (parte) => {
        try {
          // Still as if others waited for it: whoever fails so alone is the one.
          this.#repartir(parte, await this.#reglas.hacer(parte, false))
        } catch (error) {
          if (this.#reglas.esDeUno(error)) this.#aparte.set(parte[0]!.dueno.clave, performance.now() + APARTE)
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
