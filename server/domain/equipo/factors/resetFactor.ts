import { type Query, statement } from '../../../data/db.ts'
import type { AuditEntry } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import { lockFactors } from '../factorRules.ts'
import { notifySecondFactor } from '../notify.ts'

/** Deletes all of a person's factors besides the mail, and ends the person's sessions. */
const RESET = statement<{ id: string }>(
  'equipo.reset',
  'central',
  `with f as (
     delete from segundo_factor where persona_id = :id
   ), c as (
     delete from codigo_de_recuperacion where persona_id = :id
   ), e as (
     delete from entrada_a_medias where persona_id = :id
   ), k as (
     delete from passkey where persona_id = :id
   ), r as (
     delete from reto_de_passkey where persona_id = :id
   )
   delete from sesion_persona where persona_id = :id`,
)

/**
 * Takes all factors of a person besides the mail, ends the sessions, and tells the person by mail. The caller calls
 * `notifyJobs` after the commit.
 * @returns the line of the audit record
 */
export async function resetFactors(
  query: Query,
  deps: Pick<Deps, 'clock' | 'secretos' | 'newId' | 'settings'>,
  { id, persona, nombre, correo }: { id: string; persona: string; nombre: string; correo: string },
): Promise<Omit<AuditEntry, 'accion'>> {
  await lockFactors(query, id)
  await query(RESET, { id })
  await notifySecondFactor(query, deps, { nombre, correo }, { que: 'restablecido', quedan: 0 })
  return { sobre: ['persona', persona], campos: ['totp', 'passkeys', 'codigos', 'sesion'] }
}
