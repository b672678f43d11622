import { FORMULA, quoteCell } from './generated/csv.js'

/** Maximum length of a row and of the text that tells the separator, in UTF-16 code units. Bounds the memory. */
const MAX_ROW = 1_048_576
const MAX_HEAD = 65_536
/** Length of the text that is parsed at once. */
const MAX_PIECE = 65_536

const UNCLOSED = 'unas comillas se abren y no se cierran'
const AROUND_WHOLE_FIELD = 'las comillas van alrededor del campo entero, y dobles las de adentro'

/**
 * Lee CSV (RFC 4180) fila por fila, de cualquier tamaño. Admite la marca de Unicode, `,`, `;`, tabuladores o `|`, la
 * primera línea `sep=;` de Excel y cualquier fin de línea. Entre comillas caben separadores, fines de línea y comillas
 * dobles. Una línea vacía es una fila de un campo vacío, para que las filas conserven su número. Quita el apóstrofo que
 * {@link escribirCsv} pone delante de una fórmula.
 *
 * Las comillas van alrededor de un campo entero, con espacios o sin ellos. En otro campo son una letra, si no hay más que
 * unas en la fila.
 *
 * @param alConocer recibe el separador, antes de la primera fila
 * @throws {SyntaxError} en la fila donde unas comillas se abren y no se cierran, o que pasa de 1 048 576 letras
 */
export async function* leerCsv(
  trozos: AsyncIterable<string>,
  alConocer: (separador: string) => void = () => {},
): AsyncGenerator<string[], void, undefined> {
  for await (const rows of rowsByPiece(trozos, alConocer)) yield* rows
}

/**
 * Reads as {@link leerCsv}, several rows at a time: a promise for each row would take most of the time. The parser is one
 * function, because all of its steps change the same state.
 */
export async function* rowsByPiece(
  pieces: AsyncIterable<string>,
  onSeparator: (separator: string) => void,
): AsyncGenerator<string[][], void, undefined> {
  let special: RegExp | undefined
  let head = ''
  let width = 0
  let row: string[] = []
  let field = ''
  let length = 0
  /** `closed`: after the quote that closes the field or begins a doubled quote. `padded`: after blanks that follow it. */
  let state: 'plain' | 'quoted' | 'closed' | 'padded' = 'plain'
  /** Quotes in the unquoted field, and fields of the row in which they are odd. */
  let quotes = 0
  let oddFields = 0
  let touched = false
  let afterCr = false
  const grow = (by: number) => {
    length += by
    if (length > MAX_ROW)
      throw new SyntaxError(state === 'quoted' ? UNCLOSED : `pasa de ${MAX_ROW.toLocaleString('es')} letras`)
  }
  const append = (text: string) => {
    field += text
    grow(text.length)
  }
  const endField = () => {
    row.push(withoutApostrophe(field))
    oddFields += quotes % 2
    ;[field, state, quotes] = ['', 'plain', 0]
  }
  const endRow = () => {
    endField()
    if (width < 2) width = row.length
    // A quote alone is an inch. Two, or one in a row that is cut short, stood around a text with separators or lines.
    if (oddFields > 1 || (oddFields > 0 && row.length < width)) throw new SyntaxError(AROUND_WHOLE_FIELD)
    const complete = row
    ;[row, touched, length, oddFields] = [[], false, 0, 0]
    return complete
  }
  const takeQuote = () => {
    if (state === 'closed') state = 'quoted'
    else if (state === 'padded') throw new SyntaxError(AROUND_WHOLE_FIELD)
    else if (field.trim() === '') {
      ;[field, state] = ['', 'quoted']
      return
    } else quotes++
    append('"')
  }
  const parse = function* (text: string, pattern: RegExp): Generator<string[]> {
    for (let i = 0; i < text.length; ) {
      pattern.lastIndex = i
      const hit = state === 'quoted' ? text.indexOf('"', i) : (pattern.exec(text)?.index ?? -1)
      const end = hit < 0 ? text.length : hit
      if (end > i) {
        const piece = text.slice(i, end)
        if (state === 'plain' || state === 'quoted') append(piece)
        else if (piece.trim() === '') state = 'padded'
        else throw new SyntaxError(AROUND_WHOLE_FIELD)
        ;[touched, afterCr] = [true, false]
      }
      if (hit < 0) return
      i = end + 1
      const char = text[end]
      if (state === 'quoted') state = 'closed'
      else if (char === '"') {
        takeQuote()
        touched = true
      } else if (char === '\r' || (char === '\n' && !afterCr)) yield endRow()
      else if (char !== '\n') {
        grow(1)
        endField()
        touched = true
      }
      afterCr = char === '\r'
    }
  }
  const start = () => {
    const found = recognize(withoutMark(head))
    ;({ afterCr } = found)
    onSeparator(found.separator)
    special = new RegExp(`["\\r\\n${found.separator}]`, 'g')
    return parse(found.text, special)
  }
  for await (const whole of pieces) {
    for (let i = 0; i < whole.length; i += MAX_PIECE) {
      const piece = whole.slice(i, i + MAX_PIECE)
      if (special) yield* collect(parse(piece, special))
      else {
        // The separator is known only when the first line with text is complete.
        head += piece
        if (FIRST_LINE.test(withoutMark(head)) || head.length > MAX_HEAD) yield* collect(start())
      }
    }
  }
  if (!special) yield* collect(start())
  // TypeScript does not see that the generator changes the state.
  if ((state as string) === 'quoted') throw new SyntaxError(UNCLOSED)
  if (touched) yield [endRow()]
}

/** Gives the rows as one list. An error comes after the rows that precede it. */
function* collect(rows: Iterable<string[]>): Generator<string[][]> {
  const list: string[][] = []
  try {
    for (const row of rows) list.push(row)
  } finally {
    yield list
  }
}

const withoutMark = (text: string) => text.replace(/^\uFEFF/, '')

/** Matches up to the first line ending outside quotes, after a text. */
const FIRST_LINE = /^[\r\n]*(?:[^"\r\n]|"[^"]*")+[\r\n]/
/** Excel's first line. A program that took it for data added the separators of its other columns. */
const EXCEL_LINE = /^sep=([,;\t|])([,;\t|]*)(?:\r\n|\r|\n|$)/i

/** Tells the separator of a file by its beginning. `text` is the beginning without the line of Excel. */
function recognize(beginning: string) {
  const [line = '', named, rest] = EXCEL_LINE.exec(beginning) ?? []
  const text = beginning.slice(line.length)
  return { separator: named && !rest ? named : separatorOf(text), text, afterCr: line.endsWith('\r') }
}

function separatorOf(text: string): string {
  const line = (FIRST_LINE.exec(text)?.[0] ?? text).replace(/"[^"]*"/g, '')
  const count = (one: string) => line.split(one).length
  return [',', ';', '\t', '|'].reduce((best, one) => (count(one) > count(best) ? one : best))
}

/** Numbers and telephones are no formulas that call anything. */
const NUMBER = /^[+-]\d[\d\s.,()-]*$/

const withoutApostrophe = (text: string) => (text[0] === "'" && FORMULA.test(text.slice(1)) ? text.slice(1) : text)
const withApostrophe = (text: string) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text)

/**
 * Escribe una fila de CSV, que se lee igual en cualquier lugar del archivo. Pone entre comillas lo que lleva un separador,
 * comillas, un fin de línea o la marca de Unicode. Un texto que una hoja de cálculo ejecutaría como fórmula lleva un
 * apóstrofo delante, que {@link leerCsv} quita; los números y los teléfonos quedan como están.
 */
export const escribirCsv = (campos: readonly (string | number | boolean)[], separador = ',') =>
  `${campos.map(quote).join(separador)}\r\n`

const quote = (field: string | number | boolean) =>
  quoteCell(typeof field === 'string' ? withApostrophe(field) : String(field))
