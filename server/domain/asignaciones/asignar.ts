import { inTransaction, statement } from '../../data/db.ts'
import { askByKey } from '../../data/owners.ts'
import type { Dia, Estado, Modo } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { dayOutOfRange, offeredDaysOf } from '../estados/decision.ts'
import { isFinalState } from '../estados/estados.ts'
import { requireActiveRepartidor } from '../identities/repartidor.ts'
import type { Handler } from '../operation.ts'
import { type AsignacionVerdict, companyDay, presentResults, toGuiaCodes } from './asignacion.ts'

interface AssignableGuia {
  comercio_id: string
  modo: Modo
  id: string
  guia: string
  estado: Estado
  /** Courier of the present assignment; null if the guide has none. */
  repartidor: string | null
  fecha: Dia | null
}

/**
 * Locks the guides in a fixed order. No guide then ends meanwhile, and requests about the same guides wait for each
 * other instead of deadlocking.
 */
const LOCK = statement<{ guias: readonly string[] }>(
  'asignaciones.lock',
  'part',
  `select 1 from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   where i.guia = any(:guias::text[]) order by g.comercio_id, g.modo, g.id for no key update of g`,
)

const READ = statement<{ guias: readonly string[] }, AssignableGuia>(
  'asignaciones.readOfGuias',
  'part',
  `select g.comercio_id, g.modo, g.id, g.guia, g.estado, a.repartidor, a.fecha::text as fecha
   from guia_indice i join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   left join asignacion a on a.comercio_id = g.comercio_id and a.modo = g.modo and a.guia_id = g.id
   where i.guia = any(:guias::text[])`,
)

const ASSIGN = statement<{ guias: string; repartidor: string; fecha: Dia; autor: string; now: Date }>(
  'asignaciones.assign',
  'part',
  `insert into asignacion (comercio_id, modo, guia_id, repartidor, fecha, autor, asignado_en)
   select comercio_id, modo, id, :repartidor::text, :fecha::text::date, :autor::text, :now::timestamptz
   from json_to_recordset(:guias::json) x(comercio_id uuid, modo text, id uuid)
   on conflict (comercio_id, modo, guia_id) do update set repartidor = excluded.repartidor, fecha = excluded.fecha,
     autor = excluded.autor, asignado_en = excluded.asignado_en
   returning 1`,
)

const terminada = (estado: Estado) =>
  new Problema('transicion_invalida', `La guía está en ${estado} y ya no se asigna. Quítela de la lista.`, {
    estado,
    transiciones: [],
  })

/**
 * Assigns guides of any merchants to a courier. Each part of the data has its own transaction. If a part cannot be
 * reached, the request fails, but guides of other parts may already be assigned.
 */
export const asignarGuias: Handler<'asignarGuias'> = async ({ body, ...caller }, deps) => {
  const { db, clock, bitacora } = deps
  const { repartidor } = await requireActiveRepartidor(db, body.repartidor)
  const today = companyDay(deps)
  const days = offeredDaysOf(null, today)
  const { fecha = today } = body
  if (fecha < days.desde || fecha > days.hasta) throw dayOutOfRange(days)
  const newAsignacion = { repartidor, fecha }

  const guiaRows = await askByKey(db, toGuiaCodes(body.guias), (part, guias) =>
    inTransaction(part, async (query) => {
      await query(LOCK, { guias })
      const guiaRows = await query(READ, { guias })
      const changedRows = guiaRows.filter((row) => !isFinalState(row.estado) && !isSameAsignacion(row, newAsignacion))
      if (changedRows.length > 0) {
        const autor = caller.identity.operador
        await query(ASSIGN, { guias: JSON.stringify(changedRows), ...newAsignacion, autor, now: clock() })
        await bitacora.recordAll(
          query,
          caller,
          changedRows.map(({ comercio_id, modo, guia, repartidor, fecha }) => ({
            accion: 'asignarGuias',
            sobre: ['guia', guia],
            de: { comercio_id, modo },
            ...(repartidor !== null && { antes: { repartidor, fecha } }),
            despues: newAsignacion,
          })),
        )
      }
      return guiaRows
    }),
  )
  const verdicts = new Map<string, AsignacionVerdict>(
    guiaRows.map((row) => [
      row.guia,
      isFinalState(row.estado) ? terminada(row.estado) : { repetida: isSameAsignacion(row, newAsignacion) },
    ]),
  )
  return {
    status: 200,
    body: { resultados: presentResults(deps, caller.requestId, body.guias, verdicts) },
  }
}

const isSameAsignacion = (
  row: Pick<AssignableGuia, 'repartidor' | 'fecha'>,
  other: Pick<AssignableGuia, 'repartidor' | 'fecha'>,
) => row.repartidor === other.repartidor && row.fecha === other.fecha
