import type { Handler } from '../operation.ts'
import { ambitoDeWebhook } from './deComercio.ts'
import { paginaDeEntregas } from './listarAvisos.ts'

export const listarAvisosDeComercio: Handler<'listarAvisosDeComercio'> = async ({ path, query, ...quien }, deps) => {
  const ambito = await ambitoDeWebhook(deps.db, path)
  const body = await paginaDeEntregas(deps, 'listarAvisosDeComercio', ambito, path.webhook, query)
  await deps.bitacora.consultada(quien, {
    accion: 'listarAvisosDeComercio',
    sobre: ['webhook', path.webhook],
    de: { comercio_id: ambito.comercioId, modo: ambito.modo },
  })
  return { status: 200, body }
}
