import type { CursorPosition, CursorScope, Cursors } from './cursor.ts'

/** Default number of rows on a page. */
export const DEFAULT_PAGE_SIZE = 25

export interface Pagination {
  limite?: number
  cursor?: string
}

/** Page of a list; the cursor is null on the last page. */
export interface Page<Item> {
  datos: Item[]
  cursor_siguiente: string | null
}

/** Page of a bounded reading. It is partial if the bound ended the reading before the page was full. */
export interface BoundedPage<Item> extends Page<Item> {
  parcial: boolean
}

/** Rows of a page, and the position of the last row read if a limit of rows ended the reading before the page was full. */
export interface RowsUpTo<Row> {
  rows: Row[]
  hasta: CursorPosition | undefined
}

/**
 * Returns a page by keyset pagination. `read` gets the position after which to continue (undefined: from the start),
 * and the number of rows to read. That number is the page size plus 1, because the additional row shows that a next
 * page exists.
 * @throws Problema `cursor_invalido`
 */
export async function paginate<Row, Item>(
  cursors: Cursors,
  scope: CursorScope,
  pagination: Pagination,
  source: {
    read: (after: CursorPosition | undefined, count: number) => Promise<Row[]>
    positionOf: (row: Row) => CursorPosition
    present: (row: Row) => Item
  },
): Promise<Page<Item>> {
  const { datos, cursor_siguiente } = await paginateBounded(cursors, scope, pagination, {
    ...source,
    read: async (after, count) => ({ rows: await source.read(after, count), hasta: undefined }),
  })
  return { datos, cursor_siguiente }
}

/**
 * Returns a page like {@link paginate} does, of a reading that ends at a maximum number of rows.
 * @throws Problema `cursor_invalido`
 */
export async function paginateBounded<Row, Item>(
  cursors: Cursors,
  scope: CursorScope,
  { limite = DEFAULT_PAGE_SIZE, cursor }: Pagination,
  source: {
    read: (after: CursorPosition | undefined, count: number) => Promise<RowsUpTo<Row>>
    positionOf: (row: Row) => CursorPosition
    present: (row: Row) => Item
  },
): Promise<BoundedPage<Item>> {
  const after = cursor === undefined ? undefined : cursors.decrypt(scope, cursor)
  const { rows, hasta } = await source.read(after, limite + 1)
  const page = rows.slice(0, limite)
  const hasMore = rows.length > limite
  const last = hasMore ? source.positionOf(page.at(-1)!) : hasta
  return {
    datos: page.map(source.present),
    cursor_siguiente: last ? cursors.encrypt(scope, last) : null,
    parcial: !hasMore && hasta !== undefined,
  }
}
