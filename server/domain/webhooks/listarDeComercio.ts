import { requireComercio } from '../comercios/comercio.ts'
import type { Handler } from '../operation.ts'
import { readWebhookPage } from './listar.ts'

export const listarWebhooksDeComercio: Handler<'listarWebhooksDeComercio'> = async (
  { path, query, ...quien },
  deps,
) => {
  const { modo = 'live', ...pagina } = query ?? {}
  const { id: comercioId, comercio } = await requireComercio(deps.db, path.comercio)
  const body = await readWebhookPage(deps, 'listarWebhooksDeComercio', { comercioId, modo }, pagina)
  await deps.bitacora.recordRead(quien, {
    accion: 'listarWebhooksDeComercio',
    sobre: ['comercio', comercio],
    de: { comercio_id: comercioId, modo },
  })
  return { status: 200, body }
}
