import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { limitarEntradas } from './entradas.ts'
import { abrirPara } from './entrar.ts'
import { passkeyIncorrecta, USAR, verificarFirma } from './passkey.ts'
import { cookiesDeSesion, presentarSesionDePersona } from './sesion.ts'

export const abrirSesionConPasskey: Handler<'abrirSesionConPasskey'> = async (
  { body, cookie, agente, red, idSolicitud },
  deps,
) => {
  const { db, navegador, reloj, avisarTrabajo } = deps
  const devolver = limitarEntradas(deps, red)
  const firmante = await verificarFirma(deps, cookie, body)
  if (!firmante) throw passkeyIncorrecta()
  const { persona_id, ...uso } = firmante
  const abierta = await inTransaction(db.central, async (consultar) => {
    const [usada] = await consultar(USAR, { ...uso, ahora: reloj() })
    if (!usada) return undefined
    const quien = { accion: 'abrirSesionConPasskey', cookie, agente, red, idSolicitud }
    return abrirPara(consultar, deps, persona_id, quien, true)
  })
  if (!abierta) throw passkeyIncorrecta()
  avisarTrabajo()
  devolver()
  const cookies = [...cookiesDeSesion(deps, abierta.token, abierta.vista), navegador.ponerReto('', 0)]
  return { status: 201, headers: { 'Set-Cookie': cookies }, body: await presentarSesionDePersona(db, abierta.vista) }
}
