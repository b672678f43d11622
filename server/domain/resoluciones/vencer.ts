import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { askThoseThere } from '../../data/spread.ts'
import type { FilaGuia } from '../guias/guia.ts'
import { conGuiaTomada, type DepsDeTomada, type Escritor } from '../guias/tomada.ts'
import { devolverTomada } from './decision.ts'
import { esperaDecision } from './resolucion.ts'

/** Guide whose deadline for a decision has passed. */
export interface Vencida {
  guia: string
  comercio_id: string
}

const VENCIDAS = statement<{ ahora: Date; cuantas: number }, Vencida & { id: string }>(
  'resoluciones.vencidas',
  `select guia, comercio_id, md5(id::text || ':' || resolucion_vence)::uuid as id from guia
   where resolucion_vence <= :ahora order by resolucion_vence limit :cuantas`,
  { alcance: 'parte' },
)

/** Returns the guides whose deadline for a decision has passed, as jobs. */
export const resolucionesVencidas = async (
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
export async function resolverVencidas(deps: DepsDeTomada, vencidas: readonly Vencida[]): Promise<void> {
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
  const { resolucion, resolucion_vence } = tomada
  if (!esperaDecision(resolucion) || resolucion_vence === null || resolucion_vence > escritor.reloj()) return tomada
  const descripcion = resolucion.opciones.includes('reintentar')
    ? 'Nadie decidió a tiempo qué hacer con el paquete'
    : 'Se hicieron todos los intentos'
  return devolverTomada(escritor, { por: 'politica', autor: null, descripcion }, tomada)
}
