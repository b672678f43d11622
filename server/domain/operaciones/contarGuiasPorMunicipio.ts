import { statement } from '../../data/db.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type { Estado, GuiasPorMunicipio, Modo } from '../../generated/contract/types/index.ts'
import type { Handler } from '../operation.ts'

/** Maximum guides counted per merchant and mode. */
const MAX_COUNTED = 10_000

/** Reads the state of each merchant and mode from its own range of the index. */
const BY_MUNICIPIO = statement<
  { estado: Estado; modos: readonly Modo[]; comercio: string | null },
  GuiasPorMunicipio['datos'][number]
>(
  'operaciones.byMunicipio',
  'part',
  `select g.municipio, count(*)::int as guias, (count(*) filter (where a.guia_id is null))::int as sin_asignar
   from comercio c cross join unnest(:modos::text[]) m(modo) cross join lateral (
     select comercio_id, modo, id, municipio from guia
     where comercio_id = c.id and modo = m.modo and estado = :estado limit ${MAX_COUNTED}) g
   left join asignacion a on a.comercio_id = g.comercio_id and a.modo = g.modo and a.guia_id = g.id
   where :comercio::text is null or c.comercio = :comercio
   group by g.municipio`,
  { plan: 'indexed' },
)

export const contarGuiasPorMunicipio: Handler<'contarGuiasPorMunicipio'> = async ({ query }, { db }) => {
  const { estado, modo, comercio = null } = query
  const modos: readonly Modo[] = modo === undefined ? ['live', 'test'] : [modo]
  const rows = await queryAllParts(db, (part) => part.query(BY_MUNICIPIO, { estado, modos, comercio }))
  const datos = [...Map.groupBy(rows, ({ municipio }) => municipio)].map(([municipio, counts]) => ({
    municipio,
    guias: counts.reduce((sum, { guias }) => sum + guias, 0),
    sin_asignar: counts.reduce((sum, { sin_asignar }) => sum + sin_asignar, 0),
  }))
  return {
    status: 200,
    body: { datos: datos.toSorted((one, other) => one.municipio.localeCompare(other.municipio, 'es')) },
  }
}
