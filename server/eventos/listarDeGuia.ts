import type { Handler } from '../contrato/tipos.ts'
import { buscarGuia } from '../guias/guia.ts'
import { paginaDeEventos } from './evento.ts'

export const listarEventosDeGuia: Handler<'listarEventosDeGuia'> = async (
  { path, query },
  { identidad, db, cursores },
) => {
  const fila = await buscarGuia(db, identidad, path.guia)
  return { status: 200, body: await paginaDeEventos({ db, cursores }, fila, query) }
}
