import type { Modo } from '../../generated/contract/types/index.ts'

/** Key of an endpoint. */
export interface WebhookKey {
  comercio_id: string
  modo: Modo
  webhook: string
}

/**
 * Announces that rows of pending work were committed, so that the work need not wait until a search finds it.
 * @param webhooks endpoints that now have deliveries; undefined for any kind of work
 */
export type NotifyJobs = (webhooks?: readonly WebhookKey[]) => void
