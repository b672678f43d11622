import { buscarGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { leerPruebaDe } from './obtener.ts'

export const obtenerPruebaDeEntregaPorOperador: Handler<'obtenerPruebaDeEntregaPorOperador'> = async (
  { path, ...quien },
  deps,
) => {
  const guia = await buscarGuia(deps.db, 'todos', path.guia)
  const { body } = await leerPruebaDe(deps, guia)
  await deps.bitacora.consultada(quien, {
    accion: 'obtenerPruebaDeEntregaPorOperador',
    sobre: ['guia', guia.guia],
    de: { comercio_id: guia.comercio_id, modo: guia.modo },
  })
  return { status: 200, body }
}
