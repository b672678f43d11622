import { type Query, statement } from '../../data/db.ts'
import { ADMINISTRADORAS, type FilaMembresia, quedaOtra } from './persona.ts'

const CAMBIAR = statement<Pick<FilaMembresia, 'id' | 'alcances'>, { id: string }>(
  'equipo.cambiarMembresia',
  `with ${ADMINISTRADORAS}
   update membresia set alcances = :alcances::text[] where id = :id
     and ('administrar' = any(:alcances::text[]) or ${quedaOtra('administradoras.id = :id')}) returning id`,
)

/**
 * Changes the scopes of a membership. Returns false if the membership no longer exists, or if no person with the scope
 * `administrar` would be left.
 */
export const cambiarAlcances = async (consultar: Query, de: Pick<FilaMembresia, 'id' | 'alcances'>) =>
  (await consultar(CAMBIAR, de)).length > 0

/** Sessions of a removed membership are invalid from then on, because a session is read together with its membership. */
const QUITAR = statement<{ id: string }, { id: string }>(
  'equipo.quitarMembresia',
  `with ${ADMINISTRADORAS}, m as (
     delete from membresia where id = :id and ${quedaOtra('administradoras.id = :id')} returning id
   ), s as (
     delete from sesion_persona where membresia_id in (select id from m)
   )
   select id from m`,
)

/**
 * Removes a membership. Returns false if it no longer exists, or if no person with the scope `administrar` would be
 * left.
 */
export const quitarLaMembresia = async (consultar: Query, de: Pick<FilaMembresia, 'id'>) =>
  (await consultar(QUITAR, de)).length > 0

const MEMBRESIA = statement<{ membresia: string }, Pick<FilaMembresia, 'id' | 'alcances'> & { persona: string }>(
  'equipo.membresiaAprobada',
  `select m.id, m.alcances, p.persona from membresia m join persona p on p.id = m.persona_id
   where m.membresia = :membresia`,
)

/** Returns the membership that an approval names; undefined if it no longer exists. */
export const buscarMembresia = async (consultar: Query, membresia: string) =>
  (await consultar(MEMBRESIA, { membresia }))[0]
