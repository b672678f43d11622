import { type Db, type Query, type RowOf, statement } from '../../data/db.ts'
import type { nota } from '../../generated/contract/prisma/client.ts'
import type { Modo, Nota } from '../../generated/contract/types/index.ts'
import { readAuthors } from '../operadores/operador.ts'

export type NotaRow = RowOf<nota, { modo: Modo }>

/** Converts notes of a guide for operators. The name of an erased person is empty. */
export async function presentNotas(
  db: Db,
  guia: string,
  rows: readonly Pick<NotaRow, 'nota' | 'texto' | 'autor' | 'creado_en'>[],
): Promise<Nota[]> {
  const authorOf = await readAuthors(
    db,
    rows.map(({ autor }) => autor),
  )
  return rows.map(({ nota, texto, autor, creado_en }) => ({
    nota,
    guia,
    texto,
    autor: authorOf(autor),
    creado_en: creado_en.toISOString(),
  }))
}

const ERASE = statement<{ guias: string }>(
  'notas.erase',
  'part',
  `delete from nota n using json_to_recordset(:guias::json) x(comercio_id uuid, modo text, id uuid)
   where n.comercio_id = x.comercio_id and n.modo = x.modo and n.guia_id = x.id`,
)

/**
 * Deletes the notes about guides whose personal data this transaction has erased. Writing a note locks its guide. Each
 * note is therefore visible here, or is refused because the data is erased.
 */
export const eraseNotas = (
  query: Query,
  guias: readonly { comercio_id: string; modo: Modo; id: string }[],
): Promise<unknown> => query(ERASE, { guias: JSON.stringify(guias) })
