import { statement } from '../../data/db.ts'
import { askAll } from '../../data/spread.ts'
import type { Estado } from '../../generado/contrato/tipos/index.ts'
import { type ParametrosPorTomar, POR_TOMAR, paramsPorTomar } from '../asignaciones/asignacion.ts'
import { EN_MANOS } from '../estados/custodia.ts'
import { COLUMNAS_DE_GUIA, type FilaGuia, type GuiaLeida } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { exigirRepartidor } from '../repartidores/repartidor.ts'
import { presentarGuias } from './guia.ts'

/** Maximum guides listed. No courier carries so many in a day. */
const MAXIMO = 500

type FilaDeRepartidor = GuiaLeida & Pick<FilaGuia, 'custodio' | 'estado_en'> & { comercio: string }

const LAS_QUE_LLEVA = statement<{ repartidor: string; estados: readonly Estado[] }, FilaDeRepartidor>(
  'operaciones.lasQueLleva',
  `select ${COLUMNAS_DE_GUIA}, g.custodio, g.estado_en, c.comercio from guia g join comercio c on c.id = g.comercio_id
   where g.custodio = :repartidor and g.estado = any(:estados::text[]) order by g.estado_en desc, g.id desc limit ${MAXIMO}`,
  { alcance: 'parte' },
)

const LAS_ASIGNADAS = statement<ParametrosPorTomar & { repartidor: string }, FilaDeRepartidor & { dia: string }>(
  'operaciones.lasAsignadas',
  `select ${COLUMNAS_DE_GUIA}, g.custodio, g.estado_en, c.comercio, a.fecha::text as dia from asignacion a
   join guia g on g.comercio_id = a.comercio_id and g.modo = a.modo and g.id = a.guia_id
   join comercio c on c.id = g.comercio_id
   where a.repartidor = :repartidor and ${POR_TOMAR} order by a.fecha, g.id limit ${MAXIMO}`,
  { alcance: 'parte' },
)

/** Number of days after today whose assignments are listed. */
const DIAS_SIGUIENTES = 30

export const listarGuiasDeRepartidor: Handler<'listarGuiasDeRepartidor'> = async ({ path, ...quien }, deps) => {
  const { db, bitacora } = deps
  const { repartidor } = await exigirRepartidor(db, path.repartidor)
  const porTomar = { repartidor, ...paramsPorTomar(deps, DIAS_SIGUIENTES) }
  const [suyas, suAsignadas] = await Promise.all([
    askAll(db, ({ consultar }) => consultar(LAS_QUE_LLEVA, { repartidor, estados: EN_MANOS })),
    askAll(db, ({ consultar }) => consultar(LAS_ASIGNADAS, porTomar)),
  ])
  const filas = suyas.toSorted((una, otra) => otra.estado_en.getTime() - una.estado_en.getTime()).slice(0, MAXIMO)
  const primeras = suAsignadas.toSorted((una, otra) => (una.dia < otra.dia ? -1 : 1)).slice(0, MAXIMO)
  const guias = await presentarGuias(deps, [...filas, ...primeras])
  const datos = guias.slice(0, filas.length)
  const asignadas = guias.slice(filas.length)
  await bitacora.consultada(quien, {
    accion: 'listarGuiasDeRepartidor',
    sobre: ['repartidor', repartidor],
    despues: { guias: datos.length, asignadas: asignadas.length },
  })
  return { status: 200, body: { datos, asignadas } }
}
