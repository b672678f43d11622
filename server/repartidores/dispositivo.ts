import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secretos, Subclave } from '../secretos.ts'

const selloDe = ({ clave }: Subclave, quien: string) => createHmac('sha256', clave).update(quien).digest()

/**
 * What a phone is known by from its first good sign-in on: whose code was good there, under our seal. It names the courier
 * and not the phone, so that nobody gets more tries by signing in again and again; it opens nothing.
 */
export const sellarDispositivo = (secretos: Secretos, repartidorId: string) =>
  `${repartidorId}.${selloDe(secretos.presente('dispositivos'), repartidorId).toString('base64url')}`

/** Whose code was good on the phone that shows this; undefined if we never sealed it. */
export function leerDispositivo(secretos: Secretos, texto: string | undefined): string | undefined {
  const [quien = '', sello = ''] = texto?.split('.') ?? []
  const dado = Buffer.from(sello, 'base64url')
  const esNuestro = secretos.todas('dispositivos').some((subclave) => {
    const bueno = selloDe(subclave, quien)
    return dado.length === bueno.length && timingSafeEqual(dado, bueno)
  })
  return esNuestro ? quien : undefined
}
