import { inTransaction } from '../../../data/db.ts'
import type { Handler } from '../../operation.ts'
import { USE, verifySignature, wrongPasskey } from '../factors/passkey.ts'
import { presentPersonaSesion, sesionCookies } from '../sessions/sesion.ts'
import { limitSignIns } from '../signInLimits.ts'
import { openSesionOf } from './abrirSesion.ts'

export const abrirSesionConPasskey: Handler<'abrirSesionConPasskey'> = async (
  { body, cookie, userAgent, red, requestId },
  deps,
) => {
  const { db, browser, clock, notifyJobs } = deps
  const giveBack = limitSignIns(deps, red)
  const signer = await verifySignature(deps, cookie, body)
  if (!signer) throw wrongPasskey()
  const { persona_id, ...usage } = signer
  const abierta = await inTransaction(db.central, async (query) => {
    const [usedRow] = await query(USE, { ...usage, now: clock() })
    if (!usedRow) return undefined
    const caller = { accion: 'abrirSesionConPasskey', cookie, userAgent, red, requestId }
    return openSesionOf(query, deps, persona_id, caller, true)
  })
  if (!abierta) throw wrongPasskey()
  notifyJobs()
  giveBack()
  const cookies = [...sesionCookies(deps, abierta.token, abierta.view), browser.setChallenge('', 0)]
  return { status: 201, headers: { 'Set-Cookie': cookies }, body: await presentPersonaSesion(db, abierta.view) }
}
