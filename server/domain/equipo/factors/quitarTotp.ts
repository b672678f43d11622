import { inTransaction, statement } from '../../../data/db.ts'
import type { PersonaActor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { isLastNeededFactor, lockFactors, readFactors } from '../factorRules.ts'
import { notifySecondFactor } from '../notify.ts'
import { lastSecondFactor } from './secondFactor.ts'

/** The row stays, because it counts the attempts of the day. */
const REMOVE = statement<{ persona_id: string }>(
  'equipo.removeTotp',
  'central',
  `update segundo_factor set secreto = null, paso = null, creado_en = null, usado_en = null
   where persona_id = :persona_id`,
)

/**
 * Removes a person's app for codes, and tells the person by mail.
 * @throws Problema 409 if the person needs a second factor and has no other
 */
export async function removeTotpOf(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'newId' | 'clock' | 'settings' | 'notifyJobs'>,
  actor: PersonaActor,
): Promise<void> {
  const { personaId: persona_id, persona } = actor.identity
  await inTransaction(deps.db.central, async (query) => {
    await lockFactors(query, persona_id)
    const factors = await readFactors(query, persona_id)
    if (!factors.totp) return
    if (isLastNeededFactor(factors)) throw lastSecondFactor()
    await query(REMOVE, { persona_id })
    const sobre = ['persona', persona] as const
    await deps.bitacora.record(query, actor, { accion: 'quitarTotp', sobre, campos: ['totp'] })
    await notifySecondFactor(query, deps, actor.identity, { que: 'quitado', quedan: 0 })
  })
  deps.notifyJobs()
}

export const quitarTotp: Handler<'quitarTotp'> = async (caller, deps) => {
  await removeTotpOf(deps, caller)
  return { status: 204, body: undefined }
}
