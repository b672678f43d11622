import { statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { Estado, Modo } from '../../generated/contract/types/index.ts'
import { startOfDay } from '../../platform/time/day.ts'
import { HOUR_MS } from '../../platform/time/units.ts'
import { companyTimeZone } from '../catalogo/timeZone.ts'
import type { Handler } from '../operation.ts'
import { GUIA_COLUMNS, type GuiaInJson, type GuiaRow } from '../records/guiaFields.ts'
import { presentOperacionGuias } from './guia.ts'

/** Maximum guides listed. */
const MAX_STALLED = 100
/** Maximum guides read per merchant and state. */
const MAX_READ = 10_000
/** Time in milliseconds after which a parcel in custody counts as stuck if its state does not change. */
const STALLED_MS = 48 * HOUR_MS
/** States in which a parcel is in custody. `en_ruta` is missing because it has its own limit: the end of the day. */
const CUSTODIA_STATES: readonly Estado[] = [
  'recolectado',
  'en_bodega',
  'en_transito',
  'intento_fallido',
  'en_devolucion',
]

type StalledGuiaRow = GuiaInJson & Pick<GuiaRow, 'custodio' | 'estado_en'> & { comercio: string }

/**
 * Reads each state of each merchant from its own range of the index, so that finished guides cost nothing. Skips guides
 * with an open decision, because they wait for a person and are not stuck.
 */
const STALLED = statement<{ modo: Modo; limits: string }, StalledGuiaRow>(
  'operaciones.stalled',
  'part',
  `select ${GUIA_COLUMNS}, g.custodio, g.estado_en, c.comercio
   from comercio c cross join json_to_recordset(:limits::json) e(estado text, antes timestamptz) cross join lateral (
     select * from guia where comercio_id = c.id and modo = :modo and estado = e.estado limit ${MAX_READ}) g
   where g.estado_en < e.antes and coalesce(g.decision ->> 'estado', '') <> 'pendiente'
   order by g.estado_en limit ${MAX_STALLED + 1}`,
  { plan: 'indexed' },
)

export const listarGuiasDetenidas: Handler<'listarGuiasDetenidas'> = async ({ query, ...caller }, deps) => {
  const { db, clock, settings, bitacora } = deps
  const { modo = 'live' } = query ?? {}
  const now = clock()
  const limits = JSON.stringify([
    ...CUSTODIA_STATES.map((estado) => ({ estado, antes: new Date(now.getTime() - STALLED_MS) })),
    { estado: 'en_ruta', antes: startOfDay(now, companyTimeZone(settings.timeZone)) },
  ])
  const stalledRows = await queryAllParts(db, ({ query: runQuery }) => runQuery(STALLED, { modo, limits }))
  const rows = stalledRows.toSorted((row, otherRow) => row.estado_en.getTime() - otherRow.estado_en.getTime())
  const guiaViews = await presentOperacionGuias(deps, rows.slice(0, MAX_STALLED))
  const datos = guiaViews.map((guiaView, i) => ({ ...guiaView, detenida_desde: rows[i]!.estado_en.toISOString() }))
  await bitacora.recordRead(caller, { accion: 'listarGuiasDetenidas', despues: { guias: datos.length } })
  return { status: 200, body: { datos, hay_mas: rows.length > MAX_STALLED } }
}
