/** Texts in place of a value, in English and Spanish: errors, waiting, a column that is too narrow. */
const CELL_ERROR = /^(?:#[¡¿]?[\p{Lu}\d/]{2,}[!?]|#N\/[AD]|#{3,}|Err:\d{3}|(?:Loading|Cargando)\.+)$/u
/** UTF-8 that was saved as windows-1252, such as `NÃºÃ±ez`, and what programs put for unknown letters. */
const WRONG_ENCODING = /\uFFFD|Ã[\x80-\xBF\u0152-\u2122]|Â[\xA0-\xBF]|^\?[? ]*\?$/
const FORMULA = /^(?:=\s*[\p{L}\d$("'+-]|[+@-][\p{Lu}.]{2,}\()/u
const DECIMALS = /^\d+[.,]0{1,2}$/
/** Programs leave out the plus sign. A text such as `1E12`, without decimals, may be a reference. */
const SCIENTIFIC = /^-?\d(?:[.,]\d+E\+?|E\+)\d+$/i

const DAY = '(?:0?[1-9]|[12]\\d|3[01])'
const MONTH = '(?:0?[1-9]|1[0-2])'
/** Spreadsheets write names of months in lower case or with a capital. A reference in capitals is none. */
const NAME = '[eEfFmMaAjJsSoOnNdD](?:ne|eb|ar|br|ay|un|ul|go|ept?|ct|ov|ic|an|pr|ug|ec)\\.?'
const HOUR = '\\d\\d?:\\d\\d(?::\\d\\d)?'
const DATE = new RegExp(
  `^(?:(?:\\S+ )?${DAY} de [a-z]+ de (?:19|20)\\d\\d|${HOUR}|${DAY}/${DAY}/(?:\\d\\d)?\\d\\d|${DAY}[-.]${MONTH}[-.](?:19|20)\\d\\d|(?:19|20)\\d\\d[-/]${MONTH}[-/]${DAY}|${DAY}-${NAME}(?:-(?:\\d\\d)?\\d\\d)?|${NAME}-\\d\\d)(?:[ T]${HOUR})?$`,
)

const AS_TEXT = 'dé a la columna formato de texto y escríbalo otra vez'

const NUMERIC_IDS = ['telefono', 'recogida_telefono', 'external_ref']
const NEVER_A_DATE = [...NUMERIC_IDS, 'destinatario', 'direccion', 'recogida_direccion']

/** Tells how a spreadsheet damaged the text of a field, and the remedy; undefined if it shows no damage. */
export function damageOf(field: string, text: string): string | undefined {
  if (CELL_ERROR.test(text)) return `es «${text}», un error de su hoja de cálculo: corrija esa celda`
  if (FORMULA.test(text)) return 'es una fórmula y no su resultado: copie la columna y péguela como valores'
  if (WRONG_ENCODING.test(text)) return 'se dañó en otra codificación: guarde el original como «CSV UTF-8»'
  if (NUMERIC_IDS.includes(field)) {
    if (DECIMALS.test(text)) return `es un número con decimales, como los de una hoja de cálculo: ${AS_TEXT}`
    if (SCIENTIFIC.test(text)) return `es un número abreviado, que perdió sus cifras en una hoja de cálculo: ${AS_TEXT}`
  }
  if (NEVER_A_DATE.includes(field) && DATE.test(text))
    return `es una fecha u hora, en la que una hoja de cálculo convirtió lo escrito: ${AS_TEXT}`
  return undefined
}

const lineEnds = /\r\n|\r|\n/

/**
 * Reports whether a quoted field holds the beginning of other rows, because a quote stands in the wrong place. Each of
 * its lines then has as many fields as a row, with the fields before and after the text. One of them has a text of the
 * form `pattern` in the column `index`.
 *
 * @param width number of columns
 */
export function swallowsRows(
  values: readonly string[],
  separator: string,
  width: number,
  index: number,
  pattern: RegExp,
): boolean {
  return values.some((value, k) => {
    if (!value.includes(separator) || !lineEnds.test(value)) return false
    const cells = value
      .split(lineEnds)
      .filter((line) => line !== '')
      .map((line) => line.split(separator))
    const last = cells.length - 1
    if (last === 0) return false
    // The quote may close in another column than it opens. The cells beside the quotes are a part of the text itself.
    const closing = cells[last]!.length - 1
    const rows = cells.map((line, i) => [
      ...(i === 0 ? values.slice(0, k) : []),
      ...line,
      ...(i === last ? values.slice(k + 1) : []),
    ])
    return (
      rows.every(({ length }) => length === width) &&
      rows.some(
        (row, i) => !(i === 0 && index <= k) && !(i === last && index === closing) && pattern.test(row[index]!.trim()),
      )
    )
  })
}
