import { statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { TO_TAKE, type ToTakeParams, toTakeParams } from '../asignaciones/asignacion.ts'
import { HELD_STATES } from '../estados/custodia.ts'
import { requireRepartidor } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow } from '../records/guiaFields.ts'
import { presentOperacionGuias } from './guia.ts'

/** Maximum guides listed. No courier carries so many in a day. */
const MAX_GUIAS = 500

type RepartidorGuiaRow = GuiaInJson & Pick<GuiaRow, 'custodio' | 'estado_en'> & { comercio: string }

const CARRIED = statement<{ repartidor: string; estados: readonly Estado[] }, RepartidorGuiaRow>(
  'operaciones.carried',
  'part',
  `select ${GUIA_COLUMNS}, g.custodio, g.estado_en, c.comercio from guia g join comercio c on c.id = g.comercio_id
   where g.custodio = :repartidor and g.estado = any(:estados::text[]) order by g.estado_en desc, g.id desc limit ${MAX_GUIAS}`,
)

const ASSIGNED = statement<ToTakeParams & { repartidor: string }, RepartidorGuiaRow & { dia: string }>(
  'operaciones.assigned',
  'part',
  `select ${GUIA_COLUMNS}, g.custodio, g.estado_en, c.comercio, a.fecha::text as dia from asignacion a
   join guia g on g.comercio_id = a.comercio_id and g.modo = a.modo and g.id = a.guia_id
   join comercio c on c.id = g.comercio_id
   where a.repartidor = :repartidor and ${TO_TAKE} order by a.fecha, g.id limit ${MAX_GUIAS}`,
)

/** Number of days after today whose assignments are listed. */
const NEXT_DAYS = 30

export const listarGuiasDeRepartidor: Handler<'listarGuiasDeRepartidor'> = async ({ path, ...caller }, deps) => {
  const { db, bitacora } = deps
  const { repartidor } = await requireRepartidor(db, path.repartidor)
  const toTake = { repartidor, ...toTakeParams(deps, NEXT_DAYS) }
  const [carriedRows, assignedRows] = await Promise.all([
    queryAllParts(db, ({ query }) => query(CARRIED, { repartidor, estados: HELD_STATES })),
    queryAllParts(db, ({ query }) => query(ASSIGNED, toTake)),
  ])
  const rows = carriedRows
    .toSorted((row, otherRow) => otherRow.estado_en.getTime() - row.estado_en.getTime())
    .slice(0, MAX_GUIAS)
  const firstAssigned = assignedRows.toSorted((row, otherRow) => (row.dia < otherRow.dia ? -1 : 1)).slice(0, MAX_GUIAS)
  const guias = await presentOperacionGuias(deps, [...rows, ...firstAssigned])
  const datos = guias.slice(0, rows.length)
  const asignadas = guias.slice(rows.length)
  await bitacora.recordRead(caller, {
    accion: 'listarGuiasDeRepartidor',
    sobre: ['repartidor', repartidor],
    despues: { guias: datos.length, asignadas: asignadas.length },
  })
  return { status: 200, body: { datos, asignadas } }
}
