import { inTransaction, statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import { olvidarClaves } from '../busqueda/busqueda.ts'
import type { Deps } from '../deps.ts'
import { olvidarNotas } from '../notas/nota.ts'
import { BORRAR, de, type ErasedGuide, FINALES } from './persona.ts'

/** Maximum number of guides per statement. */
const LOTE = 500
const DIA = 86_400_000

/**
 * Erases the personal data of guides that ended before `antes_de`. Proofs have their own retention period
 * (`server/domain/pruebasEntrega/borrar.ts`), but lose their places, as the guide does. The retention of places finds
 * no guide without a place.
 */
const OLVIDAR_VIEJAS = statement<{ antes_de: Date; ahora: Date }, ErasedGuide>(
  'personas.olvidarViejas',
  `with v as (
     select comercio_id, modo, id from guia where datos_borrados_en is null and ${FINALES} and estado_en < :antes_de
     order by estado_en limit ${LOTE} for update skip locked
   ), p as (
     update prueba_entrega p set lat = null, lng = null, precision_m = null, distancia_m = null from v where ${de('p')}
   ), a as (
     update archivo a set lat = null, lng = null from v where ${de('a')}
   ), ${BORRAR}`,
  { alcance: 'parte' },
)

/**
 * Erases personal data of the next guides whose retention period is over; none if no such guide exists.
 * @returns true if more guides may be due
 */
export async function olvidarPersonas({
  db,
  reloj,
  log,
  ajustes,
}: Pick<Deps, 'db' | 'reloj' | 'log' | 'ajustes'>): Promise<boolean> {
  const ahora = reloj()
  const antes_de = new Date(ahora.getTime() - ajustes.retencionDePersonas * DIA)
  const borradas = await inEach(db, (parte) =>
    inTransaction(parte, async (consultar) => {
      const suyas = await consultar(OLVIDAR_VIEJAS, { antes_de, ahora })
      if (suyas.length > 0) {
        await olvidarClaves(consultar, suyas)
        await olvidarNotas(consultar, suyas)
      }
      return suyas.length
    }),
  )
  const guias = borradas.reduce((una, otra) => una + otra, 0)
  if (guias > 0) log.info({ guias }, 'personal data erased')
  return borradas.includes(LOTE)
}
