import { statement } from '../../data/db.ts'
import { askAll } from '../../data/spread.ts'
import type { Dia } from '../../generado/contrato/tipos/index.ts'
import { diaDeLaEmpresa } from '../asignaciones/asignacion.ts'
import { COLUMNAS_DE_GUIA, type FilaGuia, type GuiaLeida } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { exigirRepartidor, leerQuienes } from '../repartidores/repartidor.ts'
import { presentarGuias } from './guia.ts'

/** Maximum assignments that are counted. A day has fewer. */
const MAXIMO = 10_000
/** Maximum guides listed. No courier carries so many in a day. */
const MAX_GUIAS = 500

const CONTAR = statement<{ fecha: Dia; repartidor: string | null }, { repartidor: string; guias: number }>(
  'asignaciones.contar',
  `select repartidor, count(*)::int as guias from (
     select repartidor from asignacion
     where fecha = :fecha::text::date and (:repartidor::text is null or repartidor = :repartidor) limit ${MAXIMO}) a
   group by repartidor`,
  { alcance: 'parte' },
)

const LISTAR = statement<
  { fecha: Dia; repartidor: string },
  GuiaLeida & Pick<FilaGuia, 'id' | 'custodio'> & { comercio: string }
>(
  'asignaciones.listar',
  `select ${COLUMNAS_DE_GUIA}, g.id, g.custodio, c.comercio from asignacion a
   join guia g on g.comercio_id = a.comercio_id and g.modo = a.modo and g.id = a.guia_id
   join comercio c on c.id = g.comercio_id
   where a.fecha = :fecha::text::date and a.repartidor = :repartidor order by g.id limit ${MAX_GUIAS}`,
  { alcance: 'parte' },
)

export const listarAsignaciones: Handler<'listarAsignaciones'> = async ({ query, ...quien }, deps) => {
  const { db, bitacora } = deps
  const { fecha = diaDeLaEmpresa(deps) } = query ?? {}
  const repartidor = query?.repartidor === undefined ? null : (await exigirRepartidor(db, query.repartidor)).repartidor
  const [repartidores, guias] = await Promise.all([
    askAll(db, ({ consultar }) => consultar(CONTAR, { fecha, repartidor })),
    repartidor === null ? null : askAll(db, ({ consultar }) => consultar(LISTAR, { fecha, repartidor })),
  ])
  const cuentas = [...Map.groupBy(repartidores, (uno) => uno.repartidor)].map(([uno, suyas]) => ({
    repartidor: uno,
    guias: suyas.reduce((suma, una) => suma + una.guias, 0),
  }))
  const quienes = await leerQuienes(
    db,
    cuentas.map((una) => una.repartidor),
  )
  const primeras = guias?.toSorted((una, otra) => (una.id < otra.id ? -1 : 1)).slice(0, MAX_GUIAS)
  const vistas = primeras ? await presentarGuias(deps, primeras) : null
  await bitacora.consultada(quien, {
    accion: 'listarAsignaciones',
    ...(repartidor !== null && { sobre: ['repartidor', repartidor] }),
    campos: Object.keys(query ?? {}),
    despues: { repartidores: cuentas.length, ...(vistas && { guias: vistas.length }) },
  })
  return {
    status: 200,
    body: {
      fecha,
      repartidores: cuentas
        .toSorted((una, otra) => otra.guias - una.guias || (una.repartidor < otra.repartidor ? -1 : 1))
        .map((una) => ({ ...quienes.get(una.repartidor)!, guias: una.guias })),
      guias: vistas,
    },
  }
}
