import { inTransaction, statement } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { aprobacionCerrada, aprobacionDesconocida, exigirAprobacion } from './aprobacion.ts'

const RETIRAR = statement<{ id: string; ahora: Date }, { id: string }>(
  'aprobaciones.retirar',
  `update aprobacion set estado = 'retirada', contenido = null, decidido_en = :ahora
   where id = :id and estado = 'pendiente' and vence_en > :ahora returning id`,
)

/**
 * Withdraws an approval of the person who asked for it.
 * @throws Problema 404 if the person did not ask for it; 409 if the approval was decided or has expired
 */
export async function retirar(
  { db, reloj, bitacora }: Pick<Deps, 'db' | 'reloj' | 'bitacora'>,
  quien: Quien & { identidad: { persona: string } },
  codigo: string,
): Promise<void> {
  const { id, aprobacion, pide } = await exigirAprobacion(db, codigo)
  if (pide !== quien.identidad.persona) throw aprobacionDesconocida()
  await inTransaction(db.central, async (consultar) => {
    const [retirada] = await consultar(RETIRAR, { id, ahora: reloj() })
    if (!retirada) throw aprobacionCerrada('La aprobación ya se decidió, se retiró o venció.')
    await bitacora.anotar(consultar, quien, {
      accion: 'retirarAprobacion',
      sobre: ['aprobacion', aprobacion],
      antes: { estado: 'pendiente' },
      despues: { estado: 'retirada' },
    })
  })
}

export const retirarAprobacion: Handler<'retirarAprobacion'> = async ({ path, ...quien }, deps) => {
  await retirar(deps, quien, path.aprobacion)
  return { status: 204, body: undefined }
}
