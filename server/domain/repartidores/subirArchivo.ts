import type { Handler } from '../../api/contract/handler.ts'
import { recibirImagen } from '../archivos/archivo.ts'
import { permitirA } from './custodia.ts'

export const subirArchivoDeReparto: Handler<'subirArchivoDeReparto'> = (
  { path, query: { tipo, capturado_en }, body, identidad: { repartidor } },
  deps,
) =>
  recibirImagen(
    deps,
    { autor: repartidor, permitir: permitirA(deps.ajustes, repartidor) },
    path.guia,
    tipo,
    body,
    capturado_en,
  )
