import { type Query, statement } from '../../../data/db.ts'
import { ADMINISTRATORS, anotherAdministratorRemains, type MembresiaRow } from '../persona.ts'

const UPDATE = statement<Pick<MembresiaRow, 'id' | 'alcances'>, { id: string }>(
  'equipo.update',
  'central',
  `with ${ADMINISTRATORS}
   update membresia set alcances = :alcances::text[] where id = :id
     and ('administrar' = any(:alcances::text[]) or ${anotherAdministratorRemains('administradoras.id = :id')}) returning id`,
)

/**
 * Changes the scopes of a membership. Returns false if the membership no longer exists, or if no person with the scope
 * `administrar` would be left.
 */
export const changeAlcances = async (query: Query, de: Pick<MembresiaRow, 'id' | 'alcances'>) =>
  (await query(UPDATE, de)).length > 0

/** Sessions of a removed membership are invalid from then on, because a session is read together with its membership. */
const REMOVE = statement<{ id: string }, { id: string }>(
  'equipo.removeMembresia',
  'central',
  `with ${ADMINISTRATORS}, m as (
     delete from membresia where id = :id and ${anotherAdministratorRemains('administradoras.id = :id')} returning id
   ), s as (
     delete from sesion_persona where membresia_id in (select id from m)
   )
   select id from m`,
)

/**
 * Removes a membership. Returns false if it no longer exists, or if no person with the scope `administrar` would be
 * left.
 */
export const removeMembresia = async (query: Query, de: Pick<MembresiaRow, 'id'>) =>
  (await query(REMOVE, de)).length > 0

const FIND_MEMBRESIA = statement<{ membresia: string }, Pick<MembresiaRow, 'id' | 'alcances'> & { persona: string }>(
  'equipo.findMembresia',
  'central',
  `select m.id, m.alcances, p.persona from membresia m join persona p on p.id = m.persona_id
   where m.membresia = :membresia`,
)

/** Returns the membership that an approval names; undefined if it no longer exists. */
export const findMembresia = async (query: Query, membresia: string) => (await query(FIND_MEMBRESIA, { membresia }))[0]
