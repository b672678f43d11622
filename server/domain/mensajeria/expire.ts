import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { queryByComercio, queryReachableParts } from '../../data/partQueries.ts'
import { toJob } from '../../data/queue/jobRows.ts'
import type { Estado } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { currentTrace } from '../../platform/tracing.ts'
import { announceChangeSql, isOfGuiaSql, lockGuiasSql, type NewEntrega } from './requestSql.ts'
import { idsOf, type MensajeDeps, type MensajeKey } from './row.ts'
import { inTracesOf } from './traces.ts'

const EXPIRED = statement<{ now: Date; count: number }, MensajeKey>(
  'mensajes.expired',
  'part',
  `select id, comercio_id from mensaje where abierta and vence_en <= :now order by vence_en limit :count`,
)

/** Returns the open requests that have expired, as jobs. */
export const readExpiredRequests = async (
  { db, clock }: Pick<MensajeDeps, 'db' | 'clock'>,
  count: number,
): Promise<JobInsert[]> =>
  (await queryReachableParts(db, ({ query }) => query(EXPIRED, { now: clock(), count }))).map(toJob)

const EXPIRE = statement<
  { ids: readonly string[]; now: Date; final_states: readonly Estado[]; traza: string | null },
  NewEntrega
>(
  'mensajes.expire',
  'part',
  `with p as (
     ${lockGuiasSql('id = any(:ids::uuid[])')}
   ), m as (
     update mensaje set abierta = false from p
     where ${isOfGuiaSql('mensaje')} and mensaje.id = any(:ids::uuid[]) and abierta and vence_en <= :now returning mensaje.*
   ), q as (
     select distinct comercio_id, modo, guia_id from m where not exists (
       select from mensaje o where o.comercio_id = m.comercio_id and o.modo = m.modo and o.guia_id = m.guia_id
         and o.tipo = 'solicitud_ubicacion' and o.abierta and (o.vence_en is null or o.vence_en > :now))
   ), g as (
     update guia set secuencia = guia.secuencia + 1, actualizado_en = greatest(guia.actualizado_en, :now), ubicacion_estado = 'vencida' from q
     where guia.comercio_id = q.comercio_id and guia.modo = q.modo and guia.id = q.guia_id
       and guia.ubicacion_estado = 'solicitada' and not guia.estado = any(:final_states::text[])
     returning guia.*
   ), ${announceChangeSql('ubicacion.vencida')}`,
)

/** Closes expired requests. A guide without another open request gets the location state `vencida`. */
export async function expireRequests(
  { db, clock, notifyJobs }: MensajeDeps,
  mensajes: readonly MensajeKey[],
): Promise<void> {
  const now = clock()
  const entregas = await inTracesOf(db, 'ubicacion.vencida', mensajes, (traceMensajes) =>
    queryByComercio(db, traceMensajes, ({ query }, keys) =>
      query(EXPIRE, { ids: idsOf(keys), now, final_states: STATE_MACHINE.finales, traza: currentTrace() }),
    ),
  )
  if (entregas.length > 0) notifyJobs(entregas)
}
