import { buscarGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { paginaDeIntentos } from './listarIntentos.ts'

export const listarIntentosPorOperador: Handler<'listarIntentosPorOperador'> = async (
  { path, query, ...quien },
  deps,
) => {
  const guia = await buscarGuia(deps.db, 'todos', path.guia)
  const ambito = { operacion: 'listarIntentosPorOperador', dueno: 'operador' } as const
  const body = await paginaDeIntentos(deps, ambito, guia, query)
  await deps.bitacora.consultada(quien, {
    accion: 'listarIntentosPorOperador',
    sobre: ['guia', guia.guia],
    de: { comercio_id: guia.comercio_id, modo: guia.modo },
  })
  return { status: 200, body }
}
