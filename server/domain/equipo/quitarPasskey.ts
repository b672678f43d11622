import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, statement } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { avisarPasskey } from './avisar.ts'
import { bloquearFactores, esElUltimo, leerFactores } from './factores.ts'
import { ultimoSegundoFactor } from './segundoFactor.ts'

const QUITAR = statement<{ persona_id: string; passkey: string }, { dispositivo: string }>(
  'equipo.quitarPasskey',
  'delete from passkey where persona_id = :persona_id and passkey = :passkey returning dispositivo',
)

/**
 * Removes one of the person's own passkeys, and notifies the person by mail. Returns false if the person has no such
 * passkey.
 * @throws Problema 409 if the person needs a second factor and has no other
 */
export async function quitarPasskeyDe(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'nuevoId' | 'reloj' | 'ajustes' | 'avisarTrabajo'>,
  quien: Quien & { identidad: Identities['sesionDePersona'] },
  passkey: string,
): Promise<boolean> {
  const { personaId: persona_id, persona } = quien.identidad
  const quitada = await inTransaction(deps.db.central, async (consultar) => {
    await bloquearFactores(consultar, persona_id)
    const factores = await leerFactores(consultar, persona_id)
    const [fila] = await consultar(QUITAR, { persona_id, passkey })
    if (!fila) return false
    if (esElUltimo(factores)) throw ultimoSegundoFactor()
    const sobre = ['persona', persona] as const
    await deps.bitacora.anotar(consultar, quien, { accion: 'quitarPasskey', sobre, campos: ['passkeys'] })
    await avisarPasskey(consultar, deps, quien.identidad, { agregada: false, dispositivo: fila.dispositivo })
    return true
  })
  if (quitada) deps.avisarTrabajo()
  return quitada
}

export const quitarPasskey: Handler<'quitarPasskey'> = async ({ path, ...quien }, deps) => {
  if (!(await quitarPasskeyDe(deps, quien, path.passkey)))
    throw new Problema('passkey_desconocida', 'No hay ninguna passkey suya con ese identificador.')
  return { status: 204, body: undefined }
}
