import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { RowOf } from '../../data/db.ts'
import type { webhook_secreto } from '../../generado/contrato/prisma/client.ts'
import type { Modo } from '../../generado/contrato/tipos/index.ts'
import type { Secrets } from '../../platform/secrets.ts'

// Signing secrets in the database are encrypted with AES-256-GCM. The encryption is bound to the endpoint and the
// version, so that a row copied to another endpoint does not decrypt. Layout: key id (4 bytes), nonce (12), tag (16),
// the secret's 32 bytes.
const KID = 4
const NONCE = 12
const SELLO = 16

/** Row of `webhook_secreto`. */
export type FilaSecreto = RowOf<webhook_secreto, { modo: Modo }>

/** Identity of a secret: its endpoint, and its version at that endpoint. */
export type SecretIdentity = Pick<FilaSecreto, 'webhook' | 'version'>

const adicional = ({ webhook, version }: SecretIdentity) => Buffer.from(`${webhook}:${version}`)

/** Encrypts the bytes of a secret with the current master key. */
export function encryptSecret(secretos: Secrets, identidad: SecretIdentity, claro: Buffer): Buffer<ArrayBuffer> {
  const { kid, clave } = secretos.presente('webhooks')
  const nonce = randomBytes(NONCE)
  const cifrador = createCipheriv('aes-256-gcm', clave, nonce).setAAD(adicional(identidad))
  const texto = Buffer.concat([cifrador.update(claro), cifrador.final()])
  return Buffer.concat([Buffer.from(kid, 'hex'), nonce, cifrador.getAuthTag(), texto])
}

/**
 * Returns the bytes of an encrypted secret.
 * @throws Error if no configured master key encrypted the secret, or if the encrypted bytes were altered
 */
export function decryptSecret(secretos: Secrets, identidad: SecretIdentity, cifrado: Uint8Array): Buffer {
  const bytes = Buffer.from(cifrado)
  const subclave = secretos.de('webhooks', kidOf(bytes))
  if (!subclave) throw new Error(`MASTER_KEYS no longer has the key ${kidOf(bytes)} that ${identidad.webhook} needs`)
  const descifrador = createDecipheriv('aes-256-gcm', subclave.clave, bytes.subarray(KID, KID + NONCE), {
    authTagLength: SELLO,
  })
  descifrador.setAAD(adicional(identidad)).setAuthTag(bytes.subarray(KID + NONCE, KID + NONCE + SELLO))
  return Buffer.concat([descifrador.update(bytes.subarray(KID + NONCE + SELLO)), descifrador.final()])
}

/** Returns the id of the master key that encrypted a secret. */
export const kidOf = (cifrado: Uint8Array) => Buffer.from(cifrado.subarray(0, KID)).toString('hex')
