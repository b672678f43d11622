import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import type { Handler } from '../operation.ts'
import { leerAvance, leerGuias, leerSuyas, miradaAjena, presentarGuia } from './guia.ts'

/**
 * Lists the guides that a courier carries, or the requested guides. A guide that is requested several times, or in
 * several spellings, is listed once.
 */
export const listarGuiasDeReparto: Handler<'listarGuiasDeReparto'> = async (
  { query: { guia: pedidas } = {}, identidad, idSolicitud, red },
  deps,
) => {
  const { db, ajustes, limites, turnosDeBusqueda, bitacora } = deps
  if (pedidas === undefined) {
    const { repartidor } = identidad
    const [suyas, hoy] = await Promise.all([leerSuyas(db, repartidor), leerAvance(deps, repartidor)])
    const datos = suyas.map((fila) => presentarGuia(ajustes, fila, repartidor))
    return { status: 200, body: { datos, desconocidas: [], hoy } }
  }
  const codigos = new Set(pedidas.flatMap((escrita) => normalizeGuideCode(escrita) ?? []))
  const porCodigo = await turnosDeBusqueda(identidad.repartidor, async () => {
    limites.requireKnown(identidad.repartidor)
    const filas = await leerGuias(db, [...codigos])
    limites.countUnknown(identidad.repartidor, codigos.size - filas.size)
    return filas
  })
  const quien = { identidad, idSolicitud, red }
  for (const fila of porCodigo.values())
    if (fila.custodio !== identidad.repartidor)
      await bitacora.consultada(quien, miradaAjena('listarGuiasDeReparto', fila))
  return {
    status: 200,
    body: {
      datos: [...codigos].flatMap((codigo) => {
        const fila = porCodigo.get(codigo)
        return fila ? [presentarGuia(ajustes, fila, identidad.repartidor)] : []
      }),
      desconocidas: pedidas.filter((escrita) => !porCodigo.has(normalizeGuideCode(escrita) ?? '')),
      hoy: null,
    },
  }
}
