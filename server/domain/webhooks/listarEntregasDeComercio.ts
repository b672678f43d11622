import type { Handler } from '../operation.ts'
import { ambitoDeWebhook } from './deComercio.ts'
import { paginaDeEntregas } from './listarEntregas.ts'

export const listarEntregasDeComercio: Handler<'listarEntregasDeComercio'> = async (
  { path, query, ...quien },
  deps,
) => {
  const ambito = await ambitoDeWebhook(deps.db, path)
  const body = await paginaDeEntregas(deps, 'listarEntregasDeComercio', ambito, path.webhook, query)
  await deps.bitacora.consultada(quien, {
    accion: 'listarEntregasDeComercio',
    sobre: ['webhook', path.webhook],
    de: { comercio_id: ambito.comercioId, modo: ambito.modo },
  })
  return { status: 200, body }
}
