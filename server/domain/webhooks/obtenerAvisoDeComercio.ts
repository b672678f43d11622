import type { Handler } from '../operation.ts'
import { readWithIntentos } from './obtenerAviso.ts'
import { readWebhookScope } from './ofComercio.ts'

export const obtenerAvisoDeComercio: Handler<'obtenerAvisoDeComercio'> = async ({ path, ...quien }, deps) => {
  const ambito = await readWebhookScope(deps.db, path)
  const body = await readWithIntentos(deps, ambito, path.webhook, path.aviso)
  await deps.bitacora.recordRead(quien, {
    accion: 'obtenerAvisoDeComercio',
    sobre: ['aviso', path.aviso],
    de: { comercio_id: ambito.comercioId, modo: ambito.modo },
  })
  return { status: 200, body }
}
