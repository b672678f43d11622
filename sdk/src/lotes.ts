import { enUtf8 } from './bytes.js'
import { enJson } from './call.js'
import { createErrorApi, type ErrorApi, ErrorGuias } from './errors.js'
import type {
  CodigoDeGuia,
  GuiaParaCrear,
  LoteCreado,
  ResultadoCreado,
  ResultadoFallido,
} from './generated/types.gen.js'
import { isTransient } from './retries.js'

/** Resultado de `crearMuchas` para una guía que existe. */
export interface GuiaDeMuchas<E> extends Pick<ResultadoCreado, 'estado' | 'advertencias'> {
  ok: true
  /** Su entrada: el mismo objeto que usted pasó a `crearMuchas`. */
  entrada: E
  /** Posición de la entrada en lo que usted pasó a `crearMuchas`, desde 0. */
  posicion: number
  /** Código de la guía. */
  guia: CodigoDeGuia
  /** La `external_ref` con que se creó la guía. */
  external_ref: string
  /** Verdadero si la guía ya existía con esta referencia y este contenido. */
  repetida: boolean
}

/** Resultado de `crearMuchas` para una guía que no se creó, o de la que no se sabe si se creó. */
export interface FallaDeMuchas<E> {
  ok: false
  /** Su entrada: el mismo objeto que usted pasó a `crearMuchas`. */
  entrada: E
  /** Posición de la entrada en lo que usted pasó a `crearMuchas`, desde 0. */
  posicion: number
  /** Error de esta guía (un `ErrorValidacion`, un `ErrorConflicto`…) o de la solicitud entera. */
  error: ErrorGuias
  /** Verdadero si la guía se puede intentar otra vez tal como está. Si es falso, antes hay que corregirla. */
  pasajera: boolean
}

/** Resultado de una guía de `crearMuchas`; `ok` dice si la guía existe. */
export type ResultadoDeMuchas<E> = GuiaDeMuchas<E> | FallaDeMuchas<E>

/** Entry of `crearMuchas`, with its position. */
export interface Slot<E> {
  entry: E
  posicion: number
}

/** Entry ready to send: its JSON text, or the error that prevents sending it. */
interface ReadySlot<E> extends Slot<E> {
  texto: string
  error: ErrorGuias | undefined
}

/** Maximum bytes of the guides in a request. The service accepts 2 MB, which must also hold the rest of the body. */
const MAX_LOTE_BYTES = 1_900_000

const bytes = (texto: string) => enUtf8(texto).length

/** Converts an entry to JSON. The text is made at once, because the caller may reuse its object for the next entry. */
function prepareSlot<E>(slot: Slot<E>, aGuia: (entry: E) => GuiaParaCrear): ReadySlot<E> {
  const buildFailedSlot = (mensaje: string, cause?: unknown) => ({
    ...slot,
    texto: '',
    error: new ErrorGuias(mensaje, { cause }),
  })
  let guia: GuiaParaCrear
  try {
    guia = aGuia(slot.entry)
  } catch (causa) {
    // The error of a damaged row already says its row and its fault. Any other error is one of the caller's function.
    return buildFailedSlot(
      (causa as Error | null)?.name === 'ErrorDeHoja' ? (causa as Error).message : `aGuia lanzó ${causa}`,
      causa,
    )
  }
  try {
    if (typeof guia?.external_ref !== 'string' || guia.external_ref === '') {
      return buildFailedSlot(
        'La guía no trae external_ref (un texto), y repetir el lote la duplicaría: ponga su número de pedido.',
      )
    }
    return { ...slot, texto: enJson(guia), error: undefined }
  } catch (causa) {
    return buildFailedSlot(
      causa instanceof ErrorGuias ? causa.message : `La guía no se puede escribir como JSON: ${causa}`,
      causa,
    )
  }
}

/**
 * Groups entries into batches that the service accepts. Reads only as far as needed to know that a batch is full.
 *
 * @param maxGuias maximum number of guides in a batch
 * @param usedBytes bytes of the body outside the guides
 */
export async function* groupIntoLotes<E>(
  origen: AsyncIterable<Slot<E>>,
  aGuia: (entry: E) => GuiaParaCrear,
  maxGuias: number,
  usedBytes: number,
): AsyncGenerator<ReadySlot<E>[], void, undefined> {
  let lote: ReadySlot<E>[] = []
  let largo = usedBytes
  for await (const slot of origen) {
    const readySlot = prepareSlot(slot, aGuia)
    const slotBytes = bytes(readySlot.texto) + 1
    if (lote.length > 0 && largo + slotBytes > MAX_LOTE_BYTES) {
      yield lote
      ;[lote, largo] = [[], usedBytes]
    }
    lote.push(readySlot)
    largo += slotBytes
    if (lote.length === maxGuias) {
      yield lote
      ;[lote, largo] = [[], usedBytes]
    }
  }
  if (lote.length > 0) yield lote
}

/**
 * Creates a batch and returns one result per entry, in order. If the whole request fails, each entry gets that error.
 */
export async function createReadySlots<E>(
  readySlots: readonly ReadySlot<E>[],
  send: (guias: string) => Promise<LoteCreado>,
): Promise<ResultadoDeMuchas<E>[]> {
  const sendableSlots = readySlots.filter(({ error }) => !error)
  const resultBySlot = new Map<ReadySlot<E>, ResultadoDeMuchas<E>>()
  try {
    if (sendableSlots.length > 0) {
      const { resultados } = await send(`[${sendableSlots.map(({ texto }) => texto).join()}]`)
      for (const resultado of resultados) {
        const readySlot = sendableSlots[resultado.indice]
        if (readySlot) resultBySlot.set(readySlot, toResult(readySlot, resultado))
      }
    }
  } catch (causa) {
    const error = causa as ErrorGuias
    if ((error as ErrorApi).estadoHttp === 413 && sendableSlots.length > 1) {
      // After a 413, each half is sent alone, because a proxy may accept less than the service.
      const half = readySlots.length >> 1
      return [
        ...(await createReadySlots(readySlots.slice(0, half), send)),
        ...(await createReadySlots(readySlots.slice(half), send)),
      ]
    }
    for (const readySlot of sendableSlots) resultBySlot.set(readySlot, buildFailure(readySlot, error))
  }
  return readySlots.map(
    (readySlot) =>
      resultBySlot.get(readySlot) ??
      buildFailure(
        readySlot,
        readySlot.error ?? new ErrorGuias('El servicio no dijo qué fue de esta guía. Escríbanos.'),
      ),
  )
}

function toResult<E>(readySlot: ReadySlot<E>, resultado: ResultadoCreado | ResultadoFallido): ResultadoDeMuchas<E> {
  if (!resultado.ok) return buildFailure(readySlot, createErrorApi(resultado.error))
  const { entry, posicion } = readySlot
  const { guia, estado, repetida, advertencias } = resultado
  const external_ref = resultado.external_ref ?? ''
  return { ok: true, entrada: entry, posicion, guia, estado, external_ref, repetida, advertencias }
}

const buildFailure = <E>({ entry, posicion }: Slot<E>, error: ErrorGuias): FallaDeMuchas<E> => ({
  ok: false,
  entrada: entry,
  posicion,
  error,
  pasajera: isTransient(error),
})

/** Numbers the entries from 0. */
export async function* numberEntries<E>(
  entries: Iterable<E> | AsyncIterable<E>,
): AsyncGenerator<Slot<E>, void, undefined> {
  let posicion = 0
  for await (const entry of entries) yield { entry, posicion: posicion++ }
}
