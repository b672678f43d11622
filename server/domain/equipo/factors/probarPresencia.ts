import { PERSON_CHALLENGE } from '../../../api/http/authenticate.ts'
import { inTransaction, type Query, statement } from '../../../data/db.ts'
import { Problema } from '../../../platform/errors.ts'
import type { PersonaActor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { needsSecondFactor, readFactors } from '../factorRules.ts'
import { CLOSING_FAILURES } from '../failures.ts'
import { spendCode, wrongCode } from '../mailCode.ts'
import { presentPersonaSesion } from '../sessions/sesion.ts'
import { limitSignIns } from '../signInLimits.ts'
import { spendSecondFactor } from './secondFactor.ts'

/**
 * Stores that the person of a session has just proved to be present, and whether a second factor was part of the proof.
 */
export const PROVE_PRESENCE = statement<{ hash: Uint8Array; now: Date; con_factor: boolean }>(
  'equipo.provePresence',
  'central',
  `update sesion_persona set presencia_en = :now, segundo_factor = segundo_factor or :con_factor::boolean
   where hash = :hash`,
)

const CLOSE = statement<{ hash: Uint8Array }>(
  'equipo.closeAfterFailures',
  'central',
  'delete from sesion_persona where hash = :hash',
)

/**
 * Ends the session in which a second factor failed too often within an hour, so that a stolen cookie gets few guesses.
 * @returns true if the session ended
 */
export async function closeAfterFailures(
  query: Query,
  { bitacora }: Pick<Deps, 'bitacora'>,
  actor: PersonaActor,
  faults: number,
): Promise<boolean> {
  if (faults < CLOSING_FAILURES) return false
  const { sesion: hash, persona } = actor.identity
  await query(CLOSE, { hash })
  await bitacora.record(query, actor, {
    accion: 'cerrarPorFallas',
    sobre: ['persona', persona],
    campos: ['sesion'],
  })
  return true
}

/** Returns the 401 for a session that ended because its second factor failed too often. */
export const closedAfterFailures = () =>
  new Problema('sesion_invalida', 'Falló muchas veces su segundo factor, y la sesión se cerró. Entre otra vez.', {
    headers: PERSON_CHALLENGE,
  })

/**
 * Proves that the person of a session is present. The proof is a code of the app, a recovery code, or, for a person
 * without second factor, a code by mail. The session ends after too many failures of the second factor.
 * @throws Problema 401 if the code is not valid; 429
 */
export async function proveWithCode(
  deps: Pick<
    Deps,
    'db' | 'clock' | 'secretos' | 'newId' | 'settings' | 'browser' | 'bitacora' | 'signInLimit' | 'notifyJobs'
  >,
  actor: PersonaActor,
  { cookie, codigo }: { cookie: string; codigo: string },
): Promise<void> {
  const { db, clock, browser, bitacora } = deps
  const { identity, red } = actor
  const { personaId } = identity
  const giveBack = limitSignIns(deps, red)
  const fault = await inTransaction(db.central, async (query) => {
    // The session itself already proves the first factor, the mail. A code by mail would prove the same factor again.
    const con_factor = needsSecondFactor(await readFactors(query, personaId))
    if (con_factor) {
      const faults = await spendSecondFactor(query, deps, actor, { persona_id: personaId, codigo })
      if (await closeAfterFailures(query, deps, actor, faults)) return closedAfterFailures()
      if (faults > 0) return wrongCode()
    } else if ((await spendCode(query, deps, browser.readSignIn(cookie), codigo)) !== personaId) return wrongCode()
    await query(PROVE_PRESENCE, { hash: identity.sesion, now: clock(), con_factor })
    const sobre = ['persona', identity.persona] as const
    await bitacora.record(query, actor, { accion: 'probarPresencia', sobre, campos: ['presencia_en'] })
    return undefined
  })
  deps.notifyJobs()
  if (fault) throw fault
  giveBack()
}

export const probarPresencia: Handler<'probarPresencia'> = async ({ body, cookie, ...caller }, deps) => {
  const { db, browser } = deps
  const { identity } = caller
  await proveWithCode(deps, caller, { cookie, codigo: body.codigo })
  const headers = { 'Set-Cookie': browser.setSignIn('', 0) }
  return { status: 200, headers, body: await presentPersonaSesion(db, identity) }
}
