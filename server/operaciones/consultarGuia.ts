import type { Handler } from '../contrato/tipos.ts'
import { leerConEventos } from '../eventos/historial.ts'
import { presentarGuia } from './guia.ts'

export const consultarGuia: Handler<'consultarGuia'> = async ({ path, query }, { db, cursores }) => {
  const { guia, eventos } = await leerConEventos({ db, cursores }, 'todos', path.guia, query)
  return { status: 200, body: { ...presentarGuia({ ...guia, comercio: guia.comercio! }), eventos } }
}
