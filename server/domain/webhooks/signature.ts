import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

/** Returns a new secret in the merchant's form: `whsec_` and 32 random bytes in base64. */
export const newSecret = () => secretText(randomBytes(32))

/** Returns a secret's bytes in the form that merchants get: `whsec_` and base64. */
export const secretText = (bytes: Buffer) => SECRET_PREFIX + bytes.toString('base64')

/** Returns the bytes of a secret in the merchant's form. */
export const secretBytes = (secret: string) => Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')

/**
 * Returns the headers of one attempt, exactly as Standard Webhooks specifies. Each valid secret signs
 * `id.timestamp.body` with HMAC-SHA256. Spaces separate the signatures.
 * @param seconds time of the attempt, in seconds since 1970
 * @param keys keys of the secrets, the current one first; a key object signs four times faster than its bytes
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signWebhook(id: string, seconds: number, body: string, keys: readonly KeyObject[]) {
  const signedText = `${id}.${seconds}.${body}`
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(signedText).digest('base64')}`)
      .join(' '),
  }
}

/** Returns a key object with a secret's bytes, for signing. */
export const signingKeyOf = (bytes: Buffer): KeyObject => createSecretKey(bytes)
