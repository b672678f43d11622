import { statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import type { guia } from '../../generado/contrato/prisma/client.ts'
import type { Deps } from '../deps.ts'
import { BORRAR, FINALES } from './persona.ts'

/** Maximum number of guides per statement. */
const LOTE = 500
const DIA = 86_400_000

/**
 * Erases the personal data of guides that ended before `antes_de`. Proofs have their own retention period
 * (`server/domain/pruebasEntrega/borrar.ts`).
 */
const OLVIDAR_VIEJAS = statement<{ antes_de: Date; ahora: Date }, Pick<guia, 'guia'>>(
  'personas.olvidarViejas',
  `with v as (
     select comercio_id, modo, id from guia where datos_borrados_en is null and ${FINALES} and estado_en < :antes_de
     order by estado_en limit ${LOTE} for update skip locked
   ), ${BORRAR}`,
  { alcance: 'parte' },
)

/**
 * Erases the personal data of the next guides whose retention period is over. Does nothing if there is no such guide.
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
  const borradas = await inEach(
    db,
    async ({ consultar }) => (await consultar(OLVIDAR_VIEJAS, { antes_de, ahora })).length,
  )
  const guias = borradas.reduce((una, otra) => una + otra, 0)
  if (guias > 0) log.info({ guias }, 'personal data erased')
  return borradas.includes(LOTE)
}
