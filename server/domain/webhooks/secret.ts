import type { RowOf } from '../../data/db.ts'
import type { webhook_secreto } from '../../generado/contrato/prisma/client.ts'
import type { Modo } from '../../generado/contrato/tipos/index.ts'
import { reseal, seal, unseal } from '../../platform/sealing.ts'
import type { Secrets } from '../../platform/secrets.ts'

/** Row of `webhook_secreto`. */
export type FilaSecreto = RowOf<webhook_secreto, { modo: Modo }>

/** Identity of a secret: its endpoint, and its version at that endpoint. */
export type SecretIdentity = Pick<FilaSecreto, 'webhook' | 'version'>

const rowOf = ({ webhook, version }: SecretIdentity) => `${webhook}:${version}`

/** Encrypts the bytes of a signing secret for its row. */
export const encryptSecret = (secretos: Secrets, identidad: SecretIdentity, claro: Buffer): Buffer<ArrayBuffer> =>
  seal(secretos, 'webhooks', rowOf(identidad), claro)

/**
 * Returns the bytes of an encrypted signing secret.
 * @throws Error if no configured master key encrypted the secret, or if the encrypted bytes were altered
 */
export const decryptSecret = (secretos: Secrets, identidad: SecretIdentity, cifrado: Uint8Array): Buffer =>
  unseal(secretos, 'webhooks', rowOf(identidad), cifrado)

/** Encrypts an encrypted signing secret with the present master key; undefined if no configured master key reads it. */
export const reencryptSecret = (secretos: Secrets, identidad: SecretIdentity, cifrado: Uint8Array) =>
  reseal(secretos, 'webhooks', rowOf(identidad), cifrado)
