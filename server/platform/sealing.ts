import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { KeyPurpose, Secrets, SubKey } from './secrets.ts'

// Encrypts values that leave the process, so that only this service can read them. Uses AES-256-GCM, bound to the place
// where the value is stored: a value copied to another place does not decrypt. Layout: key id (4 bytes), nonce (12),
// tag (16), encrypted bytes.
const KID = 4
const NONCE = 12
const TAG = 16

const keys = new WeakMap<SubKey, KeyObject>()

/**
 * Returns the key object of a sub-key. The object is cached, because ciphers take four times as long with the key's
 * bytes.
 */
function keyOf(subKey: SubKey): KeyObject {
  const known = keys.get(subKey)
  if (known) return known
  const key = createSecretKey(subKey.clave)
  keys.set(subKey, key)
  return key
}

/**
 * Encrypts bytes with the present master key.
 * @param place identity of the place where the value is stored, for example the row `wh_000000000001:1`
 * @param nonce 12 bytes, never the same for two inputs; random if omitted
 */
export function seal(
  secrets: Secrets,
  purpose: KeyPurpose,
  place: string,
  plain: Buffer,
  nonce: Buffer = randomBytes(NONCE),
): Buffer<ArrayBuffer> {
  const subKey = secrets.current(purpose)
  const cipher = createCipheriv('aes-256-gcm', keyOf(subKey), nonce).setAAD(Buffer.from(place))
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from(subKey.kid, 'hex'), nonce, cipher.getAuthTag(), encrypted])
}

/**
 * Decrypts the bytes of {@link seal}.
 * @throws Error if no configured master key encrypted the bytes, or if the bytes or their place were altered
 */
export function unseal(secrets: Secrets, purpose: KeyPurpose, place: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed)
  const subKey = secrets.de(purpose, keyIdOf(bytes))
  if (!subKey) throw new Error(`MASTER_KEYS no longer has the key ${keyIdOf(bytes)} that ${place} needs`)
  const nonce = bytes.subarray(KID, KID + NONCE)
  const decipher = createDecipheriv('aes-256-gcm', keyOf(subKey), nonce, { authTagLength: TAG })
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(KID + NONCE, KID + NONCE + TAG))
  return Buffer.concat([decipher.update(bytes.subarray(KID + NONCE + TAG)), decipher.final()])
}

/**
 * Decrypts the bytes of {@link seal}; undefined if no configured master key encrypted them.
 * @throws Error if the bytes or their place were altered
 */
export const unsealIfKnown = (secrets: Secrets, purpose: KeyPurpose, place: string, sealed: Uint8Array) =>
  secrets.de(purpose, keyIdOf(sealed)) && unseal(secrets, purpose, place, sealed)

/**
 * Re-encrypts the bytes of {@link seal} with the present master key. Undefined if no configured master key encrypted
 * the bytes.
 * @throws Error if the bytes or their place were altered
 */
export const reseal = (secrets: Secrets, purpose: KeyPurpose, place: string, sealed: Uint8Array) => {
  const plain = unsealIfKnown(secrets, purpose, place, sealed)
  return plain && seal(secrets, purpose, place, plain)
}

/** Returns the id of the master key that encrypted the bytes of {@link seal}. */
export const keyIdOf = (sealed: Uint8Array): string => Buffer.from(sealed.subarray(0, KID)).toString('hex')
