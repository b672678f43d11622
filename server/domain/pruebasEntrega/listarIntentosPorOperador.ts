import type { Handler } from '../operation.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { readIntentoPage } from './listarIntentos.ts'

export const listarIntentosPorOperador: Handler<'listarIntentosPorOperador'> = async (
  { path, query, ...caller },
  deps,
) => {
  const guia = await findGuia(deps.db, 'todos', path.guia)
  const scope = { operacion: 'listarIntentosPorOperador', dueno: 'operador' } as const
  const body = await readIntentoPage(deps, scope, guia, query)
  await deps.bitacora.recordRead(caller, {
    accion: 'listarIntentosPorOperador',
    sobre: ['guia', guia.guia],
    de: { comercio_id: guia.comercio_id, modo: guia.modo },
  })
  return { status: 200, body }
}
