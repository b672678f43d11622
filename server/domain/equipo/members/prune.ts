import { type Query, statement } from '../../../data/db.ts'
import type { cambio_de_correo } from '../../../generated/contract/prisma/client.ts'
import type { AuditEntry } from '../../bitacora/bitacora.ts'
import { eraseCorreos } from '../../correos/correo.ts'
import type { Deps } from '../../deps.ts'
import { ADMINISTRATORS, anotherAdministratorRemains, type MembresiaRow } from '../persona.ts'
import { eraseAprobaciones } from './aprobacion.ts'

/**
 * Erases a person's name, address, memberships, sessions and factors, unless no person with the scope `administrar`
 * would be left.
 */
const REMOVE = statement<{ id: string }, { id: string }>(
  'equipo.removeEverywhere',
  'central',
  `with ${ADMINISTRATORS}, p as (
     update persona set correo = null, nombre = '' where id = :id and correo is not null and ${anotherAdministratorRemains('persona_id = :id')}
     returning id
   ), s as (
     delete from sesion_persona where persona_id in (select id from p)
   ), c as (
     delete from codigo_de_entrada where persona_id in (select id from p)
   ), k as (
     delete from passkey where persona_id in (select id from p)
   ), f as (
     delete from segundo_factor where persona_id in (select id from p)
   ), y as (
     delete from codigo_de_recuperacion where persona_id in (select id from p)
   ), e as (
     delete from entrada_a_medias where persona_id in (select id from p)
   ), r as (
     delete from reto_de_passkey where persona_id in (select id from p)
   ), m as (
     delete from membresia where persona_id in (select id from p)
   )
   select id from p`,
)

const ERASE_INVITACIONES = statement<{ addresses: readonly string[] }>(
  'equipo.eraseInvitaciones',
  'central',
  'delete from invitacion where correo = any(:addresses::text[])',
)

const ERASE_CHANGES = statement<{ id: string }, Pick<cambio_de_correo, 'correo' | 'anterior'>>(
  'equipo.eraseChanges',
  'central',
  'delete from cambio_de_correo where persona_id = :id returning correo, anterior',
)

const OF_COMERCIOS = statement<{ id: string }, Pick<MembresiaRow, 'alcances'> & { comercio_id: string }>(
  'equipo.ofComercios',
  'central',
  `select m.alcances, c.id as comercio_id from membresia m join comercio c on c.comercio = m.ambito
   where m.persona_id = :id order by m.creado_en, m.id`,
)

/** Fields that the audit record names when a person is erased. */
const ERASED_FIELDS = ['correo', 'nombre', 'membresias']

/**
 * Erases a person: addresses, name, memberships, sessions, codes, second factors, invitations, approvals and mails. The
 * row stays, so that the person's code in the audit record is never given to another person.
 * @returns the lines of the audit record: the company's, and one for each merchant that loses a member; undefined if no
 *   person with the scope `administrar` would be left
 */
export async function erasePersona(
  query: Query,
  secrets: Deps['secretos'],
  { id, persona, correo }: { id: string; persona: string; correo: string },
): Promise<readonly Omit<AuditEntry, 'accion'>[] | undefined> {
  const comercioMembresias = await query(OF_COMERCIOS, { id })
  const [removedRow] = await query(REMOVE, { id })
  if (!removedRow) return undefined
  const changes = await query(ERASE_CHANGES, { id })
  const addresses = [correo, ...changes.flatMap((change) => [change.correo, change.anterior ?? []]).flat()]
  await query(ERASE_INVITACIONES, { addresses })
  await eraseAprobaciones(query, secrets, { persona, addresses })
  await eraseCorreos(query, secrets, addresses)
  const sobre = ['persona', persona] as const
  const lines = comercioMembresias.map(({ comercio_id, alcances }) => ({
    sobre,
    de: { comercio_id, modo: null },
    antes: { alcances },
    despues: {},
  }))
  return [{ sobre, campos: ERASED_FIELDS }, ...lines]
}
