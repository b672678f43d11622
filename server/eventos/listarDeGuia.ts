import type { Handler } from '../contrato/tipos.ts'
import { leerConEventos } from './historial.ts'

export const listarEventosDeGuia: Handler<'listarEventosDeGuia'> = async (
  { path, query, identidad },
  { db, cursores },
) => {
  const { eventos } = await leerConEventos({ db, cursores }, identidad, path.guia, query)
  return { status: 200, body: eventos }
}
