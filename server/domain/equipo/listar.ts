import { newestFirst, positionOfId } from '../../api/lists/byId.ts'
import { paginate } from '../../api/lists/page.ts'
import { type Db, statement } from '../../data/db.ts'
import type { Persona } from '../../generado/contrato/tipos/index.ts'
import type { Handler } from '../operation.ts'
import { type FilaPersona, leerMembresias, type MembresiaVisible, presentarMembresia } from './persona.ts'

export const listarPersonas: Handler<'listarPersonas'> = async (
  { query, ...quien },
  { db, cursores, reloj, bitacora },
) => {
  const { ambito, ...pedida } = query ?? {}
  const lista = { operacion: 'listarPersonas', dueno: 'operador', filtros: { ambito } }
  const pagina = await paginate(cursores, lista, pedida, {
    leer: async (despues, take) => {
      const { where, ...orden } = newestFirst(despues, take)
      const de = ambito === undefined ? {} : { membresias: { some: { ambito } } }
      // The row of an erased person stays, but without an address.
      const filas = await db.prisma.persona.findMany({ where: { ...where, ...de, correo: { not: null } }, ...orden })
      const ids = filas.map(({ id }) => id)
      const [suyas, accesos] = await Promise.all([leerMembresias(db, ids), leerAccesos(db, ids, reloj())])
      return filas.map((fila) => ({ ...fila, ...accesos.get(fila.id)!, membresias: suyas.get(fila.id) ?? [] }))
    },
    posicion: positionOfId,
    presentar: presentarPersona,
  })
  await bitacora.consultada(quien, {
    accion: 'listarPersonas',
    campos: ambito === undefined ? [] : ['ambito'],
    despues: { personas: pagina.datos.length },
  })
  return { status: 200, body: pagina }
}

/** Second factor and open sessions of a person. */
type Acceso = Pick<Persona, 'segundo_factor' | 'sesiones'> & { entrado_en: Date | null }

const ACCESOS = statement<{ personas: readonly string[]; ahora: Date }, Acceso & { persona_id: string }>(
  'equipo.accesos',
  `select p.id as persona_id,
     (exists (select from segundo_factor f where f.persona_id = p.id and f.secreto is not null)
       or exists (select from passkey k where k.persona_id = p.id)) as segundo_factor,
     coalesce(s.sesiones, 0) as sesiones, s.entrado_en
   from persona p
   left join (
     select persona_id, count(*)::int as sesiones, max(creado_en) as entrado_en from sesion_persona
     where persona_id = any(:personas::uuid[]) and least(vence_en, inactiva_en) > :ahora group by persona_id
   ) s on s.persona_id = p.id
   where p.id = any(:personas::uuid[])`,
)

/** Returns second factors and open sessions of persons, by the person's id. */
export async function leerAccesos(db: Pick<Db, 'consultar'>, personas: readonly string[], ahora: Date) {
  const filas = await db.consultar(ACCESOS, { personas, ahora })
  return new Map(filas.map(({ persona_id, ...acceso }) => [persona_id, acceso]))
}

/** Returns a person in the contract's form. */
export const presentarPersona = ({
  persona,
  nombre,
  correo,
  membresias,
  segundo_factor,
  sesiones,
  entrado_en,
  creado_en,
}: FilaPersona & Acceso & { membresias: readonly MembresiaVisible[] }): Persona => ({
  persona,
  nombre,
  correo: correo!,
  membresias: membresias.map(presentarMembresia),
  segundo_factor,
  sesiones,
  entrado_en: entrado_en?.toISOString() ?? null,
  creado_en: creado_en.toISOString(),
})
