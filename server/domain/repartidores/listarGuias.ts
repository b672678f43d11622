import { normalizeGuideCode } from '../../platform/codes/codes.ts'
import type { Handler } from '../operation.ts'
import { estaAlAlcance } from './custodia.ts'
import { leerAsignadas, leerAvance, leerGuias, leerSuyas, miradaAjena, presentarGuia } from './guia.ts'

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
    const [suyas, asignadas, hoy] = await Promise.all([
      leerSuyas(db, repartidor),
      leerAsignadas(deps, repartidor),
      leerAvance(deps, repartidor),
    ])
    const datos = suyas.map((fila) => presentarGuia(ajustes, fila, repartidor))
    return { status: 200, body: { datos, desconocidas: [], sin_asignar: [], asignadas, hoy } }
  }
  const codigos = new Set(pedidas.flatMap((escrita) => normalizeGuideCode(escrita) ?? []))
  const porCodigo = await turnosDeBusqueda(identidad.repartidor, async () => {
    limites.requireKnown(identidad.repartidor)
    const filas = await leerGuias(db, [...codigos])
    limites.countUnknown(identidad.repartidor, codigos.size - filas.size)
    return filas
  })
  const { repartidor } = identidad
  const visibles = new Map(
    [...porCodigo].filter(([, fila]) => estaAlAlcance(ajustes, fila, repartidor, fila.asignada_a)),
  )
  const quien = { identidad, idSolicitud, red }
  for (const fila of visibles.values())
    if (fila.custodio !== repartidor) await bitacora.consultada(quien, miradaAjena('listarGuiasDeReparto', fila))
  const existe = (escrita: string) => porCodigo.has(normalizeGuideCode(escrita) ?? '')
  return {
    status: 200,
    body: {
      datos: [...codigos].flatMap((codigo) => {
        const fila = visibles.get(codigo)
        return fila ? [presentarGuia(ajustes, fila, repartidor)] : []
      }),
      desconocidas: pedidas.filter((escrita) => !existe(escrita)),
      sin_asignar: pedidas.filter((escrita) => existe(escrita) && !visibles.has(normalizeGuideCode(escrita)!)),
      asignadas: null,
      hoy: null,
    },
  }
}
