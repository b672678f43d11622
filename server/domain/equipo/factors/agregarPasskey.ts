import { inTransaction, statement } from '../../../data/db.ts'
import type { passkey } from '../../../generated/contract/prisma/client.ts'
import { randomBase32 } from '../../../platform/codes/codes.ts'
import type { Handler } from '../../operation.ts'
import { deviceOf } from '../browsers.ts'
import { lockFactors, readFactors, requireCanAdd } from '../factorRules.ts'
import { notifyPasskey } from '../notify.ts'
import { completeSesion } from '../sessions/sesion.ts'
import {
  MAX_PASSKEYS,
  type NewPasskey,
  presentPasskey,
  tooManyPasskeys,
  verifyRegistration,
  wrongPasskey,
} from './passkey.ts'

/** Stores a passkey, unless the same credential is already stored for any person. */
const ADD = statement<
  NewPasskey & Pick<passkey, 'id' | 'passkey' | 'persona_id' | 'dispositivo' | 'creado_en'>,
  { passkey: string }
>(
  'equipo.add',
  'central',
  `insert into passkey (id, passkey, persona_id, credencial, clave, contador, sincronizada, dispositivo, creado_en)
   values (:id, :passkey, :persona_id, :credencial, :clave, :contador::bigint, :sincronizada, :dispositivo, :creado_en)
   on conflict (credencial) do nothing returning passkey`,
)

export const agregarPasskey: Handler<'agregarPasskey'> = async ({ body, cookie, userAgent, ...caller }, deps) => {
  const { db, bitacora, newId, browser, notifyJobs } = deps
  const { personaId, persona } = caller.identity
  const newPasskey = await verifyRegistration(deps, { cookie, personaId }, body)
  if (!newPasskey) throw wrongPasskey()
  const dispositivo = deviceOf(userAgent)
  const passkeyRow = {
    ...newPasskey,
    ...newId(),
    passkey: `pas_${randomBase32(12)}`,
    persona_id: personaId,
    dispositivo,
  }
  const addition = await inTransaction(db.central, async (query) => {
    if (!(await lockFactors(query, personaId))) return false
    await requireCanAdd(query, caller.identity.sesion, personaId)
    // The count is a separate statement after the lock, so that it includes passkeys that concurrent requests have just
    // added.
    const { passkeys } = await readFactors(query, personaId)
    if (passkeys >= MAX_PASSKEYS) throw tooManyPasskeys()
    const [savedRow] = await query(ADD, passkeyRow)
    if (!savedRow) return false
    const sobre = ['persona', persona] as const
    await bitacora.record(query, caller, { accion: 'agregarPasskey', sobre, campos: ['passkeys'] })
    await notifyPasskey(query, deps, caller.identity, { agregada: true, dispositivo })
    return { cookie: await completeSesion(query, deps, caller.identity) }
  })
  if (!addition) throw wrongPasskey()
  notifyJobs()
  const headers = {
    'Set-Cookie': [browser.setChallenge('', 0), ...(addition.cookie === undefined ? [] : [addition.cookie])],
  }
  return { status: 201, headers, body: presentPasskey({ ...passkeyRow, usado_en: null }) }
}
