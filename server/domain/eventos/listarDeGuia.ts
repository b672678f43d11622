import type { Handler } from '../operation.ts'
import { leerEventos } from './historial.ts'

export const listarEventosDeGuia: Handler<'listarEventosDeGuia'> = async (
  { path, query, identidad },
  { db, cursores },
) => ({ status: 200, body: await leerEventos({ db, cursores }, identidad, path.guia, query) })
