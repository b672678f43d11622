import { createPrivateKey, createPublicKey, hash, type KeyObject, randomBytes } from 'node:crypto'
import { enHexadecimal, type FilaArchivo } from '../archivos/archivo.ts'
import type { ClavePublica, ManifiestoDePrueba, RecibidoPor } from '../contrato/generado/tipos/index.ts'
import type { Db } from '../db.ts'
import type { FilaGuia } from '../guias/guia.ts'
import type { Secretos } from '../secretos.ts'
import type { FilaPrueba } from './prueba.ts'

const TIPO = 'prueba-entrega+jws'

/** A new salt of 128 random bits: without it, the recipient's name could be guessed from its digest. */
export const nuevaSal = () => randomBytes(16).toString('base64url')

/**
 * The manifest of a proof: what it says, and the digests of its files.
 * @param archivos in the order in which they are listed, the PDF at the end
 */
export function hacerManifiesto(
  emisor: string,
  { guia, modo, external_ref }: Pick<FilaGuia, 'guia' | 'modo' | 'external_ref'>,
  prueba: FilaPrueba,
  archivos: readonly FilaArchivo[],
  sal: string,
  ahora: Date,
): ManifiestoDePrueba {
  const { lat, lng, precision_m, distancia_m } = prueba
  return {
    version: 1,
    emisor,
    guia,
    modo,
    external_ref,
    entregado_en: prueba.entregado_en.toISOString(),
    registrado_en: prueba.registrado_en.toISOString(),
    hecho_en: ahora.toISOString(),
    posicion: lat === null || lng === null ? null : { lat, lng, precision_m, distancia_m },
    recibido_por_sha256: huellaDeQuienRecibio(prueba.recibido_por, sal),
    archivos: archivos.map(({ archivo, tipo, mime, bytes, sha256 }) => ({
      archivo,
      tipo,
      mime,
      bytes,
      sha256: enHexadecimal(sha256),
    })),
  }
}

const huellaDeQuienRecibio = ({ nombre, documento, relacion }: RecibidoPor, sal: string) =>
  hash('sha256', JSON.stringify([sal, nombre, documento, relacion]))

/**
 * Signs a manifest as a compact JWS (RFC 7515), whose type says that it is nothing else; gives the key that tells it,
 * too.
 */
export async function firmarManifiesto(
  secretos: Secretos,
  manifiesto: ManifiestoDePrueba,
): Promise<{ jws: string; publica: ClavePublica }> {
  const { privada, publica } = await claveDeFirma(secretos)
  const { CompactSign } = await import('jose')
  const jws = await new CompactSign(Buffer.from(JSON.stringify(manifiesto)))
    .setProtectedHeader({ alg: ALG, kid: publica.kid, typ: TIPO })
    .sign(privada)
  return { jws, publica }
}

/**
 * The algorithm's name in signatures and keys: the older one, since many libraries don't read Ed25519's own (RFC 9864)
 * yet.
 */
const ALG = 'EdDSA'

/** A key that signs manifests, and its public half as the service publishes it. */
interface ClaveDeFirma {
  privada: KeyObject
  publica: ClavePublica
}

/** The bytes that stand before an Ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The key that signs manifests now, derived from the present master key, so that every process has the same. */
async function claveDeFirma(secretos: Secretos): Promise<ClaveDeFirma> {
  const { clave } = secretos.presente('pruebas')
  const privada = createPrivateKey({ key: Buffer.concat([PKCS8, clave]), format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(privada).export({ format: 'jwk' }) as { x: string }
  const { calculateJwkThumbprint } = await import('jose')
  const kid = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x })
  return { privada, publica: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: ALG } }
}

/** The public keys of all manifests: the one that signs now, and after it every one that has signed before. */
export async function clavesPublicas(db: Db, secretos: Secretos): Promise<ClavePublica[]> {
  const { publica } = await claveDeFirma(secretos)
  const filas = await db.prisma.clave_publica.findMany({ orderBy: [{ creado_en: 'desc' }, { kid: 'asc' }] })
  return [publica, ...filas.map(({ jwk }) => jwk as ClavePublica).filter(({ kid }) => kid !== publica.kid)]
}
