import { leerDeQuienSeaConEventos } from '../eventos/historial.ts'
import { leerAutores } from '../operadores/operador.ts'
import type { Handler } from '../operation.ts'
import { presentarGuias } from './guia.ts'

export const consultarGuia: Handler<'consultarGuia'> = async (
  { path, query, ...quien },
  { db, cursores, bitacora, ajustes },
) => {
  const { guia, eventos } = await leerDeQuienSeaConEventos({ db, cursores }, path.guia, query)
  const { id: comercio_id, comercio } = guia.dueno
  const sobre = ['guia', guia.guia] as const
  await bitacora.consultada(quien, { accion: 'consultarGuia', sobre, de: { comercio_id, modo: guia.modo } })
  const [vista] = await presentarGuias({ db, ajustes }, [{ ...guia, comercio }])
  const deLaEmpresa = (autor: string | null) => (autor !== null && /^(?:op|per)_/.test(autor) ? autor : undefined)
  const autores = await leerAutores(
    db,
    eventos.datos.flatMap(({ autor, asignado_por }) => [deLaEmpresa(autor) ?? [], asignado_por ?? []].flat()),
  )
  const presentar = (codigo: string | null | undefined) => (codigo ? autores(codigo) : null)
  const datos = eventos.datos.map((evento) => ({
    ...evento,
    autor: presentar(deLaEmpresa(evento.autor)),
    asignado_por: presentar(evento.asignado_por),
  }))
  return { status: 200, body: { ...vista!, eventos: { ...eventos, datos } } }
}
