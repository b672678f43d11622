import { inTransaction, type Query } from '../../../data/db.ts'
import type { Handler } from '../../operation.ts'
import { recordFailure } from '../failures.ts'
import { presentPersonaSesion } from '../sessions/sesion.ts'
import { limitSignIns } from '../signInLimits.ts'
import { type Signer, USE, verifySignature, wrongPasskey } from './passkey.ts'
import { closeAfterFailures, closedAfterFailures, PROVE_PRESENCE } from './probarPresencia.ts'

export const probarPresenciaConPasskey: Handler<'probarPresenciaConPasskey'> = async (
  { body, cookie, ...caller },
  deps,
) => {
  const { db, clock, browser, bitacora } = deps
  const { identity, red } = caller
  const giveBack = limitSignIns(deps, red)
  const useSigner = async (query: Query, signer: Signer | undefined) => {
    if (signer?.persona_id !== identity.personaId) return false
    const { persona_id: _personaId, ...usage } = signer
    return (await query(USE, { ...usage, now: clock() })).length > 0
  }
  const signer = await verifySignature(deps, cookie, body)
  const { personaId } = identity
  const fault = await inTransaction(db.central, async (query) => {
    if (!(await useSigner(query, signer))) {
      const faults = await recordFailure(query, deps, caller, { persona_id: personaId, con: 'passkey' })
      return (await closeAfterFailures(query, deps, caller, faults)) ? closedAfterFailures() : wrongPasskey()
    }
    await query(PROVE_PRESENCE, { hash: identity.sesion, now: clock(), con_factor: true })
    const sobre = ['persona', identity.persona] as const
    await bitacora.record(query, caller, { accion: 'probarPresenciaConPasskey', sobre, campos: ['presencia_en'] })
    return undefined
  })
  if (fault) throw fault
  giveBack()
  const headers = { 'Set-Cookie': browser.setChallenge('', 0) }
  return { status: 200, headers, body: await presentPersonaSesion(db, identity) }
}
