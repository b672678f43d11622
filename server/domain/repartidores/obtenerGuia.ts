import type { Handler } from '../operation.ts'
import { requireGuiaCode, throwUnknownGuia } from '../records/guiaLookup.ts'
import { isWithinReach, withoutAsignacion } from './custodia.ts'
import { othersGuiaRead, presentRepartoGuia, readGuias } from './guia.ts'

export const obtenerGuiaDeReparto: Handler<'obtenerGuiaDeReparto'> = async (
  { path, ...caller },
  { db, settings, bitacora },
) => {
  const code = requireGuiaCode(path.guia)
  const row = (await readGuias(db, [code])).get(code) ?? throwUnknownGuia('todos')
  const { repartidor } = caller.identity
  if (!isWithinReach(settings, row, repartidor, row.asignada_a)) throw withoutAsignacion()
  if (row.custodio !== repartidor) await bitacora.recordRead(caller, othersGuiaRead('obtenerGuiaDeReparto', row))
  return { status: 200, body: presentRepartoGuia(settings, row, repartidor) }
}
