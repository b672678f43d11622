import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { KeyPurpose, Secrets } from './secrets.ts'

// Values that the database keeps encrypted with AES-256-GCM. The encryption is bound to the row, so that a value copied
// to another row does not decrypt. Layout: key id (4 bytes), nonce (12), tag (16), the encrypted bytes.
const KID = 4
const NONCE = 12
const TAG = 16

/**
 * Encrypts bytes with the present master key.
 * @param row identity of the row that keeps them, for example `wh_000000000001:1`
 */
export function seal(secretos: Secrets, purpose: KeyPurpose, row: string, plain: Buffer): Buffer<ArrayBuffer> {
  const { kid, clave } = secretos.presente(purpose)
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', clave, nonce).setAAD(Buffer.from(row))
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([Buffer.from(kid, 'hex'), nonce, cipher.getAuthTag(), encrypted])
}

/**
 * Decrypts the bytes of {@link seal}.
 * @throws Error if no configured master key encrypted them, or if they or their row were altered
 */
export function unseal(secretos: Secrets, purpose: KeyPurpose, row: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed)
  const subKey = secretos.de(purpose, keyIdOf(bytes))
  if (!subKey) throw new Error(`MASTER_KEYS no longer has the key ${keyIdOf(bytes)} that ${row} needs`)
  const nonce = bytes.subarray(KID, KID + NONCE)
  const decipher = createDecipheriv('aes-256-gcm', subKey.clave, nonce, { authTagLength: TAG })
  decipher.setAAD(Buffer.from(row)).setAuthTag(bytes.subarray(KID + NONCE, KID + NONCE + TAG))
  return Buffer.concat([decipher.update(bytes.subarray(KID + NONCE + TAG)), decipher.final()])
}

/** Returns the id of the master key that encrypted the bytes of {@link seal}. */
export const keyIdOf = (sealed: Uint8Array): string => Buffer.from(sealed.subarray(0, KID)).toString('hex')
