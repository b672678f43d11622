import { receiveImage } from '../archivos/archivo.ts'
import type { Handler } from '../operation.ts'
import { authorizeRepartidor } from './custodia.ts'

export const subirArchivoDeReparto: Handler<'subirArchivoDeReparto'> = (
  { path, query: { tipo, capturado_en }, body, identity: { repartidor } },
  deps,
) =>
  receiveImage(
    deps,
    { autor: repartidor, authorize: authorizeRepartidor(deps, repartidor) },
    path.guia,
    tipo,
    body,
    capturado_en,
  )
