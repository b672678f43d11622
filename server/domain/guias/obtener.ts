import { leerConEventos } from '../eventos/historial.ts'
import type { Handler } from '../operation.ts'
import { presentar } from './guia.ts'

export const obtenerGuia: Handler<'obtenerGuia'> = async ({ path, query, identidad }, { db, cursores, ajustes }) => {
  const { guia, eventos } = await leerConEventos({ db, cursores }, identidad, path.guia, query)
  return { status: 200, body: { ...presentar(ajustes, guia), eventos } }
}
