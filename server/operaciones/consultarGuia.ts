import type { Handler } from '../contrato/tipos.ts'
import { paginaDeEventos } from '../eventos/evento.ts'
import { buscarGuia } from '../guias/guia.ts'
import { presentarGuia } from './guia.ts'

export const consultarGuia: Handler<'consultarGuia'> = async ({ path, query }, { db, cursores }) => {
  const fila = await buscarGuia(db, 'todos', path.guia)
  return {
    status: 200,
    body: { ...presentarGuia(fila), eventos: await paginaDeEventos({ db, cursores }, fila, query) },
  }
}
