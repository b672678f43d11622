import type { Handler } from '../contrato/tipos.ts'
import { paginaDeEventos } from '../eventos/evento.ts'
import { buscarGuia, presentar } from './guia.ts'

export const obtenerGuia: Handler<'obtenerGuia'> = async ({ path, query }, { identidad, db, cursores }) => {
  const fila = await buscarGuia(db, identidad, path.guia)
  const eventos = await paginaDeEventos({ db, cursores }, fila, query)
  return { status: 200, body: { ...presentar(fila), eventos } }
}
