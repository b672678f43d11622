import { inTransaction, statement } from '../../data/db.ts'
import type { Aprobacion } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { PersonaActor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { EFFECTS, notifyDecision } from '../equipo/members/approvable.ts'
import {
  type AprobacionRow,
  closedAprobacion,
  needsThirdPersona,
  presentAprobacion,
  readAprobacionContent,
  requireAprobacion,
} from '../equipo/members/aprobacion.ts'
import { ADMINISTRATORS, COMPANY } from '../equipo/persona.ts'
import { companyLlave } from '../equipo/sessions/sesion.ts'

/**
 * Closes an approval, once. The person who decides must have the scope `administrar` at that moment. If the approval is
 * granted, the person who asked must still have it, too. The person that the approval is about (`sobre`) may decide
 * only if no third person has the scope, and never if `third` is true. Locks on the memberships make decisions and
 * removals of persons wait for each other.
 */
const CLOSE = statement<
  Pick<AprobacionRow, 'id' | 'estado' | 'razon'> & {
    decide: string
    sobre: string | null
    third: boolean
    now: Date
  },
  AprobacionRow
>(
  'aprobaciones.close',
  'central',
  `with ${ADMINISTRATORS}, administran as (
     select p.persona from administradoras a join persona p on p.id = a.persona_id
   )
   update aprobacion set estado = :estado, decide = :decide, razon = :razon, decidido_en = :now, contenido = null
   where id = :id and estado = 'pendiente' and vence_en > :now and pide <> :decide
     and :decide in (select persona from administran)
     and (:sobre::text is null or :sobre <> :decide
       or not :third::boolean and not exists (select from administran where persona not in (aprobacion.pide, :decide)))
     and (:estado <> 'aprobada' or pide not like 'per\\_%' or pide in (select persona from administran))
   returning *`,
)

const OTHER_DECIDER_EXISTS = statement<{ personas: readonly string[] }, { exists: boolean }>(
  'aprobaciones.otherDeciderExists',
  'central',
  `select exists (
     select from membresia m join persona p on p.id = m.persona_id
     where m.ambito = '${COMPANY}' and 'administrar' = any(m.alcances) and p.persona <> all(:personas::text[])
   ) as exists`,
)

/** Reports whether the approval concerns the deciding person although a third person has to decide, or could. */
export async function needsOtherDecider(
  { db }: Pick<Deps, 'db'>,
  { tipo, pide, decide, sobre }: Pick<AprobacionRow, 'tipo' | 'pide'> & { decide: string; sobre: string | null },
): Promise<boolean> {
  if (sobre !== decide) return false
  if (needsThirdPersona(tipo)) return true
  const [answerRow] = await db.query(OTHER_DECIDER_EXISTS, { personas: [pide, decide] })
  return answerRow!.exists
}

/** Decision about an approval. */
export type Decision = { estado: 'aprobada'; razon: null } | { estado: 'rechazada'; razon: string }

/** Parts of the service that a decision needs. */
export type AprobacionDecisionDeps = Pick<
  Deps,
  'db' | 'clock' | 'secretos' | 'newId' | 'settings' | 'bitacora' | 'notifyJobs'
>

/**
 * Approves or refuses what another person asked for. An approved change is made in the same transaction.
 * @throws Problema 403 if the person lacks the scope `administrar`; 404; 409 if the approval can no longer be decided,
 *   or if the person asked for it itself
 */
export async function decideAprobacion(
  deps: AprobacionDecisionDeps,
  actor: PersonaActor,
  code: string,
  { estado, razon }: Decision,
): Promise<Aprobacion> {
  const { db, clock, secretos, bitacora, notifyJobs } = deps
  const { persona: decide, nombre } = actor.identity
  const companyIdentity = companyLlave(actor.identity, 'administrar')
  if (!companyIdentity)
    throw new Problema('alcance_insuficiente', 'La operación pide el alcance administrar y su cuenta no lo tiene.')
  const row = await requireAprobacion(db, code)
  const { id, aprobacion, tipo, pide } = row
  if (pide === decide)
    throw new Problema(
      'aprobacion_propia',
      'Usted pidió esta aprobación: la decide otra persona con el alcance administrar.',
    )
  const contenido = readAprobacionContent(secretos, row)
  const sobre = contenido?.persona ?? null
  if (await needsOtherDecider(deps, { tipo, pide, decide, sobre }))
    throw new Problema(
      'aprobacion_propia',
      'Esta aprobación es sobre usted: la decide otra persona con el alcance administrar.',
    )
  const closedAprobacionRow = await inTransaction(db.central, async (query) => {
    const third = needsThirdPersona(tipo)
    const [closedRow] = await query(CLOSE, { id, estado, decide, sobre, third, razon, now: clock() })
    if (!closedRow) return undefined
    if (contenido) await notifyDecision(query, deps, { tipo, pide, contenido }, { quien: nombre, razon })
    const commonFields = { accion: estado === 'aprobada' ? 'darAprobacion' : 'rechazarAprobacion' }
    if (estado === 'rechazada') {
      const change = { campos: ['estado', 'razon'], antes: { estado: 'pendiente' }, despues: { estado, pide } }
      await bitacora.record(query, actor, { ...commonFields, sobre: ['aprobacion', aprobacion], ...change })
      return closedRow
    }
    if (!contenido) throw closedAprobacion('Lo que se pidió ya no se puede leer.')
    const lines = await EFFECTS[tipo](query, deps, { identity: companyIdentity, contenido })
    await bitacora.recordAll(
      query,
      actor,
      lines.map(({ despues, ...line }) => ({ ...commonFields, ...line, despues: { ...despues, aprobacion, pide } })),
    )
    return closedRow
  })
  if (!closedAprobacionRow) throw closedAprobacion(whyNotDecidable(await requireAprobacion(db, code), clock()))
  notifyJobs()
  return presentAprobacion(deps, closedAprobacionRow)
}

/** Returns the reason why an approval could not be decided, in Spanish. */
function whyNotDecidable({ estado, vence_en }: AprobacionRow, now: Date): string {
  if (estado === 'retirada') return 'Quien pidió la aprobación la retiró.'
  if (estado !== 'pendiente') return `La aprobación ya se decidió: está ${estado}.`
  if (vence_en <= now) return 'La aprobación venció.'
  return 'Usted, o quien pidió la aprobación, ya no administra.'
}
