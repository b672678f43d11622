import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const PREFIJO = 'whsec_'

/** A new secret, as its merchant gets it: `whsec_` and 32 random bytes in base64. */
export const nuevoSecreto = () => PREFIJO + randomBytes(32).toString('base64')

/** The bytes that a secret stands for. */
export const bytesDe = (secreto: string) => Buffer.from(secreto.slice(PREFIJO.length), 'base64')

/**
 * The headers of one attempt: Standard Webhooks, to the letter. Signed is `id.timestamp.body`, with HMAC-SHA256, by each of
 * the secrets that are valid; several signatures are separated by a space.
 * @param segundos since 1970, of this attempt
 * @param claves of the secrets, the present one first: a key object signs four times faster than its bytes
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function firmar(id: string, segundos: number, cuerpo: string, claves: readonly KeyObject[]) {
  const firmado = `${id}.${segundos}.${cuerpo}`
  return {
    'webhook-id': id,
    'webhook-timestamp': String(segundos),
    'webhook-signature': claves
      .map((clave) => `v1,${createHmac('sha256', clave).update(firmado).digest('base64')}`)
      .join(' '),
  }
}

/** The key that a secret's bytes are. */
export const claveDe = (bytes: Buffer): KeyObject => createSecretKey(bytes)
