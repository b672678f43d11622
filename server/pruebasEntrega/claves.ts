import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { ClavePublica } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import type { Secretos } from '../secretos.ts'

/** The name that the whole world knows: what else Ed25519 is called (RFC 9864) many libraries don't read yet. */
export const ALG = 'EdDSA'

export interface ClaveDeFirma {
  privada: KeyObject
  publica: ClavePublica
}

/** What stands before the 32 bytes of an Ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The key with which manifests are signed now: the present master key's, and with it every process's. */
export async function claveDeFirma(secretos: Secretos): Promise<ClaveDeFirma> {
  const { clave } = secretos.presente('pruebas')
  const privada = createPrivateKey({ key: Buffer.concat([PKCS8, clave]), format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(privada).export({ format: 'jwk' }) as { x: string }
  const { calculateJwkThumbprint } = await import('jose')
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x })
  return { privada, publica: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: ALG } }
}

const TODAS = sentencia('claves.todas', 'select jwk from clave_publica order by creado_en desc, kid')

/** Every key that has signed something, and before them the one that signs now. */
export async function clavesPublicas(db: Db, secretos: Secretos): Promise<ClavePublica[]> {
  const { publica } = await claveDeFirma(secretos)
  const filas = await db.consultar<{ jwk: ClavePublica }>(TODAS, [])
  return [publica, ...filas.map(({ jwk }) => jwk).filter(({ kid }) => kid !== publica.kid)]
}
