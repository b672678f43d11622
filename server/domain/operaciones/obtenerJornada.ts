import { statement } from '../../data/db.ts'
import { askAll } from '../../data/spread.ts'
import type { Estado, Modo } from '../../generado/contrato/tipos/index.ts'
import { smallestId } from '../../platform/codes/codes.ts'
import { startOfDay } from '../../platform/time/day.ts'
import { zonaDeLaEmpresa } from '../catalogo/zona.ts'
import { EN_CURSO } from '../estados/estados.ts'
import { OF_ALL_MERCHANTS } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'

/** Maximum guides that one count reads. */
const MAXIMO = 10_000

/** Reads each state of each merchant from its own range of the index, so that finished guides cost nothing. */
const POR_ESTADO = statement<
  { modo: Modo; estados: readonly Estado[] },
  { estado: Estado; guias: number; sin_lugar: number }
>(
  'operaciones.porEstado',
  `select e.estado, count(*)::int as guias, (count(*) filter (where g.ubicacion_estado <> 'confirmada'))::int as sin_lugar
   from comercio c cross join unnest(:estados::text[]) e(estado) cross join lateral (
     select ubicacion_estado from guia where comercio_id = c.id and modo = :modo and estado = e.estado limit ${MAXIMO}) g
   group by e.estado`,
  { alcance: 'parte', plan: 'indexed' },
)
const CREADAS = statement<{ modo: Modo; desde: string }, { guias: number }>(
  'operaciones.creadas',
  `select count(*)::int as guias from (
     select from guia where id >= :desde::uuid and modo = :modo and ${OF_ALL_MERCHANTS} limit ${MAXIMO}) g`,
  { alcance: 'parte', plan: 'indexed' },
)
const POR_DECIDIR = statement<{ modo: Modo }, { guias: number }>(
  'operaciones.porDecidir',
  `select count(*)::int as guias from (
     select from guia where decision ->> 'estado' = 'pendiente' and modo = :modo and ${OF_ALL_MERCHANTS}
     limit ${MAXIMO}) g`,
  { alcance: 'parte', plan: 'indexed' },
)

export const obtenerJornada: Handler<'obtenerJornada'> = async ({ query }, { db, reloj, ajustes }) => {
  const { modo = 'live' } = query ?? {}
  const desde = startOfDay(reloj(), zonaDeLaEmpresa(ajustes.zonaHoraria))
  const [porEstado, creadas, porDecidir] = await Promise.all([
    askAll(db, ({ consultar }) => consultar(POR_ESTADO, { modo, estados: EN_CURSO })),
    askAll(db, ({ consultar }) => consultar(CREADAS, { modo, desde: smallestId(desde) })),
    askAll(db, ({ consultar }) => consultar(POR_DECIDIR, { modo })),
  ])
  const body = {
    desde: desde.toISOString(),
    modo,
    creadas: sumar(creadas.map(({ guias }) => guias)),
    sin_lugar: sumar(porEstado.map(({ sin_lugar }) => sin_lugar)),
    por_decidir: sumar(porDecidir.map(({ guias }) => guias)),
    estados: EN_CURSO.map((estado) => ({
      estado,
      guias: sumar(porEstado.filter((una) => una.estado === estado).map(({ guias }) => guias)),
    })),
  }
  return { status: 200, body }
}

const sumar = (cuentas: readonly number[]) => cuentas.reduce((suma, una) => suma + una, 0)
