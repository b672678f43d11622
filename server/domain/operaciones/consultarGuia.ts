import { readAnyGuiaWithEventos } from '../eventos/history.ts'
import { readAuthors } from '../operadores/operador.ts'
import type { Handler } from '../operation.ts'
import { presentOperacionGuias } from './guia.ts'

export const consultarGuia: Handler<'consultarGuia'> = async (
  { path, query, ...caller },
  { db, cursors, bitacora, settings },
) => {
  const { guia, eventos } = await readAnyGuiaWithEventos({ db, cursors }, path.guia, query)
  const { id: comercio_id, comercio } = guia.dueno
  const sobre = ['guia', guia.guia] as const
  await bitacora.recordRead(caller, { accion: 'consultarGuia', sobre, de: { comercio_id, modo: guia.modo } })
  const [guiaView] = await presentOperacionGuias({ db, settings }, [{ ...guia, comercio }])
  const toCompanyAuthor = (autor: string | null) => (autor !== null && /^(?:op|per)_/.test(autor) ? autor : undefined)
  const authorOf = await readAuthors(
    db,
    eventos.datos.flatMap(({ autor, asignado_por }) => [toCompanyAuthor(autor) ?? [], asignado_por ?? []].flat()),
  )
  const presentAuthor = (code: string | null | undefined) => (code ? authorOf(code) : null)
  const datos = eventos.datos.map((evento) => ({
    ...evento,
    autor: presentAuthor(toCompanyAuthor(evento.autor)),
    asignado_por: presentAuthor(evento.asignado_por),
  }))
  return { status: 200, body: { ...guiaView!, eventos: { ...eventos, datos } } }
}
