import type { Handler } from '../operation.ts'
import { demasiadasPasskeys, escribirReto, exigirDominio, leerPasskeys, MAX_PASSKEYS, usuarioDe } from './passkey.ts'

export const pedirRegistroDePasskey: Handler<'pedirRegistroDePasskey'> = async ({ identidad }, deps) => {
  const { personaId, nombre, correo } = identidad
  const dominio = exigirDominio(deps)
  const suyas = await leerPasskeys(deps.db, personaId)
  if (suyas.length >= MAX_PASSKEYS) throw demasiadasPasskeys()
  const { reto, vence_en, cabeceras } = await escribirReto(deps, personaId)
  const existentes = suyas.map(({ credencial }) => Buffer.from(credencial).toString('base64url'))
  const usuario = usuarioDe(personaId)
  return { status: 200, headers: cabeceras, body: { reto, dominio, usuario, nombre, correo, existentes, vence_en } }
}
