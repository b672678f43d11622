import { inTransaction } from '../../data/db.ts'
import { problemOfFaults } from '../../platform/errors.ts'
import { readAddress } from '../../platform/mail/address.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { guardarCorreo } from './correo.ts'

/** Minutes within which a trial mail must be sent; later it is dropped. */
const MINUTOS = 60

/** Problem for a text that is not a mail address. */
export const direccionInvalida = (campo: string) =>
  problemOfFaults('validacion', [
    { campo, codigo: 'formato_invalido', mensaje: 'no es una dirección de correo como ana@ejemplo.com' },
  ])

/**
 * Queues a trial mail to an address; the running service sends it.
 * @throws Problema 422
 */
export async function probarCorreo(
  deps: Pick<Deps, 'db' | 'secretos' | 'nuevoId' | 'bitacora' | 'avisarTrabajo'>,
  quien: Quien,
  texto: string,
): Promise<{ para: string }> {
  const para = readAddress(texto)
  if (para === undefined) throw direccionInvalida('/para')
  await inTransaction(deps.db.central, async (consultar) => {
    await guardarCorreo(consultar, deps, { tipo: 'prueba', para, datos: {}, minutos: MINUTOS })
    await deps.bitacora.anotar(consultar, quien, { accion: 'probarCorreo', campos: ['para'] })
  })
  deps.avisarTrabajo()
  return { para }
}
