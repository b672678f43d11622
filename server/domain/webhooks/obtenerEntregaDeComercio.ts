import type { Handler } from '../operation.ts'
import { ambitoDeWebhook } from './deComercio.ts'
import { leerConIntentos } from './obtenerEntrega.ts'

export const obtenerEntregaDeComercio: Handler<'obtenerEntregaDeComercio'> = async ({ path, ...quien }, deps) => {
  const ambito = await ambitoDeWebhook(deps.db, path)
  const body = await leerConIntentos(deps, ambito, path.webhook, path.entrega)
  await deps.bitacora.consultada(quien, {
    accion: 'obtenerEntregaDeComercio',
    sobre: ['entrega_de_webhook', path.entrega],
    de: { comercio_id: ambito.comercioId, modo: ambito.modo },
  })
  return { status: 200, body }
}
