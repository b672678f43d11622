import { ErrorDeHoja } from './sheetError.js'

/** Bytes that are read at once. A page stays responsive while it reads a large file. */
const PIECE = 262_144

/** Gives the bytes of a source piece by piece, so that a large file is never in memory at once. */
export async function* piecesOf(
  source: Blob | Uint8Array | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (source instanceof Uint8Array) for (let i = 0; i < source.length; i += PIECE) yield source.subarray(i, i + PIECE)
  else if ('arrayBuffer' in source)
    for (let i = 0; i < source.size; i += PIECE) yield new Uint8Array(await source.slice(i, i + PIECE).arrayBuffer())
  else yield* source
}

/** Bytes that tell the encoding, or that the file is a workbook (`PK\x03`, a ZIP file). */
const MARK_BYTES = 3

/**
 * Decodes a file piece by piece. A byte order mark takes precedence over the given encoding.
 *
 * @throws {ErrorDeHoja} if the bytes are of another encoding or of a workbook
 */
export async function* decode(
  pieces: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<string, void, undefined> {
  let beginning = new Uint8Array()
  let decoder: TextDecoder | undefined
  const read = (piece: Uint8Array | undefined) => {
    const text = decoder!.decode(piece, { stream: piece !== undefined })
    if (text.includes('\0')) throw new TypeError('NUL')
    return text
  }
  try {
    for await (const piece of pieces) {
      if (decoder) {
        yield read(piece)
        continue
      }
      beginning = join(beginning, piece)
      if (beginning.length < MARK_BYTES) continue
      decoder = open(beginning, encoding)
      yield read(beginning)
    }
    if (!decoder) {
      decoder = open(beginning, encoding)
      yield read(beginning)
    }
    yield read(undefined)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ErrorDeHoja(`no está en ${encoding}`, 'codificacion', { cause: error })
  }
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

const MARKS: readonly [encoding: string, ...mark: number[]][] = [
  ['utf-16le', 0xff, 0xfe],
  ['utf-16be', 0xfe, 0xff],
  ['utf-8', 0xef, 0xbb, 0xbf],
]

function open(beginning: Uint8Array, encoding: string): TextDecoder {
  const startsWith = (...mark: number[]) => mark.every((byte, i) => beginning[i] === byte)
  if (startsWith(0x50, 0x4b, 3)) throw new ErrorDeHoja('es un libro de cálculo y no un CSV', 'libro')
  const [marked] = MARKS.find(([, ...mark]) => startsWith(...mark)) ?? []
  try {
    return new TextDecoder(marked ?? encoding, { fatal: true })
  } catch (error) {
    const message = `No conozco la codificación «${encoding}»: pruebe utf-8 o windows-1252`
    throw new ErrorDeHoja(message, 'codificacion_desconocida', { cause: error })
  }
}
