import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { askThoseThere } from '../../data/spread.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { conGuiaTomada, type DepsDeTomada, type Escritor } from '../guias/tomada.ts'
import { esperaDecision } from './decision.ts'
import { devolverTomada } from './lockedGuide.ts'

/** Guide whose deadline for a decision has passed. */
export interface Vencida {
  guia: string
  comercio_id: string
}

const VENCIDAS = statement<{ ahora: Date; cuantas: number }, Vencida & { id: string }>(
  'decisiones.vencidas',
  `select guia, comercio_id, md5(id::text || ':' || decision_vence)::uuid as id from guia
   where decision_vence <= :ahora order by decision_vence limit :cuantas`,
  { alcance: 'parte' },
)

/** Returns the guides whose deadline for a decision has passed, as jobs. */
export const decisionesVencidas = async (
  { db, reloj }: Pick<DepsDeTomada, 'db' | 'reloj'>,
  cuantas: number,
): Promise<JobInsert[]> => {
  const filas = await askThoseThere(db, ({ consultar }) => consultar(VENCIDAS, { ahora: reloj(), cuantas }))
  return filas.map(({ id, ...data }) => ({ id, data }))
}

/**
 * Decides for those who did not decide in time: their parcels return to the sender. Skips guides with a decision taken
 * meanwhile.
 * @throws the first error, after all guides were tried
 */
export async function decidirVencidas(deps: DepsDeTomada, vencidas: readonly Vencida[]): Promise<void> {
  const errores: unknown[] = []
  for (const { guia } of vencidas) {
    try {
      await resolver(deps, guia)
    } catch (error) {
      errores.push(error)
    }
  }
  if (errores.length > 0) throw errores[0]
}

const resolver = (deps: DepsDeTomada, codigo: string) =>
  conGuiaTomada(deps, 'todos', codigo, undefined, async () => {}, vencerTomada)

/**
 * Decides the return of a locked guide's parcel, in the lock's transaction, if the deadline for a decision has passed.
 */
export async function vencerTomada(escritor: Escritor, tomada: FilaGuia): Promise<FilaGuia> {
  const { decision, decision_vence } = tomada
  if (!esperaDecision(decision) || decision_vence === null || decision_vence > escritor.reloj()) return tomada
  const descripcion = decision.opciones.includes('reintentar')
    ? 'Nadie decidió a tiempo qué hacer con el paquete'
    : 'Se hicieron todos los intentos'
  return devolverTomada(escritor, { por: 'politica', autor: null, descripcion }, tomada)
}
