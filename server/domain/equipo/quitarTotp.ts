import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, statement } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { avisarSegundoFactor } from './avisar.ts'
import { bloquearFactores, esElUltimo, leerFactores } from './factores.ts'
import { ultimoSegundoFactor } from './segundoFactor.ts'

/** The row stays, because it counts the attempts of the day. */
const QUITAR = statement<{ persona_id: string }>(
  'equipo.quitarTotp',
  `update segundo_factor set secreto = null, paso = null, creado_en = null, usado_en = null
   where persona_id = :persona_id`,
)

/**
 * Removes a person's app for codes, and tells the person by mail.
 * @throws Problema 409 if the person needs a second factor and has no other
 */
export async function quitarTotpDe(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'nuevoId' | 'reloj' | 'ajustes' | 'avisarTrabajo'>,
  quien: Quien & { identidad: Identities['sesionDePersona'] },
): Promise<void> {
  const { personaId: persona_id, persona } = quien.identidad
  await inTransaction(deps.db.central, async (consultar) => {
    await bloquearFactores(consultar, persona_id)
    const factores = await leerFactores(consultar, persona_id)
    if (!factores.totp) return
    if (esElUltimo(factores)) throw ultimoSegundoFactor()
    await consultar(QUITAR, { persona_id })
    const sobre = ['persona', persona] as const
    await deps.bitacora.anotar(consultar, quien, { accion: 'quitarTotp', sobre, campos: ['totp'] })
    await avisarSegundoFactor(consultar, deps, quien.identidad, { que: 'quitado', quedan: 0 })
  })
  deps.avisarTrabajo()
}

export const quitarTotp: Handler<'quitarTotp'> = async (quien, deps) => {
  await quitarTotpDe(deps, quien)
  return { status: 204, body: undefined }
}
