import type { LookUp } from '../../api/http/identity.ts'
import { translateError } from '../../platform/errors.ts'

/**
 * Milliseconds for which a row from the database is valid, counted from the start of its query. A revocation takes
 * effect everywhere in less than 1 s, counted from its own timestamp. The timestamp is some time before the commit.
 */
const VIGENCIA = 500
/** Milliseconds between two rounds, each of which reads the texts in use again. */
const RONDA = 400
/**
 * Milliseconds for which a text is in use after a request presented it. Reading five rows together with others costs
 * less than reading a row alone.
 */
const USO = 2_000
/** Maximum number of cached texts, separately for texts with a row and for texts without a row. */
const CUANTAS = 10_000

/** Result of one query for the row that belongs to the text of a credential. */
interface Leida<Fila> {
  /** Start of the query, in milliseconds; minus infinity if the query failed. */
  desde: number
  /** Start of the last successful query, in milliseconds; before `desde` if the last query failed. */
  cierta: number
  fila: Promise<Fila | undefined>
  /**
   * Time until which the text is in use. If a request presented the text since this query, the next round extends the
   * time.
   */
  enUsoHasta: number
  /** True if a request presented the text since this query. */
  pedida: boolean
  /**
   * Result of the next query for the same text, which a round has started. It replaces this result when the query
   * succeeds.
   */
  proxima?: Leida<Fila> | undefined
}

/**
 * Returns the function that reads a text's row. Returns undefined for a text that cannot be a credential; such a text
 * is not cached. Calls that begin together should share a statement.
 * @param pedida true if a request presented the text since the last query
 */
type Buscar<Fila> = (texto: string) => ((pedida: boolean) => Promise<Fila | undefined>) | undefined

/** Calls a function after some milliseconds. The process does not wait for the call before it exits. */
type Delay = (hacer: () => void, ms: number) => void
const unreferencedTimeout: Delay = (hacer, ms) => void setTimeout(hacer, ms).unref()

/**
 * Cache of the rows that belong to the texts of credentials, so that a request computes no digest. Concurrent requests
 * share a read, and a failed read is not cached. Rounds read all texts in use again, together, before their rows are
 * too old. No request waits for a round, and a thousand keys cost a few statements a second. The rounds end when no
 * requests come.
 *
 * Texts without a row are cached separately. However many of these texts come, they evict no text with a row.
 */
export class Recordadas<Fila> {
  readonly #ahora: () => number
  readonly #buscar: Buscar<Fila>
  readonly #gracia: number
  readonly #retrasar: Delay
  readonly #conocidas = new Map<string, Leida<Fila>>()
  readonly #otras = new Map<string, Leida<Fila>>()
  /** Texts with a row that the next round examines. */
  readonly #enUso = new Set<string>()
  /** True while a next round is scheduled. */
  #citada = false

  /**
   * @param ahora monotonic clock, in milliseconds
   * @param gracia milliseconds for which the last row read stays valid while the database is unavailable
   * @param retrasar schedules the rounds
   */
  constructor(ahora: () => number, buscar: Buscar<Fila>, gracia = 0, retrasar = unreferencedTimeout) {
    this.#ahora = ahora
    this.#buscar = buscar
    this.#gracia = gracia
    this.#retrasar = retrasar
  }

  /** Reports whether a text had a row when it was last read. */
  conoce(texto: string): boolean {
    return this.#conocidas.has(texto)
  }

  /**
   * Returns the row of a text, from the cache or from the database; undefined if the text has no row.
   * @param averiguar wraps the look-up of a text that is not known to have a row, and may refuse the look-up
   */
  leer(texto: string, averiguar: LookUp): Promise<Fila | undefined> | undefined {
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

  /**
   * Returns the previous row if the database is unavailable and the row is not older than `gracia`; else throws the
   * error.
   */
  #seguir(conocida: Leida<Fila>, nueva: Leida<Fila>, error: unknown): Promise<Fila | undefined> {
    if (this.#ahora() - conocida.cierta >= this.#gracia || translateError(error).codigo !== 'no_disponible') throw error
    nueva.cierta = conocida.cierta
    return conocida.fila
  }

  /** Reads the rows of all texts in use again, except rows that stay valid until the next round. */
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
      desde: ahora,
      cierta: ahora,
      fila: undefined!,
      enUsoHasta: leida.enUsoHasta,
      pedida: false,
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
      // The previous row stays valid until it is too old. A request then reads the row itself and gets the error.
      () => {
        leida.proxima = undefined
      },
    )
  }

  #citar(): void {
    if (this.#citada) return
    this.#citada = true
    this.#retrasar(() => {
      this.#citada = false
      this.#hacerRonda()
    }, RONDA)
  }

  /** Moves the result of a query to the cache of texts with a row or to the cache of texts without a row. */
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

/** Reports whether the result of a query is still valid at that time. */
const vale = ({ desde }: Leida<unknown>, ahora: number) => ahora - desde < VIGENCIA

/** Adds a result as the newest entry, and drops the oldest entry if the cache is full. */
function poner<Fila>(leidas: Map<string, Leida<Fila>>, texto: string, leida: Leida<Fila>): void {
  leidas.delete(texto)
  if (leidas.size >= CUANTAS) leidas.delete(leidas.keys().next().value!)
  leidas.set(texto, leida)
}
