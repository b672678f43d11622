import { newestFirst, positionOfId } from '../../../api/lists/byId.ts'
import { paginate } from '../../../api/lists/page.ts'
import { type Db, statement } from '../../../data/db.ts'
import type { Persona } from '../../../generated/contract/types/index.ts'
import { readBounces } from '../../correos/correo.ts'
import type { Handler } from '../../operation.ts'
import { type PersonaRow, presentMembresia, readMembresias, type VisibleMembresia } from '../persona.ts'

export const listarPersonas: Handler<'listarPersonas'> = async (
  { query, ...caller },
  { db, cursors, clock, bitacora, secretos },
) => {
  const { ambito, ...requestedPage } = query ?? {}
  const list = { operacion: 'listarPersonas', dueno: 'operador', filters: { ambito } }
  const page = await paginate(cursors, list, requestedPage, {
    read: async (after, take) => {
      const { where, ...order } = newestFirst(after, take)
      const de = ambito === undefined ? {} : { membresias: { some: { ambito } } }
      // The row of an erased person stays, but without an address.
      const rows = await db.prisma.persona.findMany({ where: { ...where, ...de, correo: { not: null } }, ...order })
      const ids = rows.map(({ id }) => id)
      const addresses = rows.map(({ correo }) => correo!)
      const [membresiasByPersona, accesses, bounces] = await Promise.all([
        readMembresias(db, ids),
        readAccesses(db, ids, clock()),
        readBounces(db.query, secretos, addresses),
      ])
      return rows.map((row) => ({
        ...row,
        ...accesses.get(row.id)!,
        bounced: bounces.get(row.correo!),
        membresias: membresiasByPersona.get(row.id) ?? [],
      }))
    },
    positionOf: positionOfId,
    present: presentPersona,
  })
  await bitacora.recordRead(caller, {
    accion: 'listarPersonas',
    campos: ambito === undefined ? [] : ['ambito'],
    despues: { personas: page.datos.length },
  })
  return { status: 200, body: page }
}

/** Second factor and open sessions of a person. */
type PersonaAccess = Pick<Persona, 'segundo_factor' | 'sesiones'> & { entrado_en: Date | null }

const ACCESSES = statement<{ personas: readonly string[]; now: Date }, PersonaAccess & { persona_id: string }>(
  'equipo.accesses',
  'central',
  `select p.id as persona_id,
     (exists (select from segundo_factor f where f.persona_id = p.id and f.secreto is not null)
       or exists (select from passkey k where k.persona_id = p.id)) as segundo_factor,
     coalesce(s.sesiones, 0) as sesiones, s.entrado_en
   from persona p
   left join (
     select persona_id, count(*)::int as sesiones, max(creado_en) as entrado_en from sesion_persona
     where persona_id = any(:personas::uuid[]) and least(vence_en, inactiva_en) > :now group by persona_id
   ) s on s.persona_id = p.id
   where p.id = any(:personas::uuid[])`,
)

/** Returns second factors and open sessions of persons, by the person's id. */
export async function readAccesses(db: Pick<Db, 'query'>, personas: readonly string[], now: Date) {
  const rows = await db.query(ACCESSES, { personas, now })
  return new Map(rows.map(({ persona_id, ...access }) => [persona_id, access]))
}

/** Returns a person in the contract's form. */
export const presentPersona = ({
  persona,
  nombre,
  correo,
  membresias,
  segundo_factor,
  sesiones,
  entrado_en,
  creado_en,
  bounced,
}: PersonaRow & PersonaAccess & { membresias: readonly VisibleMembresia[]; bounced: Date | undefined }): Persona => ({
  persona,
  nombre,
  correo: correo!,
  correo_rebotado_en: bounced?.toISOString() ?? null,
  membresias: membresias.map(presentMembresia),
  segundo_factor,
  sesiones,
  entrado_en: entrado_en?.toISOString() ?? null,
  creado_en: creado_en.toISOString(),
})
