import type { Handler } from '../operation.ts'
import { readEventos } from './history.ts'

export const listarEventosDeGuia: Handler<'listarEventosDeGuia'> = async (
  { path, query, identity },
  { db, cursors },
) => ({ status: 200, body: await readEventos({ db, cursors }, identity, path.guia, query) })
