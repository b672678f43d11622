import { escribirCsv } from '@guias/sdk/hoja'
import { type Context, type Options, readIntegerOption } from './command.ts'
import { drainOutput, notify, paint, printLine, sanitize, type TextTone, terminalColumns } from './terminal.ts'

/** Column of a table on the terminal: its title, and the text and colour of each element. */
export interface Column<T> {
  title: string
  text(element: T): string
  tone?(element: T): TextTone | undefined
  /** True if the column shrinks when the terminal is narrow. */
  canShrink?: boolean
}

/** List that a command shows: columns for people, fields for programs, and a message when empty. */
export interface ListDescription<T> {
  columns: readonly Column<T>[]
  /** CSV fields of an element, by name; `names` gives their order. */
  campos(element: T): Record<string, string | number | boolean | null>
  names: readonly string[]
  /** Message when the list is empty. */
  emptyMessage: string
}

export const LIST_OPTIONS: Options = {
  limite: { placeholder: '<n>', description: 'cuántas muestra; 25 si falta' },
  todas: { description: 'todas, sin límite' },
  cursor: { placeholder: '<cursor>', description: 'sigue donde quedó otra lista con los mismos filtros' },
  csv: { description: 'escribe CSV, con todos los campos' },
}

const PAGE_SIZE = 100

type RequestPage<T> = (page: { limite: number; cursor: string | undefined }) => PromiseLike<{
  datos: T[]
  cursor_siguiente: string | null
}>

/** Prints a list page by page, in the format requested: a table, JSON lines or CSV. */
export async function showList<T>(
  context: Context,
  list: ListDescription<T>,
  requestPage: RequestPage<T>,
): Promise<void> {
  const writeElements = createWriter(context, list)
  let remaining = context.isSet('todas') ? Number.POSITIVE_INFINITY : readIntegerOption(context, 'limite', 25, 1)
  let cursor = context.texto('cursor')
  let shownCount = 0
  for (;;) {
    const { datos, cursor_siguiente } = await requestPage({ limite: Math.min(PAGE_SIZE, remaining), cursor })
    if (datos.length > 0 || context.isSet('csv')) writeElements(datos)
    await drainOutput()
    shownCount += datos.length
    remaining -= datos.length
    if (cursor_siguiente === null) break
    cursor = cursor_siguiente
    if (remaining > 0) continue
    notify(`Hay más: pida --todas, o siga con --cursor ${cursor}`)
    return
  }
  if (shownCount === 0) notify(list.emptyMessage)
}

function createWriter<T>(context: Context, list: ListDescription<T>): (datos: T[]) => void {
  if (context.json) return (datos) => datos.forEach((element) => void printLine(JSON.stringify(element)))
  if (context.isSet('csv')) return enCsv(list)
  return createTablePrinter(list.columns)
}

function enCsv<T>({ names, campos }: ListDescription<T>) {
  let header = escribirCsv(names)
  return (datos: T[]) => {
    const rows = datos.map((element) => {
      const fieldValues = campos(element)
      return escribirCsv(names.map((name) => fieldValues[name] ?? ''))
    })
    process.stdout.write(header + rows.join(''))
    header = ''
  }
}

const COLUMN_GAP = 2

/**
 * Returns a function that prints each page as part of one table. Columns never become narrower from one page to the
 * next.
 */
function createTablePrinter<T>(columns: readonly Column<T>[]) {
  let widths = columns.map(({ title }) => ancho(title))
  let needsTitles = true
  return (datos: T[]) => {
    const rows = datos.map((element) => columns.map(({ text: de }) => sanitize(de(element)) || '-'))
    widths = widths.map((element, i) => Math.max(element, ...rows.map((row) => ancho(row[i]!))))
    widths = shrinkWidths(widths, columns)
    const line = (texts: string[], tone: (i: number) => TextTone | undefined) =>
      texts
        .map((text, i) => {
          const fittedText = i === texts.length - 1 ? truncate(text, widths[i]!) : padToWidth(text, widths[i]!)
          const cellTone = tone(i)
          return cellTone ? paint(cellTone, fittedText) : fittedText
        })
        .join(' '.repeat(COLUMN_GAP))
        .trimEnd()
    if (needsTitles)
      printLine(
        line(
          columns.map(({ title }) => title),
          () => 'grey',
        ),
      )
    needsTitles = false
    for (const [i, row] of rows.entries())
      printLine(line(row, (columnIndex) => columns[columnIndex]!.tone?.(datos[i]!)))
  }
}

/**
 * Narrows the columns until a line fits on the terminal. The widest column with `canShrink` shrinks first, down to 8
 * characters.
 */
function shrinkWidths(widths: readonly number[], todas: readonly { canShrink?: boolean }[]): number[] {
  const availableWidth = terminalColumns()
  const fittedWidths = [...widths]
  if (availableWidth === undefined) return fittedWidths
  const countExcess = () =>
    fittedWidths.reduce((sum, element) => sum + element + COLUMN_GAP, -COLUMN_GAP) - availableWidth
  while (countExcess() > 0) {
    const mayor = fittedWidths.reduce(
      (widestIndex, element, i) =>
        todas[i]!.canShrink && element > (fittedWidths[widestIndex] ?? 8) ? i : widestIndex,
      -1,
    )
    if (mayor < 0) break
    fittedWidths[mayor]!--
  }
  return fittedWidths
}

/** Returns the number of terminal columns that a character takes: 0, 1 or 2. */
const widthOfCharacter = (character: string) =>
  /\p{M}/u.test(character)
    ? 0
    : /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(character)
      ? 2
      : 1
const ancho = (text: string) => Array.from(text).reduce((sum, character) => sum + widthOfCharacter(character), 0)

function truncate(text: string, until: number): string {
  if (ancho(text) <= until) return text
  let shortened = ''
  let sum = 1
  for (const character of text) {
    sum += widthOfCharacter(character)
    if (sum > until) break
    shortened += character
  }
  return `${shortened}…`
}

const padToWidth = (text: string, until: number) => {
  const fittedText = truncate(text, until)
  return fittedText + ' '.repeat(until - ancho(fittedText))
}
