import type { Handler } from '../../operation.ts'
import { MAX_PASSKEYS, readPasskeys, requireDomain, tooManyPasskeys, userHandleOf, writeChallenge } from './passkey.ts'

export const pedirRegistroDePasskey: Handler<'pedirRegistroDePasskey'> = async ({ identity }, deps) => {
  const { personaId, nombre, correo } = identity
  const dominio = requireDomain(deps)
  const ownPasskeys = await readPasskeys(deps.db, personaId)
  if (ownPasskeys.length >= MAX_PASSKEYS) throw tooManyPasskeys()
  const { reto, vence_en, headers } = await writeChallenge(deps, personaId)
  const existentes = ownPasskeys.map(({ credencial }) => Buffer.from(credencial).toString('base64url'))
  const usuario = userHandleOf(personaId)
  return { status: 200, headers, body: { reto, dominio, usuario, nombre, correo, existentes, vence_en } }
}
