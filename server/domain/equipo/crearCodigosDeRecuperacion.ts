import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, statement } from '../../data/db.ts'
import { inGroups, randomBase32 } from '../../platform/codes/codes.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { avisarSegundoFactor } from './avisar.ts'
import { bloquearFactores } from './factores.ts'
import { huellaDeRecuperacion } from './segundoFactor.ts'

/** Number of recovery codes that a person gets at once. */
const CODIGOS = 10
/** Length of a recovery code in characters of 5 bits each. */
const LETRAS = 16

const QUITAR = statement<{ persona_id: string }>(
  'equipo.quitarCodigosDeRecuperacion',
  'delete from codigo_de_recuperacion where persona_id = :persona_id',
)

const GUARDAR = statement<{ persona_id: string; huellas: readonly Uint8Array[]; ahora: Date }>(
  'equipo.crearCodigosDeRecuperacion',
  `insert into codigo_de_recuperacion (persona_id, huella, creado_en)
   select :persona_id, huella, :ahora from unnest(:huellas::bytea[]) as huella`,
)

/**
 * Creates recovery codes, which replace the person's earlier ones, and tells the person by mail. The codes appear only
 * in this result.
 */
export async function hacerCodigos(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'nuevoId' | 'reloj' | 'ajustes' | 'avisarTrabajo'>,
  quien: Quien & { identidad: Identities['sesionDePersona'] },
): Promise<string[]> {
  const { personaId: persona_id, persona } = quien.identidad
  const codigos = Array.from({ length: CODIGOS }, () => randomBase32(LETRAS))
  const huellas = codigos.map((codigo) => huellaDeRecuperacion(persona_id, codigo))
  await inTransaction(deps.db.central, async (consultar) => {
    await bloquearFactores(consultar, persona_id)
    await consultar(QUITAR, { persona_id })
    await consultar(GUARDAR, { persona_id, huellas, ahora: deps.reloj() })
    const linea = { accion: 'crearCodigosDeRecuperacion', sobre: ['persona', persona], campos: ['codigos'] } as const
    await deps.bitacora.anotar(consultar, quien, linea)
    await avisarSegundoFactor(consultar, deps, quien.identidad, { que: 'codigos', quedan: CODIGOS })
  })
  deps.avisarTrabajo()
  return codigos.map(inGroups)
}

export const crearCodigosDeRecuperacion: Handler<'crearCodigosDeRecuperacion'> = async (quien, deps) => ({
  status: 201,
  body: { codigos: await hacerCodigos(deps, quien) },
})
