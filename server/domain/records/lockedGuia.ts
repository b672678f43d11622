import { inTransaction, type Query, statement } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'
import type { Remember } from '../idempotencia/idempotencia.ts'
import { type GuiaRow, guiaKeyOf } from './guiaFields.ts'
import { findGuia, type GuiaScope } from './guiaLookup.ts'

/** Dependencies of work on a locked guide. */
export type LockedGuiaDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'secretos' | 'notifyJobs' | 'channelOf'>

/** Dependencies of work in the transaction that locks a guide. `notifyJobs` takes effect after the commit. */
export interface LockedGuiaWriter extends Omit<LockedGuiaDeps, 'db'> {
  query: Query
}

/** Locked guide, with the number of its corrections and of the messages that asked for its location. */
export type LockedGuia = GuiaRow & { correcciones: number; solicitudes: number }

/** Locks the guide, so that its corrections, decisions, scans and messages come one after another. */
const LOCK_GUIA = statement<ReturnType<typeof guiaKeyOf>, LockedGuia>(
  'guias.lockGuia',
  'merchant',
  `select g.*,
     (select count(*)::int from evento e where e.comercio_id = g.comercio_id and e.modo = g.modo and e.guia_id = g.id
       and e.cambios is not null) as correcciones,
     (select count(*)::int from mensaje m where m.comercio_id = g.comercio_id and m.modo = g.modo and m.guia_id = g.id
       and m.tipo = 'solicitud_ubicacion') as solicitudes
   from guia g where comercio_id = :comercio_id and modo = :modo and id = :guia_id for update`,
)

/**
 * Locks a guide and works on it, in one transaction. Notifies workers after the commit.
 * @param secuencia sequence that the guide must have; undefined: any
 * @param remember stores the request's key in the same transaction
 * @param run returns the guide's row afterwards
 * @throws Problema 404; 409 `carrera_perdida`
 */
export async function withLockedGuia(
  deps: LockedGuiaDeps,
  scope: GuiaScope,
  code: string,
  secuencia: number | undefined,
  remember: Remember,
  run: (writer: LockedGuiaWriter, lockedGuia: LockedGuia) => Promise<GuiaRow>,
): Promise<GuiaRow & { comercio: string }> {
  const foundGuia = await findGuia(deps.db, scope, code)
  const avisos: Parameters<Deps['notifyJobs']>[] = []
  const guia = await inTransaction(deps.db.forComercio(foundGuia.comercio_id), async (query) => {
    avisos.length = 0
    const [lockedGuia] = await query(LOCK_GUIA, guiaKeyOf(foundGuia))
    if (secuencia !== undefined && secuencia !== lockedGuia!.secuencia)
      throw new Problema(
        'carrera_perdida',
        `La guía va por la secuencia ${lockedGuia!.secuencia}, y la solicitud es de la ${secuencia}. Lea la guía y decida otra vez.`,
        { secuencia: lockedGuia!.secuencia },
      )
    const result = await run({ ...deps, query, notifyJobs: (...aviso) => avisos.push(aviso) }, lockedGuia!)
    await remember(query, result.guia)
    return result
  })
  for (const aviso of avisos) deps.notifyJobs(...aviso)
  return { ...guia, comercio: foundGuia.comercio }
}
