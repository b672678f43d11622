import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import { askAll } from '../../data/spread.ts'
import type { Estado, Reparto } from '../../generado/contrato/tipos/index.ts'
import { startOfDay } from '../../platform/time/day.ts'
import { type ParametrosPorTomar, POR_TOMAR, paramsPorTomar } from '../asignaciones/asignacion.ts'
import { zonaDeLaEmpresa } from '../catalogo/zona.ts'
import { EN_MANOS } from '../estados/custodia.ts'
import type { Handler } from '../operation.ts'
import { SUYAS } from './guia.ts'

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
const CONTAR = statement<{ repartidores: readonly string[]; estados: readonly Estado[]; desde: Date }, Cuenta>(
  'repartidores.contar',
  `select r.repartidor, e.estado, g.guias
   from unnest(:repartidores::text[]) r(repartidor) cross join unnest(:estados::text[]) e(estado) cross join lateral (
     select count(*)::int as guias from (
       select from guia where custodio = r.repartidor and estado = e.estado limit ${SUYAS}) s) g
   union all
   select r.repartidor, null, g.guias from unnest(:repartidores::text[]) r(repartidor) cross join lateral (
     select count(*)::int as guias from (
       select from guia where custodio = r.repartidor and estado in ('entregado', 'devuelto')
         and estado_en >= :desde::timestamptz limit ${SUYAS}) s) g`,
  { alcance: 'parte', plan: 'indexed' },
)

/** Counts the guides that are assigned to couriers and that the couriers do not carry yet. */
const CONTAR_ASIGNADAS = statement<
  ParametrosPorTomar & { repartidores: readonly string[] },
  Pick<Cuenta, 'repartidor' | 'guias'>
>(
  'repartidores.contarAsignadas',
  `select r.repartidor, p.guias from unnest(:repartidores::text[]) r(repartidor) cross join lateral (
     select count(*)::int as guias from (
       select from asignacion a join guia g on g.comercio_id = a.comercio_id and g.modo = a.modo and g.id = a.guia_id
       where a.repartidor = r.repartidor and ${POR_TOMAR} limit ${SUYAS}) s) p`,
  { alcance: 'parte', plan: 'indexed' },
)

export const listarReparto: Handler<'listarReparto'> = async ({ query, ...quien }, deps) => {
  const { db, cursores, bitacora, reloj, ajustes } = deps
  const desde = startOfDay(reloj(), zonaDeLaEmpresa(ajustes.zonaHoraria))
  const pagina = await paginate(cursores, { operacion: 'listarReparto', dueno: 'operador' }, query ?? {}, {
    leer: async (despues, take) => {
      const filas = await db.prisma.repartidor.findMany(newestFirst(despues, take))
      const repartidores = filas.map(({ repartidor }) => repartidor)
      const [cuentas, asignadas] = await Promise.all([
        contar(db, repartidores, desde),
        contarAsignadas(db, { repartidores, ...paramsPorTomar(deps) }),
      ])
      return filas.map((fila) => ({
        ...fila,
        cuentas: cuentas.get(fila.repartidor) ?? [],
        por_tomar: sumar(asignadas.get(fila.repartidor) ?? []),
      }))
    },
    posicion: positionOfId,
    presentar: ({ repartidor, nombre, codigo_hash, cuentas, por_tomar }): Reparto => ({
      repartidor,
      nombre,
      activo: codigo_hash !== null,
      lleva: sumar(cuentas.filter(({ estado }) => estado !== null)),
      estados: EN_MANOS.map((estado) => ({
        estado,
        guias: sumar(cuentas.filter((una) => una.estado === estado)),
      })).filter(({ guias }) => guias > 0),
      por_tomar,
      terminadas: sumar(cuentas.filter(({ estado }) => estado === null)),
    }),
  })
  await bitacora.consultada(quien, { accion: 'listarReparto', despues: { repartidores: pagina.datos.length } })
  return { status: 200, body: pagina }
}

/** Returns the counts of couriers in all parts, by courier. */
async function contar(db: Db, repartidores: readonly string[], desde: Date): Promise<Map<string, Cuenta[]>> {
  if (repartidores.length === 0) return new Map()
  const cuentas = await askAll(db, ({ consultar }) => consultar(CONTAR, { repartidores, estados: EN_MANOS, desde }))
  return Map.groupBy(cuentas, ({ repartidor }) => repartidor)
}

async function contarAsignadas(db: Db, parametros: ParametrosPorTomar & { repartidores: readonly string[] }) {
  if (parametros.repartidores.length === 0) return new Map<string, Pick<Cuenta, 'guias'>[]>()
  const cuentas = await askAll(db, ({ consultar }) => consultar(CONTAR_ASIGNADAS, parametros))
  return Map.groupBy(cuentas, ({ repartidor }) => repartidor)
}

const sumar = (cuentas: readonly Pick<Cuenta, 'guias'>[]) => cuentas.reduce((suma, { guias }) => suma + guias, 0)
