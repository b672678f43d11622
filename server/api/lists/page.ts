import type { CursorPosition, CursorScope, Cursors } from './cursor.ts'

/** Default number of rows on a page. */
export const DEFAULT_PAGE_SIZE = 25

export interface Pagination {
  limite?: number
  cursor?: string
}

/**
 * Page of a list; the cursor is null on the last page. The page is partial if a limit of rows ended the reading before
 * the page was full.
 */
export interface Page<Dato> {
  datos: Dato[]
  cursor_siguiente: string | null
  parcial?: true
}

/** Rows of a page, and the position of the last row read if a limit of rows ended the reading before the page was full. */
export interface RowsUpTo<Fila> {
  filas: Fila[]
  hasta: CursorPosition | undefined
}

/**
 * Returns a page by keyset pagination. `leer` gets the position after which to continue (undefined: from the start),
 * and the number of rows to read. That number is the page size plus 1, because the additional row shows that a next
 * page exists.
 * @throws Problema `cursor_invalido`
 */
export async function paginate<Fila, Dato>(
  cursores: Cursors,
  ambito: CursorScope,
  { limite = DEFAULT_PAGE_SIZE, cursor }: Pagination,
  partes: {
    leer: (despues: CursorPosition | undefined, cuantas: number) => Promise<Fila[] | RowsUpTo<Fila>>
    posicion: (fila: Fila) => CursorPosition
    presentar: (fila: Fila) => Dato
  },
): Promise<Page<Dato>> {
  const leidas = await partes.leer(cursor === undefined ? undefined : cursores.descifrar(ambito, cursor), limite + 1)
  const { filas, hasta } = Array.isArray(leidas) ? { filas: leidas, hasta: undefined } : leidas
  const pagina = filas.slice(0, limite)
  const llena = filas.length > limite
  const ultima = llena ? partes.posicion(pagina.at(-1)!) : hasta
  return {
    datos: pagina.map(partes.presentar),
    cursor_siguiente: ultima ? cursores.cifrar(ambito, ultima) : null,
    ...(!llena && hasta && { parcial: true }),
  }
}
