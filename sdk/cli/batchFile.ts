import { createReadStream, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { GuiaParaCrear, Recogida } from '@guias/sdk'
import { COLUMNAS, type FallaDeFila, type FilaDeHoja, leerHoja } from '@guias/sdk/hoja'
import { explainSystemError } from './cause.ts'
import { type Context, UsageError } from './command.ts'
import { explainSheet, type SheetRemedies } from './sheetErrors.ts'

/**
 * Bytes per read of the file: about the size of one request. With larger reads, the progress would run ahead of the
 * guides sent.
 */
const READ_CHUNK_BYTES = 8_192

/**
 * Maximum length of a line of JSON, in UTF-16 code units: more than a request of the service may have. Bounds the memory
 * and the work on a file that has no line ends.
 */
const MAX_LINE = 2_097_152

/**
 * Maximum bytes of a `.json` file: about 100,000 guides. `JSON.parse` takes a text whole, in about ten times its size of
 * memory.
 */
const MAX_JSON = 64 * 1024 * 1024

/**
 * Guide read from a batch file, with its row number under {@link ROW_NUMBER}, and the texts of a CSV under {@link VALUES}. A
 * row with {@link FAILURES} has no guide to send, only its reference.
 */
export type BatchEntry = GuiaParaCrear & {
  [ROW_NUMBER]: number
  [VALUES]?: readonly string[]
  [FAILURES]?: readonly FallaDeFila[]
}
/** Keys of a guide's row. `JSON.stringify` skips symbols, so they are never sent to the service. */
export const ROW_NUMBER = Symbol('fila')
export const VALUES = Symbol('valores')
export const FAILURES = Symbol('fallas')

export interface Origen {
  /** Rows, read once. The file was read before, so that an error in a late row stops the batch before its first guide. */
  rows: AsyncIterable<BatchEntry>
  /** Titles of the columns of a CSV; empty for JSON. */
  columns: readonly string[]
  /** Separator of a CSV, for the results too. */
  separator: string
  recogida?: Recogida | undefined
  /** Returns the bytes of the file read so far. For JSON, an estimate from the guides taken so far. */
  countReadBytes(): number
}

/**
 * Returns the size of a file in bytes.
 *
 * @throws UsageError if the path cannot be read or is not a regular file
 */
export function readFileSize(file: string): number {
  try {
    const estado = statSync(file)
    if (estado.isFile()) return estado.size
  } catch (error) {
    throw new UsageError(`No se pudo leer ${file}: ${explainSystemError(error)}.`)
  }
  throw new UsageError(`${file} no es un archivo.`)
}

/**
 * Opens a batch file. The extension selects the format: JSON, JSON lines or CSV. The file is read twice, piece by piece:
 * nothing is created of a file that cannot be read to its end.
 *
 * @throws UsageError if the extension or a column is unknown, if a row cannot be read, or if the JSON has no list
 */
export async function openLote(file: string, context: Context): Promise<Origen> {
  const type = extname(file).toLowerCase()
  if (type === '.json') return openJson(file)
  if (type === '.jsonl' || type === '.ndjson') {
    for await (const _ of openJsonl(file).rows);
    return openJsonl(file)
  }
  if (type !== '.csv' && type !== '.txt' && type !== '.tsv') {
    throw new UsageError(`No sé leer ${file}: debe ser .csv, .json o .jsonl. Guarde la hoja de cálculo como CSV.`)
  }
  const openCsv = await createCsvOpener(file, context)
  for await (const _ of (await openCsv()).rows);
  return openCsv()
}

const BATCH_REMEDIES: SheetRemedies = {
  columns: 'Cambie sus nombres, diga qué campo son con --columnas, o pase --ignorar-otras.',
  encoding: ', o pase --codificacion windows-1252 si viene de Excel',
}

const NO_COLUMNS = { columns: [], separator: ',' }

function openJsonl(file: string): Origen {
  let readByteCount = 0
  const chunks = createReadStream(file, { highWaterMark: READ_CHUNK_BYTES, encoding: 'utf8' })
  const rows = deJsonl(chunks, file, (byteCount) => {
    readByteCount += byteCount
  })
  return { rows, ...NO_COLUMNS, countReadBytes: () => readByteCount }
}

async function createCsvOpener(file: string, context: Context): Promise<() => Promise<Origen>> {
  const options = {
    codificacion: context.texto('codificacion'),
    columnas: parseColumnPairs(context.texts('columnas') ?? []),
    ignorarOtras: context.isSet('ignorar-otras'),
  }
  return async () => {
    const bytes = createReadStream(file, { highWaterMark: READ_CHUNK_BYTES })
    try {
      const { columnas: columns, separador: separator, filas: rows } = await leerHoja(bytes, options)
      return { rows: readGuiaRows(rows, file), columns, separator, countReadBytes: () => bytes.bytesRead }
    } catch (error) {
      throw explainSheet(error, file, BATCH_REMEDIES)
    }
  }
}

/**
 * Reads the pairs of `--columnas`, such as `Tel. del cliente=telefono`. Without a field, the column is skipped.
 *
 * @throws UsageError if a text is no pair, or if its field does not exist
 */
function parseColumnPairs(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((par) => {
      const equalsIndex = par.lastIndexOf('=')
      const [column, field] = [par.slice(0, Math.max(0, equalsIndex)).trim(), par.slice(equalsIndex + 1).trim()]
      if (column === '') throw new UsageError(`--columnas debe ser como «Tel. cliente=telefono» y llegó «${par}».`)
      if (field !== '' && !COLUMNAS.includes(field))
        throw new UsageError(`--columnas no conoce el campo «${field}». Los que hay: ${COLUMNAS.join(', ')}.`)
      return [column, field]
    }),
  )
}

async function* readGuiaRows(rows: AsyncIterable<FilaDeHoja>, file: string) {
  try {
    for await (const sheetRow of rows) {
      const guia = sheetRow.ok
        ? sheetRow.guia
        : {
            ...(sheetRow.external_ref === undefined ? {} : { external_ref: sheetRow.external_ref }),
            [FAILURES]: sheetRow.fallas,
          }
      yield Object.assign(withRowNumber(guia, sheetRow.fila), { [VALUES]: sheetRow.valores })
    }
  } catch (error) {
    throw explainSheet(error, file, BATCH_REMEDIES)
  }
}

async function openJson(file: string): Promise<Origen> {
  const bytes = readFileSize(file)
  if (bytes > MAX_JSON)
    throw new UsageError(
      `${file} tiene ${Math.ceil(bytes / 1024 ** 2)} MB, y un .json se lee entero: de ${MAX_JSON / 1024 ** 2} MB como mucho. Guárdelo como .jsonl, una guía por línea, que puede ser de cualquier tamaño: jq -c '(.guias? // .)[]' ${file} > guias.jsonl`,
    )
  const content = await readFile(file)
  let datos: unknown
  try {
    datos = JSON.parse(content.toString('utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new UsageError(`${file} no es JSON: ${(error as Error).message}`)
  }
  const { guias, recogida } = (Array.isArray(datos) ? { guias: datos } : datos) as {
    guias?: unknown
    recogida?: Recogida
  }
  if (!Array.isArray(guias)) throw new UsageError(`${file} debe ser una lista de guías, o { "guias": […] }.`)
  let readCount = 0
  const rows = (async function* () {
    for (const [i, guia] of guias.entries()) {
      readCount = i + 1
      yield withRowNumber(guia, i + 1)
    }
  })()
  return { rows, ...NO_COLUMNS, recogida, countReadBytes: () => (content.length * readCount) / guias.length }
}

async function* deJsonl(chunks: AsyncIterable<string>, file: string, onRead: (bytes: number) => void) {
  let remainder = ''
  let lineNumber = 0
  const read = (line: string) => {
    lineNumber++
    if (line.trim() === '') return []
    try {
      return [withRowNumber(JSON.parse(line.replace(/^\uFEFF/, '')), lineNumber)]
    } catch (error) {
      throw new UsageError(`${file}, línea ${lineNumber}: no es JSON: ${(error as Error).message}`)
    }
  }
  for await (const chunk of chunks) {
    onRead(Buffer.byteLength(chunk))
    const lines = (remainder + chunk).split('\n')
    remainder = lines.pop() ?? ''
    if (remainder.length > MAX_LINE)
      throw new UsageError(`${file}, línea ${lineNumber + lines.length + 1}: pasa de ${MAX_LINE} letras.`)
    for (const line of lines) yield* read(line)
  }
  yield* read(remainder)
}

const withRowNumber = (guia: unknown, rowNumber: number): BatchEntry =>
  typeof guia === 'object' && guia !== null
    ? Object.assign(guia as GuiaParaCrear, { [ROW_NUMBER]: rowNumber })
    : ({ valor: guia, [ROW_NUMBER]: rowNumber } as unknown as BatchEntry)
