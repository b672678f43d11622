import { recibirImagen } from '../archivos/archivo.ts'
import type { Handler } from '../operation.ts'
import { permitirA } from './custodia.ts'

export const subirArchivoDeReparto: Handler<'subirArchivoDeReparto'> = (
  { path, query: { tipo, capturado_en }, body, identidad: { repartidor } },
  deps,
) =>
  recibirImagen(deps, { autor: repartidor, permitir: permitirA(deps, repartidor) }, path.guia, tipo, body, capturado_en)
