import { PERSON_CHALLENGE } from '../../api/http/authenticate.ts'
import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, type Query, statement } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { codigoIncorrecto, gastarCodigo } from './codigo.ts'
import { limitarEntradas } from './entradas.ts'
import { leerFactores, pideSegundoFactor } from './factores.ts'
import { FALLAS_QUE_CIERRAN } from './fallas.ts'
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

const CERRAR = statement<{ hash: Uint8Array }>(
  'equipo.cerrarPorFallas',
  'delete from sesion_persona where hash = :hash',
)

/**
 * Ends the session in which a second factor failed too often within an hour, so that a stolen cookie gets few guesses.
 * @returns true if the session ended
 */
export async function cerrarPorFallas(
  consultar: Query,
  { bitacora }: Pick<Deps, 'bitacora'>,
  quien: Quien & { identidad: Identities['sesionDePersona'] },
  fallas: number,
): Promise<boolean> {
  if (fallas < FALLAS_QUE_CIERRAN) return false
  const { sesion: hash, persona } = quien.identidad
  await consultar(CERRAR, { hash })
  await bitacora.anotar(consultar, quien, {
    accion: 'cerrarPorFallas',
    sobre: ['persona', persona],
    campos: ['sesion'],
  })
  return true
}

/** Returns the 401 for a session that ended because its second factor failed too often. */
export const cerradaPorFallas = () =>
  new Problema('sesion_invalida', 'Falló muchas veces su segundo factor, y la sesión se cerró. Entre otra vez.', {
    cabeceras: PERSON_CHALLENGE,
  })

/**
 * Proves that the person of a session is present. The proof is a code of the app, a recovery code, or, for a person
 * without second factor, a code by mail. The session ends after too many failures of the second factor.
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
  const falla = await inTransaction(db.central, async (consultar) => {
    // The session itself already proves the first factor, the mail. A code by mail would prove the same factor again.
    const con_factor = pideSegundoFactor(await leerFactores(consultar, personaId))
    if (con_factor) {
      const fallas = await gastarSegundoFactor(consultar, deps, quien, { persona_id: personaId, codigo })
      if (await cerrarPorFallas(consultar, deps, quien, fallas)) return cerradaPorFallas()
      if (fallas > 0) return codigoIncorrecto()
    } else if ((await gastarCodigo(consultar, deps, navegador.leerEntrada(cookie), codigo)) !== personaId)
      return codigoIncorrecto()
    await consultar(PROBAR, { hash: identidad.sesion, ahora: reloj(), con_factor })
    const sobre = ['persona', identidad.persona] as const
    await bitacora.anotar(consultar, quien, { accion: 'probarPresencia', sobre, campos: ['presencia_en'] })
    return undefined
  })
  deps.avisarTrabajo()
  if (falla) throw falla
  devolver()
}

export const probarPresencia: Handler<'probarPresencia'> = async ({ body, cookie, ...quien }, deps) => {
  const { db, navegador } = deps
  const { identidad } = quien
  await probarConCodigo(deps, quien, { cookie, codigo: body.codigo })
  const headers = { 'Set-Cookie': navegador.ponerEntrada('', 0) }
  return { status: 200, headers, body: await presentarSesionDePersona(db, identidad) }
}
