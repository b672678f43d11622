import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import type { Handler } from '../operation.ts'
import { isWithinReach } from './custodia.ts'
import { othersGuiaRead, presentRepartoGuia, readAssigned, readCarried, readGuias, readProgress } from './guia.ts'

/**
 * Lists the guides that a courier carries, or the requested guides. A guide that is requested several times, or in
 * several spellings, is listed once.
 */
export const listarGuiasDeReparto: Handler<'listarGuiasDeReparto'> = async (
  { query: { guia: requestedCodes } = {}, identity, requestId, red },
  deps,
) => {
  const { db, settings, limits, searchTurns, bitacora } = deps
  if (requestedCodes === undefined) {
    const { repartidor } = identity
    const [carriedRows, asignadas, hoy] = await Promise.all([
      readCarried(db, repartidor),
      readAssigned(deps, repartidor),
      readProgress(deps, repartidor),
    ])
    const datos = carriedRows.map((row) => presentRepartoGuia(settings, row, repartidor))
    return { status: 200, body: { datos, desconocidas: [], sin_asignar: [], asignadas, hoy } }
  }
  const codes = new Set(requestedCodes.flatMap((written) => normalizeGuideCode(written) ?? []))
  const rowByCode = await searchTurns(identity.repartidor, async () => {
    limits.requireKnown(identity.repartidor)
    const rows = await readGuias(db, [...codes])
    limits.countUnknown(identity.repartidor, codes.size - rows.size)
    return rows
  })
  const { repartidor } = identity
  const visibleGuias = new Map(
    [...rowByCode].filter(([, row]) => isWithinReach(settings, row, repartidor, row.asignada_a)),
  )
  const caller = { identity, requestId, red }
  for (const row of visibleGuias.values())
    if (row.custodio !== repartidor) await bitacora.recordRead(caller, othersGuiaRead('listarGuiasDeReparto', row))
  const exists = (written: string) => rowByCode.has(normalizeGuideCode(written) ?? '')
  return {
    status: 200,
    body: {
      datos: [...codes].flatMap((code) => {
        const row = visibleGuias.get(code)
        return row ? [presentRepartoGuia(settings, row, repartidor)] : []
      }),
      desconocidas: requestedCodes.filter((written) => !exists(written)),
      sin_asignar: requestedCodes.filter(
        (written) => exists(written) && !visibleGuias.has(normalizeGuideCode(written)!),
      ),
      asignadas: null,
      hoy: null,
    },
  }
}
