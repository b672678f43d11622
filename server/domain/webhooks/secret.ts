import { type RowOf, statement } from '../../data/db.ts'
import type { webhook_secreto } from '../../generated/contract/prisma/client.ts'
import type { Modo, WebhookConSecreto } from '../../generated/contract/types/index.ts'
import { reseal, seal, unseal } from '../../platform/sealing.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Deps } from '../deps.ts'
import { secretText } from './signature.ts'
import { presentWebhook, readWebhook, type WebhookScope } from './webhook.ts'

export type SecretoRow = RowOf<webhook_secreto, { modo: Modo }>

/** Identity of a secret: its endpoint, and its version at that endpoint. */
export type SecretIdentity = Pick<SecretoRow, 'webhook' | 'version'>

const rowOf = ({ webhook, version }: SecretIdentity) => `${webhook}:${version}`

/** Encrypts the bytes of a signing secret for its row. */
export const encryptSecret = (secrets: Secrets, identity: SecretIdentity, plaintext: Buffer): Buffer<ArrayBuffer> =>
  seal(secrets, 'webhooks', rowOf(identity), plaintext)

/**
 * Returns the bytes of an encrypted signing secret.
 * @throws Error if no configured master key encrypted the secret, or if the encrypted bytes were altered
 */
export const decryptSecret = (secrets: Secrets, identity: SecretIdentity, encrypted: Uint8Array): Buffer =>
  unseal(secrets, 'webhooks', rowOf(identity), encrypted)

/** Encrypts an encrypted signing secret with the present master key; undefined if no configured master key reads it. */
export const reencryptSecret = (secrets: Secrets, identity: SecretIdentity, encrypted: Uint8Array) =>
  reseal(secrets, 'webhooks', rowOf(identity), encrypted)

const READ = statement<Pick<SecretoRow, 'comercio_id' | 'modo' | 'webhook' | 'version'>, Pick<SecretoRow, 'cifrado'>>(
  'webhooks.read',
  'merchant',
  `select cifrado from webhook_secreto where comercio_id = :comercio_id and modo = :modo and webhook = :webhook
     and version = :version`,
)

/**
 * Returns the endpoint as it is now, with the secret of this version, which may have expired. Undefined if the endpoint
 * or the secret does not exist.
 */
export async function readWithSecreto(
  { db, clock, secretos }: Pick<Deps, 'db' | 'clock' | 'secretos'>,
  { comercioId, modo }: WebhookScope,
  webhook: string,
  version: number,
): Promise<WebhookConSecreto | undefined> {
  const row = await readWebhook(db.query, { comercioId, modo }, webhook, clock())
  const [storedSecreto] = await db.query(READ, { comercio_id: comercioId, modo, webhook, version })
  if (!row || !storedSecreto) return undefined
  return {
    ...presentWebhook(row),
    secreto: secretText(decryptSecret(secretos, { webhook, version }, storedSecreto.cifrado)),
  }
}
