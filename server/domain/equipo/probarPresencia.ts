import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, statement } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { codigoIncorrecto, gastarCodigo } from './codigo.ts'
import { limitarEntradas } from './entradas.ts'
import { leerFactores, pideSegundoFactor } from './factores.ts'
import { gastarSegundoFactor } from './segundoFactor.ts'
import { presentarSesionDePersona } from './sesion.ts'

/**
 * Stores that the person of a session has just proved to be present, and whether a second factor was part of the proof.
 */
export const PROBAR = statement<{ hash: Uint8Array; ahora: Date; con_factor: boolean }>(
  'equipo.probarPresencia',
  `update sesion_persona set presencia_en = :ahora, segundo_factor = segundo_factor or :con_factor::boolean
   where hash = :hash`,
)

/**
 * Proves that the person of a session is present. The proof is a code of the app, a recovery code, or, for a person
 * without second factor, a code by mail.
 * @throws Problema 401 if the code is not valid; 429
 */
export async function probarConCodigo(
  deps: Pick<
    Deps,
    'db' | 'reloj' | 'secretos' | 'nuevoId' | 'ajustes' | 'navegador' | 'bitacora' | 'limiteDeEntrada' | 'avisarTrabajo'
  >,
  quien: Quien & { identidad: Identities['sesionDePersona'] },
  { cookie, codigo }: { cookie: string; codigo: string },
): Promise<void> {
  const { db, reloj, navegador, bitacora } = deps
  const { identidad, red } = quien
  const { personaId } = identidad
  const devolver = limitarEntradas(deps, red)
  const probada = await inTransaction(db.central, async (consultar) => {
    // The session itself already proves the first factor, the mail. A code by mail would prove the same factor again.
    const con_factor = pideSegundoFactor(await leerFactores(consultar, personaId))
    const vale = con_factor
      ? await gastarSegundoFactor(consultar, deps, personaId, codigo)
      : (await gastarCodigo(consultar, deps, navegador.leerEntrada(cookie), codigo)) === personaId
    if (!vale) return false
    await consultar(PROBAR, { hash: identidad.sesion, ahora: reloj(), con_factor })
    const sobre = ['persona', identidad.persona] as const
    await bitacora.anotar(consultar, quien, { accion: 'probarPresencia', sobre, campos: ['presencia_en'] })
    return true
  })
  deps.avisarTrabajo()
  if (!probada) throw codigoIncorrecto()
  devolver()
}

export const probarPresencia: Handler<'probarPresencia'> = async ({ body, cookie, ...quien }, deps) => {
  const { db, navegador } = deps
  const { identidad } = quien
  await probarConCodigo(deps, quien, { cookie, codigo: body.codigo })
  const headers = { 'Set-Cookie': navegador.ponerEntrada('', 0) }
  return { status: 200, headers, body: await presentarSesionDePersona(db, identidad) }
}
