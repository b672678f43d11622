import { statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { Dia } from '../../generated/contract/types/index.ts'
import { companyDay } from '../asignaciones/asignacion.ts'
import { readRepartidorNames, requireRepartidor } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow } from '../records/guiaFields.ts'
import { presentOperacionGuias } from './guia.ts'

/** Maximum assignments that are counted. A day has fewer. */
const MAX_ROWS = 10_000
/** Maximum guides listed. No courier carries so many in a day. */
const MAX_GUIAS = 500

const COUNT = statement<{ fecha: Dia; repartidor: string | null }, { repartidor: string; guias: number }>(
  'asignaciones.count',
  'part',
  `select repartidor, count(*)::int as guias from (
     select repartidor from asignacion
     where fecha = :fecha::text::date and (:repartidor::text is null or repartidor = :repartidor) limit ${MAX_ROWS}) a
   group by repartidor`,
)

const LIST = statement<
  { fecha: Dia; repartidor: string },
  GuiaInJson & Pick<GuiaRow, 'id' | 'custodio'> & { comercio: string }
>(
  'asignaciones.list',
  'part',
  `select ${GUIA_COLUMNS}, g.id, g.custodio, c.comercio from asignacion a
   join guia g on g.comercio_id = a.comercio_id and g.modo = a.modo and g.id = a.guia_id
   join comercio c on c.id = g.comercio_id
   where a.fecha = :fecha::text::date and a.repartidor = :repartidor order by g.id limit ${MAX_GUIAS}`,
)

export const listarAsignaciones: Handler<'listarAsignaciones'> = async ({ query, ...caller }, deps) => {
  const { db, bitacora } = deps
  const { fecha = companyDay(deps) } = query ?? {}
  const repartidor = query?.repartidor === undefined ? null : (await requireRepartidor(db, query.repartidor)).repartidor
  const [countRows, guias] = await Promise.all([
    queryAllParts(db, ({ query: runQuery }) => runQuery(COUNT, { fecha, repartidor })),
    repartidor === null ? null : queryAllParts(db, ({ query: runQuery }) => runQuery(LIST, { fecha, repartidor })),
  ])
  const repartidorCounts = [...Map.groupBy(countRows, (row) => row.repartidor)].map(([assignee, asignacionCounts]) => ({
    repartidor: assignee,
    guias: asignacionCounts.reduce((sum, row) => sum + row.guias, 0),
  }))
  const repartidoresByCode = await readRepartidorNames(
    db,
    repartidorCounts.map((row) => row.repartidor),
  )
  const firstGuias = guias?.toSorted((row, otherRow) => (row.id < otherRow.id ? -1 : 1)).slice(0, MAX_GUIAS)
  const guiaViews = firstGuias ? await presentOperacionGuias(deps, firstGuias) : null
  await bitacora.recordRead(caller, {
    accion: 'listarAsignaciones',
    ...(repartidor !== null && { sobre: ['repartidor', repartidor] }),
    campos: Object.keys(query ?? {}),
    despues: { repartidores: repartidorCounts.length, ...(guiaViews && { guias: guiaViews.length }) },
  })
  return {
    status: 200,
    body: {
      fecha,
      repartidores: repartidorCounts
        .toSorted((row, otherRow) => otherRow.guias - row.guias || (row.repartidor < otherRow.repartidor ? -1 : 1))
        .map((row) => ({ ...repartidoresByCode.get(row.repartidor)!, guias: row.guias })),
      guias: guiaViews,
    },
  }
}
