import type { Handler } from '../operation.ts'
import { buscarPagina, presentar } from './guia.ts'

export const listarGuias: Handler<'listarGuias'> = async ({ query, identidad }, { db, cursores }) => {
  const { comercioId, modo } = identidad
  const pagina = await buscarPagina(
    { db, cursores },
    { operacion: 'listarGuias', dueno: `${comercioId}:${modo}` },
    { ...query, comercioId, modo },
    presentar,
  )
  return { status: 200, body: pagina }
}
