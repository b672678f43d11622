import type { Handler } from '../operation.ts'
import { buscarPagina, presentar, readPhoneFilter } from './guia.ts'

const SIN_PAIS =
  'va sin + y su cuenta no tiene país: escríbalo con + (%2B en la dirección) y su código de país, por ejemplo %2B50255551234'

export const listarGuias: Handler<'listarGuias'> = async ({ query, identidad }, { db, cursores, ajustes }) => {
  const { comercioId, modo, pais } = identidad
  const telefono = readPhoneFilter(query.telefono, pais, SIN_PAIS)
  const pagina = await buscarPagina(
    { db, cursores },
    { operacion: 'listarGuias', dueno: `${comercioId}:${modo}` },
    { ...query, telefono, comercioId, modo },
    (guia) => presentar(ajustes, guia),
  )
  return { status: 200, body: pagina }
}
