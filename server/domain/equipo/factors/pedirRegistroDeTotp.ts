import type { Identities } from '../../../api/http/identity.ts'
import { inTransaction, statement } from '../../../data/db.ts'
import type { RegistroDeTotp } from '../../../generated/contract/types/index.ts'
import { MINUTE_MS } from '../../../platform/time/units.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { lockFactors, requireCanAdd } from '../factorRules.ts'
import { newTotpSecret } from './totp.ts'

/** Minutes for which a secret waits for its first code. */
const REGISTRATION_MINUTES = 10

const SAVE = statement<{ persona_id: string; nuevo: Uint8Array; nuevo_vence_en: Date }>(
  'equipo.saveTotp',
  'central',
  `insert into segundo_factor (persona_id, nuevo, nuevo_vence_en) values (:persona_id, :nuevo, :nuevo_vence_en)
   on conflict (persona_id) do update set nuevo = excluded.nuevo, nuevo_vence_en = excluded.nuevo_vence_en`,
)

/**
 * Creates a secret for an app that gives codes; the secret waits for its first code. An earlier app of the person stays
 * valid meanwhile.
 * @throws Problema 403 if the session was opened without the second factor that the person already has
 */
export async function registerTotp(
  deps: Pick<Deps, 'db' | 'secretos' | 'clock' | 'settings'>,
  { personaId, sesion, correo }: Pick<Identities['sesionDePersona'], 'personaId' | 'sesion' | 'correo'>,
): Promise<RegistroDeTotp> {
  const { secreto, uri, sealed: sealedSecret } = await newTotpSecret(deps, { personaId, correo })
  const vence_en = new Date(deps.clock().getTime() + REGISTRATION_MINUTES * MINUTE_MS)
  await inTransaction(deps.db.central, async (query) => {
    await lockFactors(query, personaId)
    await requireCanAdd(query, sesion, personaId)
    await query(SAVE, { persona_id: personaId, nuevo: sealedSecret, nuevo_vence_en: vence_en })
  })
  return { secreto, uri, vence_en: vence_en.toISOString() }
}

export const pedirRegistroDeTotp: Handler<'pedirRegistroDeTotp'> = async ({ identity }, deps) => ({
  status: 200,
  body: await registerTotp(deps, identity),
})
