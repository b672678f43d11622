import { ErrorAbortado, ErrorGuias } from './errors.js'
import type { GuiaParaCrear, LoteCreado, Recogida } from './generated/types.gen.js'
import { createReadySlots, groupIntoLotes, numberEntries, type ResultadoDeMuchas, type Slot } from './lotes.js'
import type { OpcionesDeSolicitud } from './options.js'
import { ownSignal } from './retries.js'

/** Opciones de `crearMuchas`, con las de cada una de sus solicitudes. */
export interface OpcionesDeMuchas extends OpcionesDeSolicitud {
  /** Punto de recogida de las guías que no traen el suyo. */
  recogida?: Recogida | undefined
  /**
   * Verdadero para rechazar las guías cuyo lugar es inverosímil. Vale para las guías que no traen su propio `estricto`;
   * si falta, se usa el ajuste de su cuenta.
   */
  estricto?: boolean | undefined
  /** Número de solicitudes que se envían a la vez; 2 si falta. */
  concurrencia?: number | undefined
  /** Número de guías de cada solicitud, de 1 a 100; 100 si falta. */
  tamano?: number | undefined
  /**
   * Función que recibe el avance cada vez que el servicio contesta una solicitud. Si la función lanza un error, se pasa
   * por alto.
   */
  alAvanzar?: ((avance: AvanceDeMuchas) => void) | undefined
}

/** Opciones de `crearMuchas` para crear las guías a partir de sus pedidos. */
export interface OpcionesDeConversion<E> extends OpcionesDeMuchas {
  /** Función que da la guía de cada pedido. Si la función lanza un error, ese pedido falla con él. */
  aGuia: (entrada: E) => GuiaParaCrear
}

/** Avance de `crearMuchas`: guías leídas, creadas, repetidas y fallidas. */
export interface AvanceDeMuchas {
  /** Número de guías leídas de lo que usted pasó. */
  leidas: number
  /** Número de guías creadas ahora. */
  creadas: number
  /**
   * Número de guías que ya existían. Incluye las guías de una solicitud que se envió otra vez porque se perdió su
   * respuesta.
   */
  repetidas: number
  /** Número de guías que fallaron. */
  fallidas: number
  /** Número total de guías, si lo que usted pasó lo dice (una lista, un `Set`); si no, nulo. */
  total: number | null
}

/** Sends the JSON text of a batch. */
export type SendLote = (texto: string, opciones: OpcionesDeSolicitud) => Promise<LoteCreado>

/**
 * Creación de muchas guías, que devuelve `crearMuchas`. Se recorre una sola vez, con `for await`; antes no lee ni envía
 * nada. Cada guía da un resultado, en el orden en que usted las pasó.
 */
export class CreacionDeMuchas<E> implements AsyncIterable<ResultadoDeMuchas<E>> {
  readonly #slots: AsyncIterable<Slot<E>>
  readonly #options: OpcionesDeConversion<E>
  readonly #send: SendLote
  readonly #progress: AvanceDeMuchas
  readonly #failedSlots: { slot: Slot<E>; isTransient: boolean }[] = []
  #started = false

  /**
   * Creates a creation of many guides; only this package calls it.
   * @internal
   */
  constructor(slots: AsyncIterable<Slot<E>>, total: number | null, opciones: OpcionesDeConversion<E>, send: SendLote) {
    this.#slots = slots
    this.#options = opciones
    this.#send = send
    this.#progress = { leidas: 0, creadas: 0, repetidas: 0, fallidas: 0, total }
  }

  /** Avance hasta ahora: guías leídas, creadas, repetidas y fallidas. */
  get avance(): AvanceDeMuchas {
    return { ...this.#progress }
  }

  /**
   * Crea otra vez las guías que fallaron por algo pasajero (la red, un 5xx, un 429), con las mismas
   * posiciones. Con `{ todas: true }`, crea también las guías que había que corregir: corrija antes su `entrada`.
   *
   * ```ts
   * for await (const r of creacion.reintentarFallidas()) anotar(r)
   * ```
   */
  reintentarFallidas({ todas = false }: { todas?: boolean } = {}): CreacionDeMuchas<E> {
    const slots = this.#failedSlots.flatMap(({ slot, isTransient }) => (todas || isTransient ? [slot] : []))
    slots.sort((left, right) => left.posicion - right.posicion)
    const retriedSlots = (async function* () {
      yield* slots
    })()
    return new CreacionDeMuchas(retriedSlots, slots.length, this.#options, this.#send)
  }

  /**
   * Yields one result per guide, in the order given. At most `concurrencia` requests are in flight or have results not
   * yet taken, so a slow consumer slows down the reading. Finished results are yielded even while the source has no
   * next entry.
   *
   * @throws ErrorGuias if the results are iterated a second time
   * @throws ErrorAbortado at the end, if `signal` is aborted
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ResultadoDeMuchas<E>, void, undefined> {
    if (this.#started) throw new ErrorGuias('crearMuchas se recorre una sola vez: guarde los resultados.')
    this.#started = true
    const { concurrencia: concurrency = 2, tamano: maxGuias = 100, recogida, estricto, aGuia } = this.#options
    const signal = ownSignal(this.#options.signal)
    // Beginning of the body, up to the list of guides.
    const bodyStart = JSON.stringify({ recogida, estricto, guias: 0 }).slice(0, -2)
    const lotes = groupIntoLotes(this.#leer(), aGuia, maxGuias, bodyStart.length * 3)
    const inFlight: Promise<ResultadoDeMuchas<E>[]>[] = []
    let reading: Promise<() => void> | undefined
    let hasMore = true
    let sourceFailure: { causa: unknown } | undefined
    const leer = () =>
      orAborted(lotes.next(), signal).then(
        (readEntry) => () => {
          reading = undefined
          if (!readEntry || readEntry.done) hasMore = false
          else inFlight.push(this.#create(readEntry.value, bodyStart))
        },
        (causa: unknown) => () => {
          ;[reading, hasMore, sourceFailure] = [undefined, false, { causa }]
        },
      )
    try {
      for (;;) {
        if (hasMore && !reading && inFlight.length < concurrency) reading = leer()
        const [oldestRequest] = inFlight
        if (!reading && !oldestRequest) break
        const listo = await Promise.race([...(reading ? [reading] : []), ...(oldestRequest ? [oldestRequest] : [])])
        if (typeof listo === 'function') listo()
        else {
          inFlight.shift()
          yield* listo
        }
      }
    } finally {
      // Not awaited, because a source that never answers would block a consumer that has left the loop.
      lotes.return().catch(() => {})
    }
    if (sourceFailure) throw sourceFailure.causa
    if (signal?.aborted) {
      throw new ErrorAbortado('Se abortó con signal: lo que no dio resultado no se envió.', { cause: signal.reason })
    }
  }

  async *#leer() {
    for await (const slot of this.#slots) {
      this.#progress.leidas++
      yield slot
    }
  }

  async #create(readySlots: Parameters<typeof createReadySlots<E>>[0], bodyStart: string) {
    const resultados = await createReadySlots(readySlots, (guias) => this.#send(`${bodyStart}${guias}}`, this.#options))
    for (const resultado of resultados) {
      if (resultado.ok) {
        this.#progress[resultado.repetida ? 'repetidas' : 'creadas']++
        continue
      }
      this.#progress.fallidas++
      const { entrada: entry, posicion, pasajera: isTransient } = resultado
      this.#failedSlots.push({ slot: { entry, posicion }, isTransient })
    }
    try {
      this.#options.alAvanzar?.(this.avance)
    } catch {} // an error while showing the progress must not lose the results
    return resultados
  }
}

/**
 * Resolves with the value of the promise, or with undefined once `signal` is aborted. Removes its listener, so that a
 * long-lived signal does not collect listeners.
 */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  return new Promise<T | undefined>((resolve, reject) => {
    const onAbort = () => resolve(undefined)
    if (signal?.aborted) onAbort()
    signal?.addEventListener('abort', onAbort)
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', onAbort))
  })
}

/**
 * Checks the options of `RecursoGuias.crearMuchas` and prepares the creation, without sending anything.
 *
 * @throws ErrorGuias if an option or the source is not valid
 */
export function prepareCreation<E>(
  entries: Iterable<E> | AsyncIterable<E>,
  opciones: OpcionesDeMuchas & Partial<OpcionesDeConversion<E>>,
  send: SendLote,
): CreacionDeMuchas<E> {
  const {
    concurrencia: concurrency = 1,
    tamano: maxGuias = 100,
    aGuia = (entry: E) => entry as GuiaParaCrear,
  } = opciones
  if (!(Number.isInteger(maxGuias) && maxGuias >= 1 && maxGuias <= 100)) {
    throw new ErrorGuias('tamano debe ser un número entero de 1 a 100.')
  }
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new ErrorGuias('concurrencia debe ser un número entero de 1 en adelante.')
  }
  if (!entries || !(Symbol.iterator in Object(entries) || Symbol.asyncIterator in Object(entries))) {
    throw new ErrorGuias('crearMuchas espera una lista, un generador o un flujo.')
  }
  const { length, size } = entries as { length?: unknown; size?: unknown }
  const total = [length, size].find((count) => typeof count === 'number') as number | undefined
  return new CreacionDeMuchas(numberEntries(entries), total ?? null, { ...opciones, aGuia }, send)
}
