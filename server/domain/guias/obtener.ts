import { readGuiaWithEventos } from '../eventos/history.ts'
import type { Handler } from '../operation.ts'
import { present } from '../records/guiaPresentation.ts'

export const obtenerGuia: Handler<'obtenerGuia'> = async ({ path, query, identity }, { db, cursors, settings }) => {
  const { guia, eventos } = await readGuiaWithEventos({ db, cursors }, identity, path.guia, query)
  return { status: 200, body: { ...present(settings, guia), eventos } }
}
