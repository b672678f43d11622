import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { limitarEntradas } from './entradas.ts'
import { passkeyIncorrecta, USAR, verificarFirma } from './passkey.ts'
import { PROBAR } from './probarPresencia.ts'
import { presentarSesionDePersona } from './sesion.ts'

export const probarPresenciaConPasskey: Handler<'probarPresenciaConPasskey'> = async (
  { body, cookie, ...quien },
  deps,
) => {
  const { db, reloj, navegador, bitacora } = deps
  const { identidad, red } = quien
  const devolver = limitarEntradas(deps, red)
  const firmante = await verificarFirma(deps, cookie, body)
  if (firmante?.persona_id !== identidad.personaId) throw passkeyIncorrecta()
  const { persona_id: _suya, ...uso } = firmante
  const probada = await inTransaction(db.central, async (consultar) => {
    const [usada] = await consultar(USAR, { ...uso, ahora: reloj() })
    if (!usada) return false
    await consultar(PROBAR, { hash: identidad.sesion, ahora: reloj(), con_factor: true })
    const sobre = ['persona', identidad.persona] as const
    await bitacora.anotar(consultar, quien, { accion: 'probarPresenciaConPasskey', sobre, campos: ['presencia_en'] })
    return true
  })
  if (!probada) throw passkeyIncorrecta()
  devolver()
  const headers = { 'Set-Cookie': navegador.ponerReto('', 0) }
  return { status: 200, headers, body: await presentarSesionDePersona(db, identidad) }
}
