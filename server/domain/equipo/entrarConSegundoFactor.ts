import { inTransaction } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { limitarEntradas } from './entradas.ts'
import { abrirPara, type DepsDeEntrada } from './entrar.ts'
import { gastarSegundoFactor, intentarEntrada, segundoFactorIncorrecto, terminarEntrada } from './segundoFactor.ts'
import { cookiesDeSesion, presentarSesionDePersona } from './sesion.ts'

/**
 * Opens a session with the second factor, after the code of the mail in the same browser. The attempt counts even if it
 * fails.
 * @param cookie `Cookie` header, with the token of the sign-in that still needs the second factor
 * @throws Problema 401, or 429 after too many attempts within a day
 */
export async function entrarConSegundoFactor(
  deps: DepsDeEntrada & Pick<Deps, 'avisarTrabajo'>,
  { cookie, codigo }: { cookie: string; codigo: string },
  { agente, ...quien }: Omit<Quien, 'identidad'> & { agente: string },
) {
  const token = deps.navegador.leerEntradaAMedias(cookie)
  const abierta = await inTransaction(deps.db.central, async (consultar) => {
    const id = await intentarEntrada(consultar, deps, token)
    if (id === undefined) return undefined
    const fallas = await gastarSegundoFactor(consultar, deps, { ...quien, identidad: null }, { persona_id: id, codigo })
    if (fallas > 0) return undefined
    await terminarEntrada(consultar, token!)
    return abrirPara(consultar, deps, id, { accion: 'abrirSesionConSegundoFactor', cookie, agente, ...quien }, true)
  })
  deps.avisarTrabajo()
  if (!abierta) throw segundoFactorIncorrecto()
  return abierta
}

export const abrirSesionConSegundoFactor: Handler<'abrirSesionConSegundoFactor'> = async (
  { body, cookie, agente, red, idSolicitud },
  deps,
) => {
  const { db, navegador } = deps
  const devolver = limitarEntradas(deps, red)
  const quien = { agente, red, idSolicitud }
  const { token, vista } = await entrarConSegundoFactor(deps, { cookie, codigo: body.codigo }, quien)
  devolver()
  const cookies = [...cookiesDeSesion(deps, token, vista), navegador.ponerEntradaAMedias('', 0)]
  return { status: 201, headers: { 'Set-Cookie': cookies }, body: await presentarSesionDePersona(db, vista) }
}
