import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { readPruebaOf } from './obtener.ts'

export const obtenerPruebaDeEntregaPorOperador: Handler<'obtenerPruebaDeEntregaPorOperador'> = async (
  { path, ...caller },
  deps,
) => {
  const guia = await findGuia(deps.db, 'todos', path.guia)
  const { body } = await readPruebaOf(deps, guia)
  await deps.bitacora.recordRead(caller, {
    accion: 'obtenerPruebaDeEntregaPorOperador',
    sobre: ['guia', guia.guia],
    de: { comercio_id: guia.comercio_id, modo: guia.modo },
  })
  return { status: 200, body }
}
