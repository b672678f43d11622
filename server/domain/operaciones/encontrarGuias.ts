import { DEFAULT_PAGE_SIZE } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import { askByMerchant } from '../../data/spread.ts'
import { encontrar } from '../busqueda/busqueda.ts'
import { COLUMNAS_DE_GUIA, type FilaGuia, type GuiaLeida } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

export const encontrarGuias: Handler<'encontrarGuias'> = async ({ query, ...quien }, deps) => {
  const { texto, limite = DEFAULT_PAGE_SIZE } = query
  const halladas = await encontrar(deps.db, texto, { ahora: deps.reloj(), limite: limite + 1 })
  const filas = await leerHalladas(deps.db, halladas.slice(0, limite))
  const vistas = await presentarGuias(deps, filas)
  const datos = vistas.map((vista, i) => ({ ...vista, coincidencia: filas[i]!.coincidencia }))
  await deps.bitacora.consultada(quien, {
    accion: 'encontrarGuias',
    campos: ['texto'],
    despues: { guias: datos.length },
  })
  return { status: 200, body: { datos, hay_mas: halladas.length > limite } }
}

type FilaHallada = GuiaLeida & Pick<FilaGuia, 'id' | 'custodio'> & { comercio: string }

const LEER = statement<{ guias: string }, FilaHallada>(
  'operaciones.leerHalladas',
  `select ${COLUMNAS_DE_GUIA}, g.id, g.custodio, c.comercio
   from json_to_recordset(:guias::json) x(comercio_id uuid, modo text, id uuid)
   join guia g on g.comercio_id = x.comercio_id and g.modo = x.modo and g.id = x.id
   join comercio c on c.id = g.comercio_id`,
  { alcance: 'parte' },
)

/** Returns the guides in the order of the search result. */
async function leerHalladas(db: Db, halladas: Awaited<ReturnType<typeof encontrar>>) {
  const filas = await askByMerchant(db, halladas, ({ consultar }, unas) =>
    consultar(LEER, { guias: JSON.stringify(unas) }),
  )
  const porId = new Map(filas.map((fila) => [fila.id, fila]))
  return halladas.flatMap(({ id, coincidencia }) => {
    const fila = porId.get(id)
    return fila ? [{ ...fila, coincidencia }] : []
  })
}
