import { inTransaction, statement } from '../../data/db.ts'
import type { Deps } from '../deps.ts'
import { avisarDecision } from '../equipo/aprobable.ts'
import { type FilaAprobacion, leerContenido } from './aprobacion.ts'

/** Days for which an approval's row is kept after it expires. */
const DIAS = 30

/**
 * Erases the content of expired approvals, and returns the erased content. Skips rows that a decision has locked; the
 * next run erases them.
 */
const VACIAR = statement<{ ahora: Date }, Pick<FilaAprobacion, 'id' | 'tipo' | 'pide' | 'contenido'>>(
  'aprobaciones.vaciar',
  `with v as (
     select id, contenido from aprobacion where contenido is not null and vence_en <= :ahora
     order by id for update skip locked
   )
   update aprobacion a set contenido = null from v where a.id = v.id returning a.id, a.tipo, a.pide, v.contenido`,
)

const LIMPIAR = statement<{ ahora: Date }>(
  'aprobaciones.limpiar',
  `delete from aprobacion where vence_en <= :ahora::timestamptz - interval '${DIAS} days'`,
)

/** Erases the content of expired approvals, tells the persons who asked, and deletes old rows. */
export async function limpiarAprobaciones(
  deps: Pick<Deps, 'db' | 'reloj' | 'secretos' | 'nuevoId' | 'ajustes' | 'avisarTrabajo'>,
): Promise<void> {
  const { db, reloj, secretos, avisarTrabajo } = deps
  const vencidas = await inTransaction(db.central, async (consultar) => {
    const filas = await consultar(VACIAR, { ahora: reloj() })
    for (const fila of filas) {
      const contenido = leerContenido(secretos, fila)
      if (contenido) await avisarDecision(consultar, deps, { ...fila, contenido }, { quien: null, razon: null })
    }
    return filas.length
  })
  if (vencidas > 0) avisarTrabajo()
  await db.consultar(LIMPIAR, { ahora: reloj() })
}
