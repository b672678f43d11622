import { inTransaction, type Query, statement } from '../../../data/db.ts'
import type { segundo_factor } from '../../../generated/contract/prisma/client.ts'
import type { PersonaActor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { lockFactors, requireCanAdd } from '../factorRules.ts'
import { notifySecondFactor } from '../notify.ts'
import { completeSesion } from '../sessions/sesion.ts'
import { presentSecondFactor, wrongSecondFactor } from './secondFactor.ts'
import { stepOf, withoutSeparators } from './totp.ts'

const WAITING_SECRET = statement<{ persona_id: string; now: Date }, Pick<segundo_factor, 'nuevo'>>(
  'equipo.waitingSecret',
  'central',
  `select nuevo from segundo_factor
   where persona_id = :persona_id and nuevo is not null and nuevo_vence_en > :now for update`,
)

const CONFIRM = statement<Pick<segundo_factor, 'persona_id'> & { paso: number; now: Date }>(
  'equipo.confirm',
  'central',
  `update segundo_factor set secreto = nuevo, paso = :paso, creado_en = :now, usado_en = null, nuevo = null,
     nuevo_vence_en = null where persona_id = :persona_id`,
)

async function confirmSecret(
  query: Query,
  deps: Pick<Deps, 'secretos' | 'clock'>,
  persona_id: string,
  code: string,
): Promise<boolean> {
  const now = deps.clock()
  const [waitingSecret] = await query(WAITING_SECRET, { persona_id, now })
  const paso = waitingSecret?.nuevo && (await stepOf(deps, persona_id, waitingSecret.nuevo, withoutSeparators(code)))
  if (typeof paso !== 'number') return false
  await query(CONFIRM, { persona_id, paso, now })
  return true
}

/**
 * Activates the secret that waited for its first code. It replaces the secret of the person's earlier app, and the
 * person gets a mail. The confirming code cannot be used again.
 * @returns headers; they contain a new session cookie if the session gets a new token
 * @throws Problema 401, or 403 if the session was opened without the second factor that the person already has
 */
export async function confirmTotp(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'newId' | 'clock' | 'settings' | 'notifyJobs' | 'browser'>,
  actor: PersonaActor,
  code: string,
): Promise<{ 'Set-Cookie'?: string }> {
  const { identity } = actor
  const { personaId, persona, sesion } = identity
  const isConfirmed = await inTransaction(deps.db.central, async (query) => {
    await lockFactors(query, personaId)
    await requireCanAdd(query, sesion, personaId)
    if (!(await confirmSecret(query, deps, personaId, code))) return false
    const sobre = ['persona', persona] as const
    await deps.bitacora.record(query, actor, { accion: 'agregarTotp', sobre, campos: ['totp'] })
    await notifySecondFactor(query, deps, identity, { que: 'agregado', quedan: 0 })
    return { cookie: await completeSesion(query, deps, identity) }
  })
  if (!isConfirmed) throw wrongSecondFactor()
  deps.notifyJobs()
  return isConfirmed.cookie === undefined ? {} : { 'Set-Cookie': isConfirmed.cookie }
}

export const agregarTotp: Handler<'agregarTotp'> = async ({ body, ...caller }, deps) => {
  const headers = await confirmTotp(deps, caller, body.codigo)
  return { status: 201, headers, body: await presentSecondFactor(deps.db.query, caller.identity.personaId) }
}
