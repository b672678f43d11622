import type { Handler } from '../operation.ts'
import { readAvisoPage } from './listarAvisos.ts'
import { readWebhookScope } from './ofComercio.ts'

export const listarAvisosDeComercio: Handler<'listarAvisosDeComercio'> = async ({ path, query, ...caller }, deps) => {
  const scope = await readWebhookScope(deps.db, path)
  const body = await readAvisoPage(deps, 'listarAvisosDeComercio', scope, path.webhook, query)
  await deps.bitacora.recordRead(caller, {
    accion: 'listarAvisosDeComercio',
    sobre: ['webhook', path.webhook],
    de: { comercio_id: scope.comercioId, modo: scope.modo },
  })
  return { status: 200, body }
}
