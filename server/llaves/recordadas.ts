import { traducirError } from '../errores.ts'
import type { Averiguar } from '../http/identidad.ts'

/**
 * Milliseconds for which a row read from the database is believed, from when its reading began: a revocation holds everywhere
 * in less than 1 s, counted from its own instant, which is some time before its commit.
 */
const VIGENCIA = 500
/** Milliseconds between two rounds, each of which reads anew what is in use. */
const RONDA = 400
/** Milliseconds for which a text is in use after it was asked for: five rows read with others cost less than one alone. */
const USO = 2_000
/** Texts that are remembered, of those that stand for something and of the others. */
const CUANTAS = 10_000

/** What a text was found to stand for. */
interface Leida<Fila> {
  /** When its reading began, in milliseconds; long ago if it failed. */
  desde: number
  /** When it was last found so, in milliseconds: before `desde` if the last reading failed. */
  cierta: number
  fila: Promise<Fila | undefined>
  /** Until when it is in use; what was asked for since it was read goes on from the next round. */
  enUsoHasta: number
  pedida: boolean
  /** The reading that is to take its place. */
  proxima?: Leida<Fila> | undefined
}

/**
 * Reads what a text stands for; undefined, and nothing is remembered, for a text that can't be such a credential. Readings
 * that begin together are expected to be one statement.
 * @param pedida whether it was asked for since it was last read
 */
type Buscar<Fila> = (texto: string) => ((pedida: boolean) => Promise<Fila | undefined>) | undefined

/**
 * Remembers what a credential's text stands for, so that a request costs no digest. Concurrent requests share a read, a
 * failed one is not believed. What is in use is read anew in rounds, all of it together, before it is too old: no request
 * waits for that, and a thousand keys cost a few statements a second. Without requests the rounds end.
 *
 * Texts that stand for nothing are remembered apart: however many there are, they have no good one forgotten.
 */
export class Recordadas<Fila> {
  readonly #ahora: () => number
  readonly #buscar: Buscar<Fila>
  readonly #gracia: number
  readonly #conocidas = new Map<string, Leida<Fila>>()
  readonly #otras = new Map<string, Leida<Fila>>()
  /** Good texts that the next round looks at. */
  readonly #enUso = new Set<string>()
  #ronda: NodeJS.Timeout | undefined

  /**
   * @param ahora a clock that nobody sets back, in milliseconds
   * @param gracia milliseconds for which what was found is believed while it can't be read because the database is away
   */
  constructor(ahora: () => number, buscar: Buscar<Fila>, gracia = 0) {
    this.#ahora = ahora
    this.#buscar = buscar
    this.#gracia = gracia
  }

  /** Reports whether a text stood for something when it was last read. */
  conoce(texto: string): boolean {
    return this.#conocidas.has(texto)
  }

  /** @param averiguar how a text that isn't known to be good is looked up; it may refuse to */
  leer(texto: string, averiguar: Averiguar): Promise<Fila | undefined> | undefined {
    const ahora = this.#ahora()
    const conocida = this.#conocidas.get(texto)
    const leida = conocida ?? this.#otras.get(texto)
    if (leida) {
      leida.pedida = true
      if (vale(leida, ahora)) return leida.fila
      if (leida.proxima && vale(leida.proxima, ahora)) return leida.proxima.fila
    }
    const leer = this.#buscar(texto)
    if (!leer) return undefined
    const nueva: Leida<Fila> = { desde: ahora, cierta: ahora, fila: undefined!, enUsoHasta: ahora + USO, pedida: false }
    const fila = conocida
      ? leer(true).catch((error: unknown) => this.#seguir(conocida, nueva, error))
      : averiguar(() => leer(true))
    nueva.fila = fila
    poner(conocida ? this.#conocidas : this.#otras, texto, nueva)
    fila.then(
      (hallada) => this.#asentar(texto, nueva, hallada),
      () => {
        nueva.desde = Number.NEGATIVE_INFINITY
      },
    )
    return fila
  }

  /** What was found before goes on for a while, where the database is away. */
  #seguir(conocida: Leida<Fila>, nueva: Leida<Fila>, error: unknown): Promise<Fila | undefined> {
    if (this.#ahora() - conocida.cierta >= this.#gracia || traducirError(error).codigo !== 'no_disponible') throw error
    nueva.cierta = conocida.cierta
    return conocida.fila
  }

  /** Reads anew what is in use, unless it holds until the next round. */
  #hacerRonda(): void {
    const ahora = this.#ahora()
    for (const texto of this.#enUso) {
      const leida = this.#conocidas.get(texto)
      if (leida?.pedida) leida.enUsoHasta = ahora + USO
      if (!leida || leida.enUsoHasta <= ahora) this.#enUso.delete(texto)
      else if (!leida.proxima && !vale(leida, ahora + RONDA)) this.#renovar(texto, leida, ahora)
    }
    if (this.#enUso.size > 0) this.#citar()
  }

  #renovar(texto: string, leida: Leida<Fila>, ahora: number): void {
    const nueva: Leida<Fila> = {
      ...{ desde: ahora, cierta: ahora, fila: undefined! },
      ...{ enUsoHasta: leida.enUsoHasta, pedida: false },
    }
    const fila = this.#buscar(texto)!(leida.pedida).catch((error: unknown) => this.#seguir(leida, nueva, error))
    nueva.fila = fila
    leida.pedida = false
    leida.proxima = nueva
    fila.then(
      (hallada) => {
        if (this.#conocidas.get(texto) !== leida) return
        nueva.pedida = leida.pedida
        poner(this.#conocidas, texto, nueva)
        this.#asentar(texto, nueva, hallada)
      },
      // Until it is too old what was read before goes on; then a request reads, and is told what is wrong.
      () => {
        leida.proxima = undefined
      },
    )
  }

  #citar(): void {
    this.#ronda ??= setTimeout(() => {
      this.#ronda = undefined
      this.#hacerRonda()
    }, RONDA).unref()
  }

  /** Puts what was read where it belongs, now that it is known whether the text stands for anything. */
  #asentar(texto: string, leida: Leida<Fila>, hallada: Fila | undefined): void {
    const [de, a] = hallada ? [this.#otras, this.#conocidas] : [this.#conocidas, this.#otras]
    if (de.get(texto) === leida) {
      de.delete(texto)
      poner(a, texto, leida)
    }
    if (this.#conocidas.get(texto) !== leida) return
    this.#enUso.add(texto)
    this.#citar()
  }
}

/** Reports whether what was read is believed at that instant. */
const vale = ({ desde }: Leida<unknown>, ahora: number) => ahora - desde < VIGENCIA

/** Puts it last, and forgets the first where there are too many. */
function poner<Fila>(leidas: Map<string, Leida<Fila>>, texto: string, leida: Leida<Fila>): void {
  leidas.delete(texto)
  if (leidas.size >= CUANTAS) leidas.delete(leidas.keys().next().value!)
  leidas.set(texto, leida)
}
