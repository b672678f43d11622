import { statement } from '../../data/db.ts'
import { askAll } from '../../data/spread.ts'
import type { Estado, Modo } from '../../generado/contrato/tipos/index.ts'
import { startOfDay } from '../../platform/time/day.ts'
import { zonaDeLaEmpresa } from '../catalogo/zona.ts'
import { COLUMNAS_DE_GUIA, type FilaGuia, type GuiaLeida } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

/** Maximum guides listed. */
const MAX_DETENIDAS = 100
/** Maximum guides read per merchant and state. */
const MAX_LEIDAS = 10_000
/** Time in milliseconds after which a parcel in custody counts as stuck if its state does not change. */
const PLAZO = 48 * 3_600_000
/** States in which a parcel is in custody. `en_ruta` is missing because it has its own limit: the end of the day. */
const EN_CUSTODIA: readonly Estado[] = ['recolectado', 'en_bodega', 'en_transito', 'intento_fallido', 'en_devolucion']

type FilaDetenida = GuiaLeida & Pick<FilaGuia, 'custodio' | 'estado_en'> & { comercio: string }

/**
 * Reads each state of each merchant from its own range of the index, so that finished guides cost nothing. Skips guides
 * with an open decision, because they wait for a person and are not stuck.
 */
const DETENIDAS = statement<{ modo: Modo; limites: string }, FilaDetenida>(
  'operaciones.detenidas',
  `select ${COLUMNAS_DE_GUIA}, g.custodio, g.estado_en, c.comercio
   from comercio c cross join json_to_recordset(:limites::json) e(estado text, antes timestamptz) cross join lateral (
     select * from guia where comercio_id = c.id and modo = :modo and estado = e.estado limit ${MAX_LEIDAS}) g
   where g.estado_en < e.antes and coalesce(g.decision ->> 'estado', '') <> 'pendiente'
   order by g.estado_en limit ${MAX_DETENIDAS + 1}`,
  { alcance: 'parte', plan: 'indexed' },
)

export const listarGuiasDetenidas: Handler<'listarGuiasDetenidas'> = async ({ query, ...quien }, deps) => {
  const { db, reloj, ajustes, bitacora } = deps
  const { modo = 'live' } = query ?? {}
  const ahora = reloj()
  const limites = JSON.stringify([
    ...EN_CUSTODIA.map((estado) => ({ estado, antes: new Date(ahora.getTime() - PLAZO) })),
    { estado: 'en_ruta', antes: startOfDay(ahora, zonaDeLaEmpresa(ajustes.zonaHoraria)) },
  ])
  const leidas = await askAll(db, ({ consultar }) => consultar(DETENIDAS, { modo, limites }))
  const filas = leidas.toSorted((una, otra) => una.estado_en.getTime() - otra.estado_en.getTime())
  const vistas = await presentarGuias(deps, filas.slice(0, MAX_DETENIDAS))
  const datos = vistas.map((vista, i) => ({ ...vista, detenida_desde: filas[i]!.estado_en.toISOString() }))
  await bitacora.consultada(quien, { accion: 'listarGuiasDetenidas', despues: { guias: datos.length } })
  return { status: 200, body: { datos, hay_mas: filas.length > MAX_DETENIDAS } }
}
