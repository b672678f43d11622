import type { Handler } from '../operation.ts'
import { readWithIntentos } from './obtenerAviso.ts'
import { readWebhookScope } from './ofComercio.ts'

export const obtenerAvisoDeComercio: Handler<'obtenerAvisoDeComercio'> = async ({ path, ...caller }, deps) => {
  const scope = await readWebhookScope(deps.db, path)
  const body = await readWithIntentos(deps, scope, path.webhook, path.aviso)
  await deps.bitacora.recordRead(caller, {
    accion: 'obtenerAvisoDeComercio',
    sobre: ['aviso', path.aviso],
    de: { comercio_id: scope.comercioId, modo: scope.modo },
  })
  return { status: 200, body }
}
