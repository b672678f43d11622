import { type Db, type RowOf, statement } from '../../data/db.ts'
import type { invitacion, membresia, persona } from '../../generated/contract/prisma/client.ts'
import type { Alcance, AlcanceDeOperacion, AlcanceDePersona, Membresia } from '../../generated/contract/types/index.ts'
import { ALCANCES, ALCANCES_DE_OPERACION } from '../../generated/contract/vocabulary.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'

/** Value of the column `ambito` for the courier company. For a merchant, the column has the merchant's code. */
export const COMPANY = 'empresa'

export type PersonaRow = persona

export type MembresiaRow = RowOf<membresia, { alcances: AlcanceDePersona[] }>

export type InvitacionRow = RowOf<invitacion, { alcances: AlcanceDePersona[] }>

/** Columns of a membership that answers show. */
export type VisibleMembresia = Pick<MembresiaRow, 'membresia' | 'ambito' | 'alcances' | 'creado_en'>

/** Returns the merchant's code in a column `ambito`; null for the courier company. */
export const comercioOf = (scope: string) => (scope === COMPANY ? null : scope)

/** Returns a membership in the contract's form. */
export const presentMembresia = ({ membresia, ambito, alcances, creado_en }: VisibleMembresia): Membresia => ({
  membresia,
  comercio: comercioOf(ambito),
  alcances,
  creado_en: creado_en.toISOString(),
})

/**
 * Scopes of an API key that correspond to each scope of a merchant's person. A person with the scopes `despacho` and
 * `cobros` has the key scopes of both.
 */
const LLAVE_ALCANCES: Readonly<Partial<Record<AlcanceDePersona, readonly Alcance[]>>> = {
  propietario: ALCANCES,
  despacho: ['guias:leer', 'guias:escribir', 'pruebas_entrega:leer'],
  cobros: ['guias:leer'],
  lectura: ['guias:leer', 'pruebas_entrega:leer'],
}

/** Converts the scopes of a merchant's person to the scopes of a merchant's API key. */
export const llaveAlcances = (alcances: readonly AlcanceDePersona[]): Alcance[] =>
  ALCANCES.filter((llaveAlcance) => alcances.some((alcance) => LLAVE_ALCANCES[alcance]?.includes(llaveAlcance)))

const isCompanyAlcance = (alcance: AlcanceDePersona): alcance is AlcanceDeOperacion =>
  (ALCANCES_DE_OPERACION as readonly string[]).includes(alcance)

/** Converts the scopes of a person of the courier company to the scopes of an operator's key. */
export const companyAlcances = (alcances: readonly AlcanceDePersona[]): AlcanceDeOperacion[] =>
  alcances.filter(isCompanyAlcance)

/**
 * Requires that all scopes fit the membership: scopes of the courier company for the company, scopes of merchants for a
 * merchant.
 * @throws Problema 422
 */
export function requireAlcancesOf(scope: string, alcances: readonly AlcanceDePersona[]): void {
  const isCompany = scope === COMPANY
  const faults = alcances.flatMap((alcance, i) =>
    isCompanyAlcance(alcance) === isCompany
      ? []
      : [
          {
            campo: `/alcances/${i}`,
            codigo: 'valor_no_admitido' as const,
            mensaje: isCompany ? COMPANY_MESSAGE : COMERCIO_MESSAGE,
          },
        ],
  )
  if (faults.length > 0) throw problemOfFaults('validacion', faults)
}

const COMPANY_MESSAGE = 'es de un comercio; en la empresa valen ver, operar, caja y administrar'

const COMERCIO_MESSAGE = 'es de la empresa; en un comercio valen propietario, despacho, cobros y lectura'

/**
 * Finds a person by its public identifier.
 * @throws Problema 404 if no person has it, or if the person was erased
 */
export async function requirePersona(db: Db, code: string): Promise<PersonaRow & { correo: string }> {
  const row = /^per_[0-9A-Z]{12}$/.test(code) ? await db.prisma.persona.findUnique({ where: { persona: code } }) : null
  if (!row || row.correo === null)
    throw new Problema('persona_desconocida', 'No hay ninguna persona con ese identificador.')
  return { ...row, correo: row.correo }
}

/**
 * Finds a membership by its public identifier, with its person.
 * @throws Problema 404
 */
export async function requireMembresia(
  db: Db,
  code: string,
): Promise<MembresiaRow & Pick<PersonaRow, 'persona' | 'nombre' | 'correo'>> {
  const membresiaRow = /^mem_[0-9A-Z]{12}$/.test(code)
    ? await db.prisma.membresia.findUnique({ where: { membresia: code } })
    : null
  if (!membresiaRow) throw unknownMembresia()
  const personaRow = await db.prisma.persona.findUnique({ where: { id: membresiaRow.persona_id } })
  const { persona, nombre, correo } = personaRow!
  return { ...(membresiaRow as MembresiaRow), persona, nombre, correo }
}

/** Returns the 404 for an identifier that names no membership. */
export const unknownMembresia = () =>
  new Problema('membresia_desconocida', 'No hay ninguna membresía con ese identificador.')

const LIST_MEMBRESIAS = statement<{ personas: readonly string[] }, VisibleMembresia & Pick<MembresiaRow, 'persona_id'>>(
  'equipo.listMembresias',
  'central',
  `select persona_id, membresia, ambito, alcances, creado_en from membresia where persona_id = any(:personas::uuid[])
   order by creado_en, id`,
)

/** Returns the memberships of persons, by the person's id, oldest first. */
export async function readMembresias(db: Pick<Db, 'query'>, personas: readonly string[]) {
  const rows = await db.query(LIST_MEMBRESIAS, { personas })
  return Map.groupBy(rows, ({ persona_id }) => persona_id)
}

/**
 * SQL of the common table expression `administradoras`: the memberships of the courier company with the scope
 * `administrar`. It locks their rows in a fixed order, so that concurrent removals run one after another.
 */
export const ADMINISTRATORS = `administradoras as (
  select id, persona_id from membresia where ambito = '${COMPANY}' and 'administrar' = any(alcances) order by id for update)`

/**
 * SQL condition that a removal leaves at least one person with the scope `administrar`, or removes none.
 * @param condition SQL condition for the removed memberships
 */
export const anotherAdministratorRemains = (
  condition: string,
) => `(not exists (select from administradoras where ${condition})
  or exists (select from administradoras where not (${condition})))`

/** Returns the 409 for a request that would leave no person with the scope `administrar`. */
export const lastAdministrator = () =>
  new Problema(
    'ultima_administradora',
    'Es la última persona de la empresa con el alcance administrar. Invite antes a otra.',
  )
