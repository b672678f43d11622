import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { ClavePublica } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import type { Secretos } from '../secretos.ts'

/**
 * The algorithm's name in signatures and keys: the older one, since many libraries don't read Ed25519's own (RFC 9864)
 * yet.
 */
export const ALG = 'EdDSA'

/** A key that signs manifests, and its public half as the service publishes it. */
export interface ClaveDeFirma {
  privada: KeyObject
  publica: ClavePublica
}

/** The bytes that stand before an Ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The key that signs manifests now, derived from the present master key, so that every process has the same. */
export async function claveDeFirma(secretos: Secretos): Promise<ClaveDeFirma> {
  const { clave } = secretos.presente('pruebas')
  const privada = createPrivateKey({ key: Buffer.concat([PKCS8, clave]), format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(privada).export({ format: 'jwk' }) as { x: string }
  const { calculateJwkThumbprint } = await import('jose')
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x })
  return { privada, publica: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: ALG } }
}

const TODAS = sentencia('claves.todas', 'select jwk from clave_publica order by creado_en desc, kid')

/** The public keys of all manifests: the one that signs now, and after it every one that has signed before. */
export async function clavesPublicas(db: Db, secretos: Secretos): Promise<ClavePublica[]> {
  const { publica } = await claveDeFirma(secretos)
  const filas = await db.consultar<{ jwk: ClavePublica }>(TODAS, [])
  return [publica, ...filas.map(({ jwk }) => jwk).filter(({ kid }) => kid !== publica.kid)]
}
