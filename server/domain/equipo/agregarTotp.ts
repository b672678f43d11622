import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { segundo_factor } from '../../generado/contrato/prisma/client.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { avisarSegundoFactor } from './avisar.ts'
import { bloquearFactores, exigirQuePuedaAgregar } from './factores.ts'
import { presentarSegundoFactor, segundoFactorIncorrecto } from './segundoFactor.ts'
import { completarSesion } from './sesion.ts'
import { pasoDe, sinSeparadores } from './totp.ts'

const ESPERA = statement<{ persona_id: string; ahora: Date }, Pick<segundo_factor, 'nuevo'>>(
  'equipo.totpQueEspera',
  `select nuevo from segundo_factor
   where persona_id = :persona_id and nuevo is not null and nuevo_vence_en > :ahora for update`,
)

const CONFIRMAR = statement<Pick<segundo_factor, 'persona_id'> & { paso: number; ahora: Date }>(
  'equipo.confirmarTotp',
  `update segundo_factor set secreto = nuevo, paso = :paso, creado_en = :ahora, usado_en = null, nuevo = null,
     nuevo_vence_en = null where persona_id = :persona_id`,
)

async function confirmar(
  consultar: Query,
  deps: Pick<Deps, 'secretos' | 'reloj'>,
  persona_id: string,
  codigo: string,
): Promise<boolean> {
  const ahora = deps.reloj()
  const [espera] = await consultar(ESPERA, { persona_id, ahora })
  const paso = espera?.nuevo && (await pasoDe(deps, persona_id, espera.nuevo, sinSeparadores(codigo)))
  if (typeof paso !== 'number') return false
  await consultar(CONFIRMAR, { persona_id, paso, ahora })
  return true
}

/**
 * Activates the secret that waited for its first code. It replaces the secret of the person's earlier app, and the
 * person gets a mail. The confirming code cannot be used again.
 * @returns headers; they contain a new session cookie if the session gets a new token
 * @throws Problema 401, or 403 if the session was opened without the second factor that the person already has
 */
export async function confirmarTotp(
  deps: Pick<Deps, 'db' | 'bitacora' | 'secretos' | 'nuevoId' | 'reloj' | 'ajustes' | 'avisarTrabajo' | 'navegador'>,
  quien: Quien & { identidad: Identities['sesionDePersona'] },
  codigo: string,
): Promise<{ 'Set-Cookie'?: string }> {
  const { identidad } = quien
  const { personaId, persona, sesion } = identidad
  const confirmada = await inTransaction(deps.db.central, async (consultar) => {
    await bloquearFactores(consultar, personaId)
    await exigirQuePuedaAgregar(consultar, sesion, personaId)
    if (!(await confirmar(consultar, deps, personaId, codigo))) return false
    const sobre = ['persona', persona] as const
    await deps.bitacora.anotar(consultar, quien, { accion: 'agregarTotp', sobre, campos: ['totp'] })
    await avisarSegundoFactor(consultar, deps, identidad, { que: 'agregado', quedan: 0 })
    return { cookie: await completarSesion(consultar, deps, identidad) }
  })
  if (!confirmada) throw segundoFactorIncorrecto()
  deps.avisarTrabajo()
  return confirmada.cookie === undefined ? {} : { 'Set-Cookie': confirmada.cookie }
}

export const agregarTotp: Handler<'agregarTotp'> = async ({ body, ...quien }, deps) => {
  const headers = await confirmarTotp(deps, quien, body.codigo)
  return { status: 201, headers, body: await presentarSegundoFactor(deps.db.consultar, quien.identidad.personaId) }
}
