import { inTransaction, type Query } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { limitarEntradas } from './entradas.ts'
import { anotarFalla } from './fallas.ts'
import { type Firmante, passkeyIncorrecta, USAR, verificarFirma } from './passkey.ts'
import { cerradaPorFallas, cerrarPorFallas, PROBAR } from './probarPresencia.ts'
import { presentarSesionDePersona } from './sesion.ts'

export const probarPresenciaConPasskey: Handler<'probarPresenciaConPasskey'> = async (
  { body, cookie, ...quien },
  deps,
) => {
  const { db, reloj, navegador, bitacora } = deps
  const { identidad, red } = quien
  const devolver = limitarEntradas(deps, red)
  const usada = async (consultar: Query, firmante: Firmante | undefined) => {
    if (firmante?.persona_id !== identidad.personaId) return false
    const { persona_id: _suya, ...uso } = firmante
    return (await consultar(USAR, { ...uso, ahora: reloj() })).length > 0
  }
  const firmante = await verificarFirma(deps, cookie, body)
  const { personaId } = identidad
  const falla = await inTransaction(db.central, async (consultar) => {
    if (!(await usada(consultar, firmante))) {
      const fallas = await anotarFalla(consultar, deps, quien, { persona_id: personaId, con: 'passkey' })
      return (await cerrarPorFallas(consultar, deps, quien, fallas)) ? cerradaPorFallas() : passkeyIncorrecta()
    }
    await consultar(PROBAR, { hash: identidad.sesion, ahora: reloj(), con_factor: true })
    const sobre = ['persona', identidad.persona] as const
    await bitacora.anotar(consultar, quien, { accion: 'probarPresenciaConPasskey', sobre, campos: ['presencia_en'] })
    return undefined
  })
  if (falla) throw falla
  devolver()
  const headers = { 'Set-Cookie': navegador.ponerReto('', 0) }
  return { status: 200, headers, body: await presentarSesionDePersona(db, identidad) }
}
