import type { Handler } from '../operation.ts'
import { readAvisoPage } from './listarAvisos.ts'
import { readWebhookScope } from './ofComercio.ts'

export const listarAvisosDeComercio: Handler<'listarAvisosDeComercio'> = async ({ path, query, ...quien }, deps) => {
  const ambito = await readWebhookScope(deps.db, path)
  const body = await readAvisoPage(deps, 'listarAvisosDeComercio', ambito, path.webhook, query)
  await deps.bitacora.recordRead(quien, {
    accion: 'listarAvisosDeComercio',
    sobre: ['webhook', path.webhook],
    de: { comercio_id: ambito.comercioId, modo: ambito.modo },
  })
  return { status: 200, body }
}
