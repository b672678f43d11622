import type { Handler } from '../operation.ts'
import { ambitoDeWebhook } from './deComercio.ts'
import { leerConIntentos } from './obtenerAviso.ts'

export const obtenerAvisoDeComercio: Handler<'obtenerAvisoDeComercio'> = async ({ path, ...quien }, deps) => {
  const ambito = await ambitoDeWebhook(deps.db, path)
  const body = await leerConIntentos(deps, ambito, path.webhook, path.aviso)
  await deps.bitacora.consultada(quien, {
    accion: 'obtenerAvisoDeComercio',
    sobre: ['aviso', path.aviso],
    de: { comercio_id: ambito.comercioId, modo: ambito.modo },
  })
  return { status: 200, body }
}
