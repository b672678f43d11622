import { beforeEach, describe, expect, it } from 'vitest'
import type { ClaveDeWebhook } from '../../server/domain/records/webhookKey.ts'
import { Admission } from '../../server/domain/webhooks/sending/admission.ts'
import type { Endpoint, ReadyDelivery } from '../../server/domain/webhooks/sending/endpoint.ts'
import { HeldEndpoints } from '../../server/domain/webhooks/sending/heldEndpoints.ts'
import { processTimers } from '../../server/platform/time/timers.ts'
import { hasta } from '../factories.ts'

const CLAVE: ClaveDeWebhook = { comercio_id: '00000000-0000-7000-8000-000000000000', modo: 'test', webhook: 'wh_1' }

/** False once other processes have declared this process dead. */
let viva: boolean
let tomas: number
/** Claims that the queue grants. */
let libres: { id: string; retryCount: number; data: ClaveDeWebhook }[]
let endpoints: HeldEndpoints
let ahora: number

beforeEach(() => {
  viva = true
  tomas = 0
  libres = []
  ahora = performance.now()
  const boss = { insert: async () => [], fetch: async () => libres.splice(0), deleteJob: async () => {} }
  const deps = {
    noWaitDb: {
      query: async (sentencia: { name: string }, { trabajos }: { trabajos?: string[] }) =>
        sentencia.name === 'bombas.latir' ? [{ alive: viva, lost: null }] : trabajos!.map((trabajo) => ({ trabajo })),
    },
    timers: processTimers,
    announceWork: () => {},
    signalWebhooks: () => {},
  }
  const alFallar = (error: unknown) => {
    throw error
  }
  endpoints = new HeldEndpoints(
    boss as unknown as ConstructorParameters<typeof HeldEndpoints>[0],
    deps as unknown as ConstructorParameters<typeof HeldEndpoints>[1],
    new Admission<ReadyDelivery, Endpoint>(),
    { onTaken: () => {}, onRefreshed: () => {}, onReleased: () => {}, onError: alFallar },
  )
})

/** Sends the next heartbeat. */
function cuidar(): void {
  ahora += 5_000
  endpoints.maintain(ahora)
}

async function tomar(): Promise<Endpoint> {
  libres.push({ id: `job ${++tomas}`, retryCount: 0, data: CLAVE })
  endpoints.take()
  const endpoint = await hasta(async () => endpoints.de(CLAVE.webhook))
  cuidar()
  await hasta(async () => endpoint.lease.recorded)
  return endpoint
}

async function perder(): Promise<void> {
  viva = false
  cuidar()
  await hasta(async () => !endpoints.de(CLAVE.webhook))
  viva = true
}

describe('an endpoint whose lease was lost and is taken again', () => {
  it('has in memory the deliveries that are still being sent', async () => {
    ;(await tomar()).inMemory.add('evt_1')
    await perder()
    expect([...(await tomar()).inMemory]).toEqual(['evt_1'])
  })

  it('has none of the deliveries that were settled meanwhile', async () => {
    const antes = await tomar()
    for (const evento of ['evt_1', 'evt_2']) antes.inMemory.add(evento)
    await perder()
    endpoints.forget(CLAVE.webhook, 'evt_1')
    expect([...(await tomar()).inMemory]).toEqual(['evt_2'])
  })
})
