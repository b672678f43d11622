/**
 * `MAX_ROWS`: maximum row numbers shown per group. `MAX_TEXTS`: maximum different texts per category of message. `MAX_LINES`:
 * maximum lines printed.
 */
const MAX_ROWS = 3
const MAX_TEXTS = 5
const MAX_LINES = 20

interface MessageGroup {
  total: number
  rows: number[]
}

/**
 * Counts equal messages of many rows, so that each message is printed once, with the number of rows and the first row
 * numbers.
 */
export class MessageGroups {
  readonly #categories = new Map<string, MessageGroup & { texts: Map<string, MessageGroup> }>()

  /**
   * Adds the message of one row.
   *
   * @param category key of equal messages, also when their texts differ in a value
   */
  record(category: string, text: string, rowNumber: number) {
    const categoryGroup = this.#categories.get(category) ?? {
      total: 0,
      rows: [],
      texts: new Map<string, MessageGroup>(),
    }
    this.#categories.set(category, categoryGroup)
    countRow(categoryGroup, rowNumber)
    const group = categoryGroup.texts.get(text) ?? { total: 0, rows: [] }
    if (categoryGroup.texts.size <= MAX_TEXTS) categoryGroup.texts.set(text, group)
    countRow(group, rowNumber)
  }

  /** Returns one line per group, largest group first: «327 filas: falta telefono (filas 2, 5, 9…)». */
  lineas(): string[] {
    const groups = [...this.#categories.values()].flatMap(({ texts, ...category }) =>
      texts.size <= MAX_TEXTS
        ? [...texts].map(([texto, group]) => ({ texto, ...group }))
        : [{ texto: `${texts.keys().next().value}, y otras así`, ...category }],
    )
    groups.sort((a, b) => b.total - a.total || a.rows[0]! - b.rows[0]!)
    const lines = groups.slice(0, MAX_LINES).map(formatGroup)
    return groups.length > MAX_LINES ? [...lines, `… y otras ${groups.length - MAX_LINES} clases de falla`] : lines
  }
}

function countRow(group: MessageGroup, rowNumber: number) {
  group.total++
  if (group.rows.length < MAX_ROWS) group.rows.push(rowNumber)
}

function formatGroup({ texto, total, rows }: MessageGroup & { texto: string }): string {
  if (total === 1) return `fila ${rows[0]}: ${texto}`
  return `${total} filas: ${texto} (filas ${rows.join(', ')}${total > rows.length ? '…' : ''})`
}
