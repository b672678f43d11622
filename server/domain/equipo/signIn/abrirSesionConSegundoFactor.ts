import { inTransaction } from '../../../data/db.ts'
import type { Actor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { attemptSignIn, finishSignIn, spendSecondFactor, wrongSecondFactor } from '../factors/secondFactor.ts'
import { presentPersonaSesion, sesionCookies } from '../sessions/sesion.ts'
import { limitSignIns } from '../signInLimits.ts'
import { openSesionOf, type SignInDeps } from './abrirSesion.ts'

/**
 * Opens a session with the second factor, after the code of the mail in the same browser. The attempt counts even if it
 * fails.
 * @param cookie `Cookie` header, with the token of the sign-in that still needs the second factor
 * @throws Problema 401, or 429 after too many attempts within a day
 */
export async function enterWithSecondFactor(
  deps: SignInDeps & Pick<Deps, 'notifyJobs'>,
  { cookie, codigo }: { cookie: string; codigo: string },
  { userAgent, ...caller }: Omit<Actor, 'identity'> & { userAgent: string },
) {
  const token = deps.browser.readPartialSignIn(cookie)
  const abierta = await inTransaction(deps.db.central, async (query) => {
    const id = await attemptSignIn(query, deps, token)
    if (id === undefined) return undefined
    const faults = await spendSecondFactor(query, deps, { ...caller, identity: null }, { persona_id: id, codigo })
    if (faults > 0) return undefined
    await finishSignIn(query, token!)
    return openSesionOf(query, deps, id, { accion: 'abrirSesionConSegundoFactor', cookie, userAgent, ...caller }, true)
  })
  deps.notifyJobs()
  if (!abierta) throw wrongSecondFactor()
  return abierta
}

export const abrirSesionConSegundoFactor: Handler<'abrirSesionConSegundoFactor'> = async (
  { body, cookie, userAgent, red, requestId },
  deps,
) => {
  const { db, browser } = deps
  const giveBack = limitSignIns(deps, red)
  const caller = { userAgent, red, requestId }
  const { token, view } = await enterWithSecondFactor(deps, { cookie, codigo: body.codigo }, caller)
  giveBack()
  const cookies = [...sesionCookies(deps, token, view), browser.setPartialSignIn('', 0)]
  return { status: 201, headers: { 'Set-Cookie': cookies }, body: await presentPersonaSesion(db, view) }
}
