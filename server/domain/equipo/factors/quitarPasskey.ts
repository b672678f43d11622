import { inTransaction, statement } from '../../../data/db.ts'
import { Problema } from '../../../platform/errors.ts'
import type { PersonaActor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { isLastNeededFactor, lockFactors, readFactors } from '../factorRules.ts'
import { notifyPasskey } from '../notify.ts'
import { lastSecondFactor } from './secondFactor.ts'

const REMOVE = statement<{ persona_id: string; passkey: string }, { dispositivo: string }>(
  'equipo.removePasskey',
  'central',
  'delete from passkey where persona_id = :persona_id and passkey = :passkey returning dispositivo',
)

/**
 * Removes one of the person's own passkeys, and notifies the person by mail. Returns false if the person has no such
 * passkey.
 * @throws Problema 409 if the person needs a second factor and has no other
 */
export async function removePasskeyOf(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'newId' | 'clock' | 'settings' | 'notifyJobs'>,
  actor: PersonaActor,
  passkey: string,
): Promise<boolean> {
  const { personaId: persona_id, persona } = actor.identity
  const removedPasskey = await inTransaction(deps.db.central, async (query) => {
    await lockFactors(query, persona_id)
    const factors = await readFactors(query, persona_id)
    const [row] = await query(REMOVE, { persona_id, passkey })
    if (!row) return false
    if (isLastNeededFactor(factors)) throw lastSecondFactor()
    const sobre = ['persona', persona] as const
    await deps.bitacora.record(query, actor, { accion: 'quitarPasskey', sobre, campos: ['passkeys'] })
    await notifyPasskey(query, deps, actor.identity, { agregada: false, dispositivo: row.dispositivo })
    return true
  })
  if (removedPasskey) deps.notifyJobs()
  return removedPasskey
}

export const quitarPasskey: Handler<'quitarPasskey'> = async ({ path, ...caller }, deps) => {
  if (!(await removePasskeyOf(deps, caller, path.passkey)))
    throw new Problema('passkey_desconocida', 'No hay ninguna passkey suya con ese identificador.')
  return { status: 204, body: undefined }
}
