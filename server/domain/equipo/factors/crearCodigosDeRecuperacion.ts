import { inTransaction, statement } from '../../../data/db.ts'
import { randomBase32 } from '../../../platform/codes/codes.ts'
import { inGroups } from '../../../platform/codes/guideCode.ts'
import type { PersonaActor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { lockFactors } from '../factorRules.ts'
import { notifySecondFactor } from '../notify.ts'
import { recoveryCodeDigest } from './secondFactor.ts'

/** Number of recovery codes that a person gets at once. */
const CODE_COUNT = 10
/** Length of a recovery code in characters of 5 bits each. */
const CODE_LETTERS = 16

const REMOVE = statement<{ persona_id: string }>(
  'equipo.removeRecoveryCodes',
  'central',
  'delete from codigo_de_recuperacion where persona_id = :persona_id',
)

const SAVE = statement<{ persona_id: string; huellas: readonly Uint8Array[]; now: Date }>(
  'equipo.saveRecoveryCodes',
  'central',
  `insert into codigo_de_recuperacion (persona_id, huella, creado_en)
   select :persona_id, huella, :now from unnest(:huellas::bytea[]) as huella`,
)

/**
 * Creates recovery codes, which replace the person's earlier ones, and tells the person by mail. The codes appear only
 * in this result.
 */
export async function createRecoveryCodes(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'newId' | 'clock' | 'settings' | 'notifyJobs'>,
  actor: PersonaActor,
): Promise<string[]> {
  const { personaId: persona_id, persona } = actor.identity
  const codes = Array.from({ length: CODE_COUNT }, () => randomBase32(CODE_LETTERS))
  const huellas = codes.map((code) => recoveryCodeDigest(persona_id, code))
  await inTransaction(deps.db.central, async (query) => {
    await lockFactors(query, persona_id)
    await query(REMOVE, { persona_id })
    await query(SAVE, { persona_id, huellas, now: deps.clock() })
    const line = { accion: 'crearCodigosDeRecuperacion', sobre: ['persona', persona], campos: ['codigos'] } as const
    await deps.bitacora.record(query, actor, line)
    await notifySecondFactor(query, deps, actor.identity, { que: 'codigos', quedan: CODE_COUNT })
  })
  deps.notifyJobs()
  return codes.map(inGroups)
}

export const crearCodigosDeRecuperacion: Handler<'crearCodigosDeRecuperacion'> = async (caller, deps) => ({
  status: 201,
  body: { codigos: await createRecoveryCodes(deps, caller) },
})
