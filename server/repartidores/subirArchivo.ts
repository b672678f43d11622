import { recibirImagen } from '../archivos/archivo.ts'
import type { Handler } from '../contrato/tipos.ts'

export const subirArchivoDeReparto: Handler<'subirArchivoDeReparto'> = (
  { path, query: { tipo }, body, identidad },
  deps,
) => recibirImagen(deps, identidad.repartidor, path.guia, tipo, body)
