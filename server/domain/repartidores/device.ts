import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets, SubKey } from '../../platform/secrets.ts'

const sealOf = ({ clave }: SubKey, caller: string) => createHmac('sha256', clave).update(caller).digest()

/**
 * Returns the text that identifies a phone after its first successful sign-in: the courier's id and an HMAC-SHA256 of
 * that id. The text names the courier and not the phone, so repeated sign-ins give no additional attempts. The text
 * gives no access to anything.
 */
export const sealDevice = (secrets: Secrets, repartidorId: string) =>
  `${repartidorId}.${sealOf(secrets.current('dispositivos'), repartidorId).toString('base64url')}`

/**
 * Returns the id of the courier whose code was accepted on a phone; undefined if the service did not create the text.
 */
export function readDevice(secrets: Secrets, text: string | undefined): string | undefined {
  const [caller = '', sello = ''] = text?.split('.') ?? []
  const givenSeal = Buffer.from(sello, 'base64url')
  const isOurs = secrets.todas('dispositivos').some((subkey) => {
    const expectedSeal = sealOf(subkey, caller)
    return givenSeal.length === expectedSeal.length && timingSafeEqual(givenSeal, expectedSeal)
  })
  return isOurs ? caller : undefined
}
