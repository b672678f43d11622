import type { Handler } from '../operation.ts'
import { buscarPagina, presentar } from './guia.ts'

export const listarGuias: Handler<'listarGuias'> = async ({ query, identidad }, { db, cursores, ajustes }) => {
  const { comercioId, modo, pais } = identidad
  const pagina = await buscarPagina(
    { db, cursores },
    { operacion: 'listarGuias', dueno: `${comercioId}:${modo}` },
    { ...query, comercioId, modo, pais },
    (guia) => presentar(ajustes, guia),
  )
  return { status: 200, body: pagina }
}
