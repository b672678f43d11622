import { ErrorGuias } from './errors.js'
import type { Respuesta } from './request.js'

/** Página de cualquier lista. */
export interface Pagina<T> {
  /** Elementos de esta página. */
  datos: T[]
  /** Cursor de la página siguiente; nulo cuando no hay más. */
  cursor_siguiente: string | null
}

/**
 * Lista por páginas. No envía ninguna solicitud antes de que usted la use:
 *
 * - `await lista` da la primera página: `{ datos, cursor_siguiente }`.
 * - `for await (const elemento of lista)` recorre todos los elementos y pide las páginas según hagan falta.
 * - `for await (const pagina of lista.paginas())` recorre las páginas.
 * - `await lista.primeros(250)` da los primeros elementos en un arreglo.
 *
 * Cada recorrido empieza de nuevo desde el cursor que usted dio.
 */
export class Listado<T, P extends Pagina<T> = Pagina<T>> implements Promise<P>, AsyncIterable<T> {
  readonly [Symbol.toStringTag] = 'Listado'
  readonly #from: string | undefined
  readonly #request: (cursor: string | undefined) => Promise<Respuesta<P>>
  readonly #hasMore: (pagina: P) => boolean
  #firstPage: Promise<Respuesta<P>> | undefined

  /**
   * Creates a list; only this package calls it.
   * @internal
   */
  constructor(
    desde: string | undefined,
    request: (cursor: string | undefined) => Promise<Respuesta<P>>,
    hasMore: (pagina: P) => boolean = (pagina) => pagina.cursor_siguiente != null,
  ) {
    this.#from = desde
    this.#request = request
    this.#hasMore = hasMore
  }

  /** Da la primera página de la lista con su respuesta entera: estado, cabeceras e identificador de la solicitud. */
  conRespuesta(): Promise<Respuesta<P>> {
    this.#firstPage ??= this.#request(this.#from)
    return this.#firstPage
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list requests its first page; no request is sent before
  then<A = P, B = never>(
    cumplida?: ((pagina: P) => A | PromiseLike<A>) | null,
    rechazada?: ((causa: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.conRespuesta()
      .then(({ datos }) => datos)
      .then(cumplida, rechazada)
  }

  catch<B = never>(rechazada?: ((causa: unknown) => B | PromiseLike<B>) | null): Promise<P | B> {
    return this.then(undefined, rechazada)
  }

  finally(alFinal?: (() => void) | null): Promise<P> {
    return this.then().finally(alFinal)
  }

  /**
   * Recorre todas las páginas de la lista, de una en una. Sirve para guardar `cursor_siguiente` después de atender cada
   * página:
   *
   * ```ts
   * for await (const { datos, cursor_siguiente } of api.eventos.listar({ cursor }).paginas()) {
   *   await atender(datos)
   *   await guardar(cursor_siguiente)
   * }
   * ```
   */
  async *paginas(): AsyncGenerator<P, void, undefined> {
    let cursor = this.#from
    for (;;) {
      const { datos: pagina } = await this.#request(cursor)
      yield pagina
      if (!this.#hasMore(pagina)) return
      const nextCursor = pagina.cursor_siguiente ?? undefined
      // Requesting the same page forever would flood the service.
      if (nextCursor === cursor) throw new ErrorGuias('La lista no avanza: el servicio repite el cursor. Escríbanos.')
      cursor = nextCursor
    }
  }

  /**
   * Da los primeros elementos de la lista, o todos si hay menos. Pide las páginas que hagan falta.
   *
   * ```ts
   * const recientes = await api.guias.listar({ estado: ['en_ruta'] }).primeros(250)
   * ```
   */
  async primeros(cuantos: number): Promise<T[]> {
    if (!(cuantos >= 0)) throw new ErrorGuias('primeros debe ser un número de 0 en adelante, o Infinity.')
    const elements: T[] = []
    if (cuantos > 0) for await (const element of this) if (elements.push(element) >= cuantos) break
    return elements
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { datos } of this.paginas()) yield* datos
  }
}
