import type { Handler } from '../operation.ts'
import { leerEventos } from './history.ts'

export const listarEventosDeGuia: Handler<'listarEventosDeGuia'> = async (
  { path, query, identity },
  { db, cursors },
) => ({ status: 200, body: await leerEventos({ db, cursors }, identity, path.guia, query) })
