import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets, SubKey } from '../../platform/secrets.ts'

const selloDe = ({ clave }: SubKey, quien: string) => createHmac('sha256', clave).update(quien).digest()

/**
 * Returns the text that identifies a phone after its first successful sign-in: the courier's id and an HMAC-SHA256 of
 * that id. The text names the courier and not the phone, so repeated sign-ins give no additional attempts. The text
 * gives no access to anything.
 */
export const sellarDispositivo = (secretos: Secrets, repartidorId: string) =>
  `${repartidorId}.${selloDe(secretos.presente('dispositivos'), repartidorId).toString('base64url')}`

/**
 * Returns the id of the courier whose code was accepted on a phone; undefined if the service did not create the text.
 */
export function leerDispositivo(secretos: Secrets, texto: string | undefined): string | undefined {
  const [quien = '', sello = ''] = texto?.split('.') ?? []
  const dado = Buffer.from(sello, 'base64url')
  const esNuestro = secretos.todas('dispositivos').some((subclave) => {
    const bueno = selloDe(subclave, quien)
    return dado.length === bueno.length && timingSafeEqual(dado, bueno)
  })
  return esNuestro ? quien : undefined
}
