import { hash, randomBytes } from 'node:crypto'
import type { ManifiestoDePrueba, RecibidoPor } from '../../generated/contract/types/index.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { signJws } from '../../platform/signing/jws.ts'
import { type ArchivoRow, toHex } from '../archivos/archivo.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import type { PruebaWithRepartidor } from './prueba.ts'

const MANIFEST_TYPE = 'prueba-entrega+jws'

/** Generates a salt of 128 random bits. Without the salt, the recipient's name could be guessed from its digest. */
export const newSalt = () => randomBytes(16).toString('base64url')

/**
 * Returns the manifest of a proof: the proof's data and the digests of its files.
 * @param archivos files in the order in which they are listed, the PDF at the end
 */
export function buildManifest(
  emisor: string,
  { guia, modo, external_ref }: Pick<GuiaRow, 'guia' | 'modo' | 'external_ref'>,
  prueba: PruebaWithRepartidor,
  archivos: readonly ArchivoRow[],
  salt: string,
  now: Date,
): ManifiestoDePrueba {
  const { lat, lng, precision_m, distancia_m, distancia_avisada_m } = prueba
  return {
    version: 1,
    emisor,
    guia,
    modo,
    external_ref,
    entregado_en: prueba.entregado_en.toISOString(),
    registrado_en: prueba.registrado_en.toISOString(),
    hecho_en: now.toISOString(),
    repartidor: prueba.repartidor,
    posicion: lat === null || lng === null ? null : { lat, lng, precision_m, distancia_m, distancia_avisada_m },
    recibido_por_sha256: digestOfReceiver(prueba.recibido_por, salt),
    sin_firma: prueba.sin_firma,
    evidencia: prueba.evidencia,
    archivos: archivos.map(({ archivo, tipo, mime, bytes, sha256 }) => ({
      archivo,
      tipo,
      mime,
      bytes,
      sha256: toHex(sha256),
    })),
  }
}

const digestOfReceiver = ({ nombre, documento, relacion }: RecibidoPor, salt: string) =>
  hash('sha256', JSON.stringify([salt, nombre, documento, relacion]))

/** Signs a manifest as a JWS with a `typ` of its own, so that it cannot be mistaken for any other signed document. */
export const signManifest = (secrets: Secrets, manifiesto: ManifiestoDePrueba) =>
  signJws(secrets, MANIFEST_TYPE, manifiesto)
