import type { Handler } from '../../operation.ts'
import { requireDomain, writeChallenge } from '../factors/passkey.ts'
import { limitSignIns } from '../signInLimits.ts'

export const pedirRetoDePasskey: Handler<'pedirRetoDePasskey'> = async ({ red }, deps) => {
  limitSignIns(deps, red)
  const dominio = requireDomain(deps)
  const { reto, vence_en, headers } = await writeChallenge(deps, null)
  return { status: 200, headers, body: { reto, dominio, vence_en } }
}
