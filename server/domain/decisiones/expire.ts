import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { queryReachableParts } from '../../data/partQueries.ts'
import { isAwaitingDecision } from '../estados/decision.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { type LockedGuiaDeps, type LockedGuiaWriter, withLockedGuia } from '../records/lockedGuia.ts'
import { returnLockedGuia } from './retryOrReturn.ts'

/** Guide whose deadline for a decision has passed. */
export interface ExpiredDecision {
  guia: string
  comercio_id: string
}

const EXPIRED = statement<{ now: Date; count: number }, ExpiredDecision & { id: string }>(
  'decisiones.expired',
  'part',
  `select guia, comercio_id, md5(id::text || ':' || decision_vence)::uuid as id from guia
   where decision_vence <= :now order by decision_vence limit :count`,
)

/** Returns the guides whose deadline for a decision has passed, as jobs. */
export const readExpiredDecisiones = async (
  { db, clock }: Pick<LockedGuiaDeps, 'db' | 'clock'>,
  count: number,
): Promise<JobInsert[]> => {
  const rows = await queryReachableParts(db, ({ query }) => query(EXPIRED, { now: clock(), count }))
  return rows.map(({ id, ...data }) => ({ id, data }))
}

/**
 * Decides for those who did not decide in time: their parcels return to the sender. Skips guides with a decision taken
 * meanwhile.
 * @throws the first error, after all guides were tried
 */
export async function decideExpired(deps: LockedGuiaDeps, expired: readonly ExpiredDecision[]): Promise<void> {
  const errores: unknown[] = []
  for (const { guia } of expired) {
    try {
      await expireGuia(deps, guia)
    } catch (error) {
      errores.push(error)
    }
  }
  if (errores.length > 0) throw errores[0]
}

const expireGuia = (deps: LockedGuiaDeps, code: string) =>
  withLockedGuia(deps, 'todos', code, undefined, async () => {}, expireLockedGuia)

/**
 * Decides the return of a locked guide's parcel, in the lock's transaction, if the deadline for a decision has passed.
 */
export async function expireLockedGuia(writer: LockedGuiaWriter, lockedGuia: GuiaRow): Promise<GuiaRow> {
  const { decision, decision_vence } = lockedGuia
  if (!isAwaitingDecision(decision) || decision_vence === null || decision_vence > writer.clock()) return lockedGuia
  const descripcion = decision.opciones.includes('reintentar')
    ? 'Nadie decidió a tiempo qué hacer con el paquete'
    : 'Se hicieron todos los intentos'
  return returnLockedGuia(writer, { por: 'politica', autor: null, descripcion }, lockedGuia)
}
