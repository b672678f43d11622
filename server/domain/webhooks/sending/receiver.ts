import type { KeyObject } from 'node:crypto'
import { statement } from '../../../data/db.ts'
import { queryByComercio } from '../../../data/partQueries.ts'
import { readDestination } from '../../../platform/outbound/destination.ts'
import type { JobDeps } from '../../deps.ts'
import type { WebhookKey } from '../../records/webhookKey.ts'
import { decryptSecret, type SecretoRow } from '../secret.ts'
import { signingKeyOf } from '../signature.ts'
import { policyOf, type WebhookRow } from '../webhook.ts'

/** Row of an endpoint with its valid secrets, newest first. */
type ReceiverRow = WebhookKey &
  Pick<WebhookRow, 'url' | 'estado' | 'comprobado_en' | 'fallas' | 'freno_vence_en'> & {
    versions: SecretoRow['version'][]
    ciphertexts: SecretoRow['cifrado'][]
    expirations: SecretoRow['vence_en'][]
  }

/** Endpoint in the form that the sender needs. */
export interface Receiver extends Omit<ReceiverRow, 'url'> {
  url: string
  /** Parsed and checked address; undefined if requests to the address are not allowed, or no longer allowed. */
  direccion: URL | undefined
  /** Keys of the secrets; undefined if the keys are not available, and then no request can be sent. */
  claves: KeyObject[] | undefined
}

const READ_RECEIVERS = statement<{ claves: string; now: Date }, ReceiverRow>(
  'webhooks.readReceivers',
  'part',
  `select w.comercio_id, w.modo, w.webhook, w.url, w.estado, w.comprobado_en, w.fallas, w.freno_vence_en,
     array_agg(s.version order by s.version desc) as versions, array_agg(s.cifrado order by s.version desc) as ciphertexts,
     array_agg(s.vence_en order by s.version desc) as expirations
   from json_to_recordset(:claves::json) as x(comercio_id uuid, modo text, webhook text)
   join webhook w on w.comercio_id = x.comercio_id and w.modo = x.modo and w.webhook = x.webhook
   join webhook_secreto s on s.comercio_id = w.comercio_id and s.modo = w.modo and s.webhook = w.webhook
     and (s.vence_en is null or s.vence_en > :now)
   where w.estado <> 'eliminado' group by w.comercio_id, w.modo, w.webhook, w.url, w.estado, w.comprobado_en, w.fallas, w.freno_vence_en`,
)

/** Dependencies of {@link readReceivers}. */
export type ReceiverDeps = Pick<JobDeps, 'db' | 'log' | 'clock' | 'secretos' | 'destinations'>

/**
 * Reads endpoints by their code, except deleted ones.
 * @param findKnown returns the previous data of an endpoint, whose keys and address are reused if they are unchanged
 */
export async function readReceivers(
  deps: ReceiverDeps,
  keys: readonly WebhookKey[],
  findKnown: (webhook: string) => Receiver | undefined,
): Promise<Map<string, Receiver>> {
  const { db } = deps
  const rows = await queryByComercio(db, keys, ({ query }, shardKeys) =>
    query(READ_RECEIVERS, { claves: JSON.stringify(shardKeys), now: deps.clock() }),
  )
  return new Map(rows.map((row) => [row.webhook, toReceiver(deps, row, findKnown(row.webhook))]))
}

function toReceiver(deps: ReceiverDeps, row: ReceiverRow, before: Receiver | undefined): Receiver {
  const url = row.url!
  return {
    ...row,
    url,
    direccion: before?.url === url ? before.direccion : readAddress(deps, url, row.modo),
    claves: before?.claves && hasSameSecretos(before, row) ? before.claves : readKeys(deps, row),
  }
}

function readAddress({ destinations }: ReceiverDeps, url: string, modo: Receiver['modo']): URL | undefined {
  try {
    return readDestination(url, policyOf(destinations, modo))
  } catch {
    return undefined
  }
}

function readKeys({ secretos, log }: ReceiverDeps, { webhook, versions, ciphertexts }: ReceiverRow) {
  try {
    return versions.map((version, i) => signingKeyOf(decryptSecret(secretos, { webhook, version }, ciphertexts[i]!)))
  } catch (err) {
    log.error({ err, webhook }, 'decrypting a webhook signing secret failed')
    return undefined
  }
}

/** Returns the secrets of an endpoint that are valid at a time, newest first. */
export function validSecrets({ versions, expirations, claves = [] }: Receiver, instant: Date) {
  const validIndexes = [...versions.keys()].filter((i) => expirations[i] === null || expirations[i]! > instant)
  return { secretos: validIndexes.map((i) => versions[i]!), claves: validIndexes.map((i) => claves[i]!) }
}

const hasSameSecretos = (known: ReceiverRow | Receiver, current: ReceiverRow) =>
  known.versions.length === current.versions.length &&
  known.versions.every(
    (version, i) =>
      version === current.versions[i] && Buffer.compare(known.ciphertexts[i]!, current.ciphertexts[i]!) === 0,
  )
