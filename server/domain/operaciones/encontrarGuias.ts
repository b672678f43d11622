import { DEFAULT_PAGE_SIZE } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import { queryByComercio } from '../../data/partQueries.ts'
import { searchGuias } from '../busqueda/busqueda.ts'
import type { Handler } from '../operation.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow } from '../records/guiaFields.ts'
import { presentOperacionGuias } from './guia.ts'

export const encontrarGuias: Handler<'encontrarGuias'> = async ({ query, ...caller }, deps) => {
  const { texto, limite = DEFAULT_PAGE_SIZE } = query
  const matches = await searchGuias(deps.db, texto, { now: deps.clock(), limite: limite + 1 })
  const rows = await readMatches(deps.db, matches.slice(0, limite))
  const guiaViews = await presentOperacionGuias(deps, rows)
  const datos = guiaViews.map((guiaView, i) => ({ ...guiaView, coincidencia: rows[i]!.coincidencia }))
  await deps.bitacora.recordRead(caller, {
    accion: 'encontrarGuias',
    campos: ['texto'],
    despues: { guias: datos.length },
  })
  return { status: 200, body: { datos, hay_mas: matches.length > limite } }
}

type MatchedGuiaRow = GuiaInJson & Pick<GuiaRow, 'id' | 'custodio'> & { comercio: string }

const READ = statement<{ guias: string }, MatchedGuiaRow>(
  'operaciones.read',
  'part',
  `select ${GUIA_COLUMNS}, g.id, g.custodio, c.comercio
   from json_to_recordset(:guias::json) x(comercio_id uuid, modo text, id uuid)
   join guia g on g.comercio_id = x.comercio_id and g.modo = x.modo and g.id = x.id
   join comercio c on c.id = g.comercio_id`,
)

/** Returns the guides in the order of the search result. */
async function readMatches(db: Db, matches: Awaited<ReturnType<typeof searchGuias>>) {
  const rows = await queryByComercio(db, matches, ({ query }, shardMatches) =>
    query(READ, { guias: JSON.stringify(shardMatches) }),
  )
  const rowById = new Map(rows.map((row) => [row.id, row]))
  return matches.flatMap(({ id, coincidencia }) => {
    const row = rowById.get(id)
    return row ? [{ ...row, coincidencia }] : []
  })
}
