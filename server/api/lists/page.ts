import type { CursorPosition, CursorScope, Cursors } from './cursor.ts'

/** Default number of rows on a page. */
export const DEFAULT_PAGE_SIZE = 25

export interface Pagination {
  limite?: number
  cursor?: string
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
    leer: (despues: CursorPosition | undefined, cuantas: number) => Promise<Fila[]>
    posicion: (fila: Fila) => CursorPosition
    presentar: (fila: Fila) => Dato
  },
): Promise<{ datos: Dato[]; cursor_siguiente: string | null }> {
  const filas = await partes.leer(cursor === undefined ? undefined : cursores.descifrar(ambito, cursor), limite + 1)
  const pagina = filas.slice(0, limite)
  const hayMas = filas.length > limite
  return {
    datos: pagina.map(partes.presentar),
    cursor_siguiente: hayMas ? cursores.cifrar(ambito, partes.posicion(pagina.at(-1)!)) : null,
  }
}
