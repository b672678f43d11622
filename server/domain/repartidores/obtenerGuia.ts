import { requireGuiaCode, throwUnknownGuia } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { isWithinReach, withoutAsignacion } from './custodia.ts'
import { leerGuias, othersGuiaRead, presentRepartoGuia } from './guia.ts'

export const obtenerGuiaDeReparto: Handler<'obtenerGuiaDeReparto'> = async (
  { path, ...quien },
  { db, settings, bitacora },
) => {
  const codigo = requireGuiaCode(path.guia)
  const fila = (await leerGuias(db, [codigo])).get(codigo) ?? throwUnknownGuia('todos')
  const { repartidor } = quien.identity
  if (!isWithinReach(settings, fila, repartidor, fila.asignada_a)) throw withoutAsignacion()
  if (fila.custodio !== repartidor) await bitacora.recordRead(quien, othersGuiaRead('obtenerGuiaDeReparto', fila))
  return { status: 200, body: presentRepartoGuia(settings, fila, repartidor) }
}
