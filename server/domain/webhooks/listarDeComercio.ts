import { requireComercio } from '../comercios/comercio.ts'
import type { Handler } from '../operation.ts'
import { readWebhookPage } from './listar.ts'

export const listarWebhooksDeComercio: Handler<'listarWebhooksDeComercio'> = async (
  { path, query, ...caller },
  deps,
) => {
  const { modo = 'live', ...page } = query ?? {}
  const { id: comercioId, comercio } = await requireComercio(deps.db, path.comercio)
  const body = await readWebhookPage(deps, 'listarWebhooksDeComercio', { comercioId, modo }, page)
  await deps.bitacora.recordRead(caller, {
    accion: 'listarWebhooksDeComercio',
    sobre: ['comercio', comercio],
    de: { comercio_id: comercioId, modo },
  })
  return { status: 200, body }
}
