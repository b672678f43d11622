import { beforeEach, describe, expect, it } from 'vitest'
import type { WebhookKey } from '../../../server/domain/records/webhookKey.ts'
import { Admission } from '../../../server/domain/webhooks/sending/admission.ts'
import type { Endpoint, ReadyDelivery } from '../../../server/domain/webhooks/sending/endpoint.ts'
import { HeldEndpoints } from '../../../server/domain/webhooks/sending/heldEndpoints.ts'
import { processTimers } from '../../../server/platform/time/timers.ts'
import { waitUntil } from '../../factories.ts'

const KEY: WebhookKey = { comercio_id: '00000000-0000-7000-8000-000000000000', modo: 'test', webhook: 'wh_1' }

/** False once other processes have declared this process dead. */
let isAlive: boolean
let endpoints: HeldEndpoints
let now: number

beforeEach(() => {
  isAlive = true
  now = performance.now()
  const query = async ({ name }: { name: string }) => {
    if (name === 'leases.beat') return isAlive ? [{ leases: 1 }] : []
    return name === 'leases.claim' ? [{ isAlive, claimed: [KEY.webhook] }] : []
  }
  const deps = {
    db: { query },
    noWaitDb: { query },
    timers: processTimers,
    announceWork: () => {},
    signalWebhooks: () => {},
  }
  endpoints = new HeldEndpoints(
    deps as unknown as ConstructorParameters<typeof HeldEndpoints>[0],
    new Admission<ReadyDelivery, Endpoint>(),
    {
      onTaken: () => {},
      onRefreshed: () => {},
      onReleased: () => {},
      onError: (error) => {
        throw error
      },
    },
  )
})

async function take(): Promise<Endpoint> {
  endpoints.request([KEY], false)
  return waitUntil(async () => endpoints.de(KEY.webhook))
}

async function lose(): Promise<void> {
  isAlive = false
  now += 5_000
  endpoints.maintain(now)
  await waitUntil(async () => !endpoints.de(KEY.webhook))
  isAlive = true
}

describe('an endpoint whose lease was lost and is taken again', () => {
  it('has in memory the deliveries that are still being sent', async () => {
    ;(await take()).inMemory.add('evt_1')
    await lose()
    expect([...(await take()).inMemory]).toEqual(['evt_1'])
  })

  it('has none of the deliveries that were settled meanwhile', async () => {
    const earlier = await take()
    for (const evento of ['evt_1', 'evt_2']) earlier.inMemory.add(evento)
    await lose()
    endpoints.forget(KEY.webhook, 'evt_1')
    expect([...(await take()).inMemory]).toEqual(['evt_2'])
  })
})
