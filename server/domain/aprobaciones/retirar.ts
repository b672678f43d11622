import { inTransaction, statement } from '../../data/db.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { closedAprobacion, requireAprobacion, unknownAprobacion } from '../equipo/members/aprobacion.ts'
import type { Handler } from '../operation.ts'

const WITHDRAW = statement<{ id: string; now: Date }, { id: string }>(
  'aprobaciones.withdraw',
  'central',
  `update aprobacion set estado = 'retirada', contenido = null, decidido_en = :now
   where id = :id and estado = 'pendiente' and vence_en > :now returning id`,
)

/**
 * Withdraws an approval of the person who asked for it.
 * @throws Problema 404 if the person did not ask for it; 409 if the approval was decided or has expired
 */
export async function withdrawAprobacion(
  { db, clock, bitacora }: Pick<Deps, 'db' | 'clock' | 'bitacora'>,
  actor: Actor & { identity: { persona: string } },
  code: string,
): Promise<void> {
  const { id, aprobacion, pide } = await requireAprobacion(db, code)
  if (pide !== actor.identity.persona) throw unknownAprobacion()
  await inTransaction(db.central, async (query) => {
    const [withdrawn] = await query(WITHDRAW, { id, now: clock() })
    if (!withdrawn) throw closedAprobacion('La aprobación ya se decidió, se retiró o venció.')
    await bitacora.record(query, actor, {
      accion: 'retirarAprobacion',
      sobre: ['aprobacion', aprobacion],
      antes: { estado: 'pendiente' },
      despues: { estado: 'retirada' },
    })
  })
}

export const retirarAprobacion: Handler<'retirarAprobacion'> = async ({ path, ...caller }, deps) => {
  await withdrawAprobacion(deps, caller, path.aprobacion)
  return { status: 204, body: undefined }
}
