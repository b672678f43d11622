import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { ClavePublica } from '../../generated/contract/types/index.ts'
import type { Secrets, SubKey } from '../secrets.ts'

/**
 * Signs content as a compact JWS (RFC 7515) of type `typ`.
 * @returns the JWS, and the public key that verifies it. The caller stores the key together with the signature (table
 * `clave_publica`).
 */
export async function signJws(
  secrets: Secrets,
  typ: string,
  content: object,
): Promise<{ jws: string; publicKey: ClavePublica }> {
  const { privateKey, publicKey } = await signingKey(secrets)
  const { CompactSign } = await import('jose')
  const jws = await new CompactSign(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader({ alg: ALG, kid: publicKey.kid, typ })
    .sign(privateKey)
  return { jws, publicKey }
}

/** Verifies a JWS and returns its content; undefined if it has another type, or if none of the keys signed it. */
export async function readSigned<T extends object>(
  keys: readonly ClavePublica[],
  type: string,
  jws: string,
): Promise<T | undefined> {
  const { compactVerify, decodeProtectedHeader, importJWK } = await import('jose')
  try {
    const { kid, typ } = decodeProtectedHeader(jws)
    const key = keys.find((publicKeyEntry) => publicKeyEntry.kid === kid)
    if (!key || typ !== type) return undefined
    const { payload } = await compactVerify(jws, await importJWK({ ...key }, ALG), { algorithms: [ALG] })
    return JSON.parse(Buffer.from(payload).toString()) as T
  } catch {
    return undefined
  }
}

/**
 * Name of the algorithm in signatures and keys. This is the older name, because many libraries do not support the name
 * `Ed25519` (RFC 9864) yet.
 */
const ALG = 'EdDSA'

/** Private key that signs, and its public key in the form that the service publishes. */
interface SigningKey {
  privateKey: KeyObject
  publicKey: ClavePublica
}

/** Bytes that precede an Ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

async function keyOf({ clave }: SubKey): Promise<SigningKey> {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, clave]), format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' }) as { x: string }
  const { calculateJwkThumbprint } = await import('jose')
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x })
  return { privateKey, publicKey: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: ALG } }
}

/** Returns the current signing key. It is derived from the current master key, so all processes have the same one. */
export const signingKey = (secrets: Secrets) => keyOf(secrets.current('pruebas'))

/**
 * Public keys of all signatures made with the configured master keys. A client that can write to the database cannot
 * add a key to this list.
 */
export const ownPublicKeys = async (secrets: Secrets): Promise<ClavePublica[]> =>
  (await Promise.all(secrets.todas('pruebas').map(keyOf))).map(({ publicKey }) => publicKey)
