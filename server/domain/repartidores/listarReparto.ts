import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { Estado, Reparto } from '../../generated/contract/types/index.ts'
import { startOfDay } from '../../platform/time/day.ts'
import { TO_TAKE, type ToTakeParams, toTakeParams } from '../asignaciones/asignacion.ts'
import { companyTimeZone } from '../catalogo/timeZone.ts'
import { HELD_STATES } from '../estados/custodia.ts'
import type { Handler } from '../operation.ts'
import { MAX_CARRIED } from './guia.ts'

interface Cuenta {
  repartidor: string
  /** State of the counted guides; null for guides that the courier delivered or returned. */
  estado: Estado | null
  guias: number
}

/**
 * Counts the guides that each courier carries, by state, and those that each finished since an instant. Each count
 * reads its own range of an index.
 */
const COUNT = statement<{ repartidores: readonly string[]; estados: readonly Estado[]; desde: Date }, Cuenta>(
  'repartidores.count',
  'part',
  `select r.repartidor, e.estado, g.guias
   from unnest(:repartidores::text[]) r(repartidor) cross join unnest(:estados::text[]) e(estado) cross join lateral (
     select count(*)::int as guias from (
       select from guia where custodio = r.repartidor and estado = e.estado limit ${MAX_CARRIED}) s) g
   union all
   select r.repartidor, null, g.guias from unnest(:repartidores::text[]) r(repartidor) cross join lateral (
     select count(*)::int as guias from (
       select from guia where custodio = r.repartidor and estado in ('entregado', 'devuelto')
         and estado_en >= :desde::timestamptz limit ${MAX_CARRIED}) s) g`,
  { plan: 'indexed' },
)

/** Counts the guides that are assigned to couriers and that the couriers do not carry yet. */
const COUNT_ASSIGNED = statement<
  ToTakeParams & { repartidores: readonly string[] },
  Pick<Cuenta, 'repartidor' | 'guias'>
>(
  'repartidores.countAssigned',
  'part',
  `select r.repartidor, p.guias from unnest(:repartidores::text[]) r(repartidor) cross join lateral (
     select count(*)::int as guias from (
       select from asignacion a join guia g on g.comercio_id = a.comercio_id and g.modo = a.modo and g.id = a.guia_id
       where a.repartidor = r.repartidor and ${TO_TAKE} limit ${MAX_CARRIED}) s) p`,
  { plan: 'indexed' },
)

export const listarReparto: Handler<'listarReparto'> = async ({ query, ...caller }, deps) => {
  const { db, cursors, bitacora, clock, settings } = deps
  const from = startOfDay(clock(), companyTimeZone(settings.timeZone))
  const page = await paginate(cursors, { operacion: 'listarReparto', dueno: 'operador' }, query ?? {}, {
    read: async (after, take) => {
      const rows = await db.prisma.repartidor.findMany(newestFirst(after, take))
      const repartidores = rows.map(({ repartidor }) => repartidor)
      const [counts, asignadas] = await Promise.all([
        countByRepartidor(db, repartidores, from),
        countAssigned(db, { repartidores, ...toTakeParams(deps) }),
      ])
      return rows.map((row) => ({
        ...row,
        counts: counts.get(row.repartidor) ?? [],
        por_tomar: sumGuias(asignadas.get(row.repartidor) ?? []),
      }))
    },
    positionOf: positionOfId,
    present: ({ repartidor, nombre, codigo_hash, counts, por_tomar }): Reparto => ({
      repartidor,
      nombre,
      activo: codigo_hash !== null,
      lleva: sumGuias(counts.filter(({ estado }) => estado !== null)),
      estados: HELD_STATES.map((estado) => ({
        estado,
        guias: sumGuias(counts.filter((row) => row.estado === estado)),
      })).filter(({ guias }) => guias > 0),
      por_tomar,
      terminadas: sumGuias(counts.filter(({ estado }) => estado === null)),
    }),
  })
  await bitacora.recordRead(caller, { accion: 'listarReparto', despues: { repartidores: page.datos.length } })
  return { status: 200, body: page }
}

/** Returns the counts of couriers in all parts, by courier. */
async function countByRepartidor(db: Db, repartidores: readonly string[], desde: Date): Promise<Map<string, Cuenta[]>> {
  if (repartidores.length === 0) return new Map()
  const counts = await queryAllParts(db, ({ query }) => query(COUNT, { repartidores, estados: HELD_STATES, desde }))
  return Map.groupBy(counts, ({ repartidor }) => repartidor)
}

async function countAssigned(db: Db, params: ToTakeParams & { repartidores: readonly string[] }) {
  if (params.repartidores.length === 0) return new Map<string, Pick<Cuenta, 'guias'>[]>()
  const counts = await queryAllParts(db, ({ query }) => query(COUNT_ASSIGNED, params))
  return Map.groupBy(counts, ({ repartidor }) => repartidor)
}

const sumGuias = (counts: readonly Pick<Cuenta, 'guias'>[]) => counts.reduce((sum, { guias }) => sum + guias, 0)
