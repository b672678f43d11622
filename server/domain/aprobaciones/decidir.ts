import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, statement } from '../../data/db.ts'
import type { Aprobacion } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { avisarDecision, EFECTOS } from '../equipo/aprobable.ts'
import { ADMINISTRADORAS, EMPRESA } from '../equipo/persona.ts'
import { llaveDeEmpresa } from '../equipo/sesion.ts'
import {
  aprobacionCerrada,
  exigirAprobacion,
  type FilaAprobacion,
  leerContenido,
  presentarAprobacion,
  soloDecideUnaTercera,
} from './aprobacion.ts'

/**
 * Closes an approval, once. The person who decides must have the scope `administrar` at that moment. If the approval is
 * granted, the person who asked must still have it, too. The person that the approval is about (`sobre`) may decide
 * only if no third person has the scope, and never if `tercera` is true. Locks on the memberships make decisions and
 * removals of persons wait for each other.
 */
const CERRAR = statement<
  Pick<FilaAprobacion, 'id' | 'estado' | 'razon'> & {
    decide: string
    sobre: string | null
    tercera: boolean
    ahora: Date
  },
  FilaAprobacion
>(
  'aprobaciones.cerrar',
  `with ${ADMINISTRADORAS}, administran as (
     select p.persona from administradoras a join persona p on p.id = a.persona_id
   )
   update aprobacion set estado = :estado, decide = :decide, razon = :razon, decidido_en = :ahora, contenido = null
   where id = :id and estado = 'pendiente' and vence_en > :ahora and pide <> :decide
     and :decide in (select persona from administran)
     and (:sobre::text is null or :sobre <> :decide
       or not :tercera::boolean and not exists (select from administran where persona not in (aprobacion.pide, :decide)))
     and (:estado <> 'aprobada' or pide not like 'per\\_%' or pide in (select persona from administran))
   returning *`,
)

const HAY_OTRA = statement<{ personas: readonly string[] }, { hay: boolean }>(
  'aprobaciones.hayOtra',
  `select exists (
     select from membresia m join persona p on p.id = m.persona_id
     where m.ambito = '${EMPRESA}' and 'administrar' = any(m.alcances) and p.persona <> all(:personas::text[])
   ) as hay`,
)

/** Reports whether the approval concerns the deciding person although a third person has to decide, or could. */
export async function loDecideOtra(
  { db }: Pick<Deps, 'db'>,
  { tipo, pide, decide, sobre }: Pick<FilaAprobacion, 'tipo' | 'pide'> & { decide: string; sobre: string | null },
): Promise<boolean> {
  if (sobre !== decide) return false
  if (soloDecideUnaTercera(tipo)) return true
  const [leida] = await db.consultar(HAY_OTRA, { personas: [pide, decide] })
  return leida!.hay
}

/** Decision about an approval. */
export type Decision = { estado: 'aprobada'; razon: null } | { estado: 'rechazada'; razon: string }

/** Parts of the service that a decision needs. */
export type DepsDeDecision = Pick<
  Deps,
  'db' | 'reloj' | 'secretos' | 'nuevoId' | 'ajustes' | 'bitacora' | 'avisarTrabajo'
>

/**
 * Approves or refuses what another person asked for. An approved change is made in the same transaction.
 * @throws Problema 403 if the person lacks the scope `administrar`; 404; 409 if the approval can no longer be decided,
 *   or if the person asked for it itself
 */
export async function decidir(
  deps: DepsDeDecision,
  quien: Quien & { identidad: Identities['sesionDePersona'] },
  codigo: string,
  { estado, razon }: Decision,
): Promise<Aprobacion> {
  const { db, reloj, secretos, bitacora, avisarTrabajo } = deps
  const { persona: decide, nombre } = quien.identidad
  const como = llaveDeEmpresa(quien.identidad, 'administrar')
  if (!como)
    throw new Problema('alcance_insuficiente', 'La operación pide el alcance administrar y su cuenta no lo tiene.')
  const fila = await exigirAprobacion(db, codigo)
  const { id, aprobacion, tipo, pide } = fila
  if (pide === decide)
    throw new Problema(
      'aprobacion_propia',
      'Usted pidió esta aprobación: la decide otra persona con el alcance administrar.',
    )
  const contenido = leerContenido(secretos, fila)
  const sobre = contenido?.persona ?? null
  if (await loDecideOtra(deps, { tipo, pide, decide, sobre }))
    throw new Problema(
      'aprobacion_propia',
      'Esta aprobación es sobre usted: la decide otra persona con el alcance administrar.',
    )
  const cerrada = await inTransaction(db.central, async (consultar) => {
    const tercera = soloDecideUnaTercera(tipo)
    const [hecha] = await consultar(CERRAR, { id, estado, decide, sobre, tercera, razon, ahora: reloj() })
    if (!hecha) return undefined
    if (contenido) await avisarDecision(consultar, deps, { tipo, pide, contenido }, { quien: nombre, razon })
    const comun = { accion: estado === 'aprobada' ? 'darAprobacion' : 'rechazarAprobacion' }
    if (estado === 'rechazada') {
      const cambio = { campos: ['estado', 'razon'], antes: { estado: 'pendiente' }, despues: { estado, pide } }
      await bitacora.anotar(consultar, quien, { ...comun, sobre: ['aprobacion', aprobacion], ...cambio })
      return hecha
    }
    if (!contenido) throw aprobacionCerrada('Lo que se pidió ya no se puede leer.')
    const lineas = await EFECTOS[tipo](consultar, deps, { identidad: como, contenido })
    await bitacora.anotarVarias(
      consultar,
      quien,
      lineas.map(({ despues, ...linea }) => ({ ...comun, ...linea, despues: { ...despues, aprobacion, pide } })),
    )
    return hecha
  })
  if (!cerrada) throw aprobacionCerrada(porQueNo(await exigirAprobacion(db, codigo), reloj()))
  avisarTrabajo()
  return presentarAprobacion(deps, cerrada)
}

/** Returns the reason why an approval could not be decided, in Spanish. */
function porQueNo({ estado, vence_en }: FilaAprobacion, ahora: Date): string {
  if (estado === 'retirada') return 'Quien pidió la aprobación la retiró.'
  if (estado !== 'pendiente') return `La aprobación ya se decidió: está ${estado}.`
  if (vence_en <= ahora) return 'La aprobación venció.'
  return 'Usted, o quien pidió la aprobación, ya no administra.'
}
