import { statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { Estado, Modo } from '../../generated/contract/types/index.ts'
import { smallestId } from '../../platform/codes/codes.ts'
import { startOfDay } from '../../platform/time/day.ts'
import { companyTimeZone } from '../catalogo/timeZone.ts'
import { ONGOING_STATES } from '../estados/estados.ts'
import { OF_ALL_MERCHANTS } from '../guias/list.ts'
import type { Handler } from '../operation.ts'

/** Maximum guides that one count reads. */
const MAX_ROWS = 10_000

/** Reads each state of each merchant from its own range of the index, so that finished guides cost nothing. */
const BY_ESTADO = statement<
  { modo: Modo; estados: readonly Estado[] },
  { estado: Estado; guias: number; sin_lugar: number }
>(
  'operaciones.byEstado',
  'part',
  `select e.estado, count(*)::int as guias, (count(*) filter (where g.ubicacion_estado <> 'confirmada'))::int as sin_lugar
   from comercio c cross join unnest(:estados::text[]) e(estado) cross join lateral (
     select ubicacion_estado from guia where comercio_id = c.id and modo = :modo and estado = e.estado limit ${MAX_ROWS}) g
   group by e.estado`,
  { plan: 'indexed' },
)
const CREATED = statement<{ modo: Modo; desde: string }, { guias: number }>(
  'operaciones.created',
  'part',
  `select count(*)::int as guias from (
     select from guia where id >= :desde::uuid and modo = :modo and ${OF_ALL_MERCHANTS} limit ${MAX_ROWS}) g`,
  { plan: 'indexed' },
)
const TO_DECIDE = statement<{ modo: Modo }, { guias: number }>(
  'operaciones.toDecide',
  'part',
  `select count(*)::int as guias from (
     select from guia where decision ->> 'estado' = 'pendiente' and modo = :modo and ${OF_ALL_MERCHANTS}
     limit ${MAX_ROWS}) g`,
  { plan: 'indexed' },
)

export const obtenerJornada: Handler<'obtenerJornada'> = async ({ query }, { db, clock, settings }) => {
  const { modo = 'live' } = query ?? {}
  const from = startOfDay(clock(), companyTimeZone(settings.timeZone))
  const [byEstado, creadas, toDecide] = await Promise.all([
    queryAllParts(db, ({ query: runQuery }) => runQuery(BY_ESTADO, { modo, estados: ONGOING_STATES })),
    queryAllParts(db, ({ query: runQuery }) => runQuery(CREATED, { modo, desde: smallestId(from) })),
    queryAllParts(db, ({ query: runQuery }) => runQuery(TO_DECIDE, { modo })),
  ])
  const body = {
    desde: from.toISOString(),
    modo,
    creadas: sumCounts(creadas.map(({ guias }) => guias)),
    sin_lugar: sumCounts(byEstado.map(({ sin_lugar }) => sin_lugar)),
    por_decidir: sumCounts(toDecide.map(({ guias }) => guias)),
    estados: ONGOING_STATES.map((estado) => ({
      estado,
      guias: sumCounts(byEstado.filter((row) => row.estado === estado).map(({ guias }) => guias)),
    })),
  }
  return { status: 200, body }
}

const sumCounts = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
