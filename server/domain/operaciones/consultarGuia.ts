import { leerDeQuienSeaConEventos } from '../eventos/historial.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

export const consultarGuia: Handler<'consultarGuia'> = async (
  { path, query, ...quien },
  { db, cursores, bitacora, ajustes },
) => {
  const { guia, eventos } = await leerDeQuienSeaConEventos({ db, cursores }, path.guia, query)
  const { id: comercio_id, comercio } = guia.dueno
  const sobre = ['guia', guia.guia] as const
  await bitacora.consultada(quien, { accion: 'consultarGuia', sobre, de: { comercio_id, modo: guia.modo } })
  const [vista] = await presentarGuias({ db, ajustes }, [{ ...guia, comercio }])
  return { status: 200, body: { ...vista!, eventos } }
}
