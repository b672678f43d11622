import { nameOf, normalizarColumna } from './columns.js'
import { rowsByPiece } from './csv.js'
import { swallowsRows } from './damage.js'
import { decode, piecesOf } from './encoding.js'
import { ErrorDeHoja } from './sheetError.js'

/** Opciones de {@link leerTabla}. */
export interface OpcionesDeTabla {
  /** Codificación del archivo, si no es UTF-8; la de Excel suele ser `windows-1252`. UTF-16 se reconoce por su marca. */
  codificacion?: string | undefined
  /** Campo de cada columna que se llama de otro modo: `{ 'Tel.': 'telefono' }`. Un texto vacío pasa la columna por alto. */
  columnas?: Readonly<Record<string, string>> | undefined
  /**
   * Campo que toda fila tiene, y su forma. Con él se reconoce un texto entre comillas que se tragó otras filas, porque
   * sus comillas no se cierran donde debían.
   */
  reconocible?: readonly [campo: string, forma: RegExp] | undefined
}

/** Fila de una tabla. */
export interface FilaDeTabla {
  /** Número de la fila, como lo muestra una hoja de cálculo. La línea `sep=;` no cuenta. */
  fila: number
  /** Textos de la fila, como venían. */
  valores: string[]
}

/** Tabla que se está leyendo. */
export interface Tabla {
  /** Lo que separa las columnas: `,`, `;`, tabulador o `|`. */
  separador: string
  /** Nombres de las columnas, como venían. */
  columnas: string[]
  /** Campo de cada columna, como lo da {@link normalizarColumna}; vacío si no tiene nombre o se pasa por alto. */
  campos: string[]
  /** Filas con datos; las vacías se saltan. Se recorren una sola vez. Lanza {@link ErrorDeHoja} por unas comillas mal puestas. */
  filas: AsyncIterable<FilaDeTabla>
}

/**
 * Lee una tabla en CSV, en Node y en un navegador, con la memoria que ocupa una fila. La primera fila con texto lleva los
 * nombres de las columnas.
 *
 * @throws {ErrorDeHoja} si está vacía, en otra codificación o con unas comillas mal puestas
 */
export async function leerTabla(
  origen: Blob | Uint8Array | AsyncIterable<Uint8Array>,
  { codificacion = 'utf-8', columnas: named = {}, reconocible }: OpcionesDeTabla = {},
): Promise<Tabla> {
  let separator = ','
  let swallows = (_: readonly string[]) => false
  const rows = numbered(
    rowsByPiece(decode(piecesOf(origen), codificacion), (one) => {
      separator = one
    }),
    (values) => swallows(values),
  )
  const { value: head } = await rows.next()
  if (!head) throw new ErrorDeHoja('está vacía', 'vacia')
  const titles = head.valores
  const fields = new Map(Object.entries(named).map(([title, field]) => [nameOf(title), field]))
  const campos = titles.map((title) => fields.get(nameOf(title)) ?? normalizarColumna(title))
  const missing = Object.keys(named).find((title) => !titles.some((one) => nameOf(one) === nameOf(title)))
  if (missing !== undefined) throw new ErrorDeHoja(`No hay ninguna columna «${missing}»`, 'columnas')
  const [field = '', pattern = /^$/] = reconocible ?? []
  const index = reconocible ? campos.lastIndexOf(field) : -1
  if (index >= 0) swallows = (values) => swallowsRows(values, separator, titles.length, index, pattern)
  return { separador: separator, columnas: titles, campos, filas: rows }
}

/** Numbers the rows and skips the blank ones. A syntax error gets the number of its row. */
async function* numbered(
  lists: AsyncIterable<string[][]>,
  swallows: (values: readonly string[]) => boolean,
): AsyncGenerator<FilaDeTabla, undefined, undefined> {
  let rowNumber = 0
  try {
    for await (const rows of lists) {
      for (const valores of rows) {
        rowNumber++
        if (swallows(valores))
          throw new ErrorDeHoja(
            `fila ${rowNumber}: unas comillas se abren y no se cierran donde deben: el texto lleva adentro otras filas`,
            'fila',
          )
        if (valores.some((value) => value.trim() !== '')) yield { fila: rowNumber, valores }
      }
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ErrorDeHoja(`fila ${rowNumber + 1}: ${error.message}`, 'fila', { cause: error })
  }
}
