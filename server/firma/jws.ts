import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { ClavePublica } from '../contrato/generado/tipos/index.ts'
import type { Db } from '../db.ts'
import type { Secretos, Subclave } from '../secretos.ts'

/**
 * Signs something as a compact JWS (RFC 7515) of that type; gives the public key that tells it, too, which whoever keeps
 * the signature keeps with it (`clave_publica`).
 */
export async function firmar(
  secretos: Secretos,
  typ: string,
  contenido: object,
): Promise<{ jws: string; publica: ClavePublica }> {
  const { privada, publica } = await claveDeFirma(secretos)
  const { CompactSign } = await import('jose')
  const jws = await new CompactSign(Buffer.from(JSON.stringify(contenido)))
    .setProtectedHeader({ alg: ALG, kid: publica.kid, typ })
    .sign(privada)
  return { jws, publica }
}

/** What a JWS of that type says; undefined if none of those keys signed it. */
export async function leerFirmado<T extends object>(
  claves: readonly ClavePublica[],
  tipo: string,
  jws: string,
): Promise<T | undefined> {
  const { compactVerify, decodeProtectedHeader, importJWK } = await import('jose')
  try {
    const { kid, typ } = decodeProtectedHeader(jws)
    const clave = claves.find((una) => una.kid === kid)
    if (!clave || typ !== tipo) return undefined
    const { payload } = await compactVerify(jws, await importJWK({ ...clave }, ALG), { algorithms: [ALG] })
    return JSON.parse(Buffer.from(payload).toString()) as T
  } catch {
    return undefined
  }
}

/**
 * The algorithm's name in signatures and keys: the older one, since many libraries don't read Ed25519's own (RFC 9864)
 * yet.
 */
const ALG = 'EdDSA'

/** A key that signs, and its public half as the service publishes it. */
interface ClaveDeFirma {
  privada: KeyObject
  publica: ClavePublica
}

/** The bytes that stand before an Ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

async function claveDe({ clave }: Subclave): Promise<ClaveDeFirma> {
  const privada = createPrivateKey({ key: Buffer.concat([PKCS8, clave]), format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(privada).export({ format: 'jwk' }) as { x: string }
  const { calculateJwkThumbprint } = await import('jose')
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x })
  return { privada, publica: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: ALG } }
}

/** The key that signs now, derived from the present master key, so that every process has the same. */
const claveDeFirma = (secretos: Secretos) => claveDe(secretos.presente('pruebas'))

/** The public keys of whatever these master keys signed, which nobody who writes the database can add to. */
export const clavesPropias = async (secretos: Secretos): Promise<ClavePublica[]> =>
  (await Promise.all(secretos.todas('pruebas').map(claveDe))).map(({ publica }) => publica)

/** The public keys of all signatures: the one that signs now, and after it every one that has signed before. */
export async function clavesPublicas(db: Db, secretos: Secretos): Promise<ClavePublica[]> {
  const { publica } = await claveDeFirma(secretos)
  const filas = await db.central.prisma.clave_publica.findMany({ orderBy: [{ creado_en: 'desc' }, { kid: 'asc' }] })
  return [publica, ...filas.map(({ jwk }) => jwk as ClavePublica).filter(({ kid }) => kid !== publica.kid)]
}
