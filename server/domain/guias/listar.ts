import type { Handler } from '../operation.ts'
import { present } from '../records/guiaPresentation.ts'
import { findGuiaPage, readPhoneFilter } from './list.ts'

const WITHOUT_COUNTRY =
  'va sin + y su cuenta no tiene país: escríbalo con + (%2B en la dirección) y su código de país, por ejemplo %2B50255551234'

export const listarGuias: Handler<'listarGuias'> = async ({ query, identity }, { db, cursors, settings }) => {
  const { comercioId, modo, pais } = identity
  const telefono = readPhoneFilter(query.telefono, pais, WITHOUT_COUNTRY)
  const page = await findGuiaPage(
    { db, cursors },
    { operacion: 'listarGuias', dueno: `${comercioId}:${modo}` },
    { ...query, telefono, comercioId, modo },
    (guia) => present(settings, guia),
  )
  return { status: 200, body: page }
}
