import { inTransaction, statement } from '../../data/db.ts'
import { askByKey } from '../../data/owners.ts'
import type { Dia, Modo } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { type AsignacionVerdict, presentResults, toGuiaCodes } from './asignacion.ts'

interface WithdrawalRow {
  comercio_id: string
  modo: Modo
  guia: string
  /** Courier of the deleted assignment; null if no assignment was deleted. */
  repartidor: string | null
  fecha: Dia | null
  /** True if the guide stays assigned, because it is assigned to another courier than the request names. */
  is_others: boolean
}

/** Deletes the assignments of guides. If `repartidor` names a courier, deletes only that courier's assignments. */
const WITHDRAW = statement<{ guias: readonly string[]; repartidor: string | null }, WithdrawalRow>(
  'asignaciones.withdraw',
  'part',
  `with d as (
     delete from asignacion a using guia_indice i where i.guia = any(:guias::text[])
       and a.comercio_id = i.comercio_id and a.modo = i.modo and a.guia_id = i.id
       and (:repartidor::text is null or a.repartidor = :repartidor)
     returning a.comercio_id, a.modo, a.guia_id, a.repartidor, a.fecha
   )
   select i.comercio_id, i.modo, i.guia, d.repartidor, d.fecha::text as fecha,
     d.guia_id is null and exists (
       select from asignacion a where a.comercio_id = i.comercio_id and a.modo = i.modo and a.guia_id = i.id
         and a.repartidor <> :repartidor) as is_others
   from guia_indice i left join d on d.comercio_id = i.comercio_id and d.modo = i.modo and d.guia_id = i.id
   where i.guia = any(:guias::text[])`,
)

const assignedToOther = () =>
  new Problema('carrera_perdida', 'La guía ya está asignada a otro repartidor. Vea a quién antes de retirarla.')

/** Removes the assignments of guides, in one transaction for each part of the data. */
export const retirarAsignaciones: Handler<'retirarAsignaciones'> = async ({ body, ...caller }, deps) => {
  const { db, bitacora } = deps
  const { repartidor = null } = body
  const rows = await askByKey(db, toGuiaCodes(body.guias), (part, guias) =>
    inTransaction(part, async (query) => {
      const rows = await query(WITHDRAW, { guias, repartidor })
      const withdrawnRows = rows.filter((row) => row.repartidor !== null)
      await bitacora.recordAll(
        query,
        caller,
        withdrawnRows.map(({ comercio_id, modo, guia, repartidor, fecha }) => ({
          accion: 'retirarAsignaciones',
          sobre: ['guia', guia],
          de: { comercio_id, modo },
          antes: { repartidor, fecha },
          despues: { repartidor: null, fecha: null },
        })),
      )
      return rows
    }),
  )
  const verdicts = new Map<string, AsignacionVerdict>(
    rows.map((row) => [row.guia, row.is_others ? assignedToOther() : { repetida: row.repartidor === null }]),
  )
  return {
    status: 200,
    body: { resultados: presentResults(deps, caller.requestId, body.guias, verdicts) },
  }
}
