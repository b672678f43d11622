import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../../environment.ts'
import { buildGuia, waitUntil } from '../../factories.ts'
import { answerWith, holdAnswers, useReceivers } from '../receiver.ts'
import { waitForAviso } from '../webhooks.ts'

const environment = shareEnvironment()
const openReceiver = useReceivers()

/** A merchant with as many endpoints as there may be, at a receiver that took one and answers nothing any more. */
async function createHeavyComercio() {
  const comercio = await environment.createComercio()
  const answerHolder = holdAnswers()
  const receptor = await openReceiver()
  const webhooks: string[] = []
  for (let i = 0; i < 20; i++)
    webhooks.push((await comercio.api.webhooks.crear({ url: `${receptor.url}/${i}` })).webhook)
  // A host that never took anything would be sent less.
  const { aviso } = await comercio.api.webhooks.probar(webhooks[0]!)
  await waitForAviso(comercio.api, webhooks[0]!, aviso)
  receptor.responder = answerHolder.responder
  return { comercio, receptor, answerHolder, webhooks }
}

/** A healthy merchant's deliveries arrive while those of the other one are still under way. */
async function expectArrivals(
  count: number,
  { answerHolder }: Pick<Awaited<ReturnType<typeof createHeavyComercio>>, 'answerHolder'>,
) {
  const vecino = await environment.createComercio()
  const receptor = await openReceiver()
  await vecino.api.webhooks.crear({ url: receptor.url })
  for (let i = 1; i <= count; i++) {
    await vecino.api.guias.crear(buildGuia())
    await waitUntil(async () => receptor.receivedWebhooks.length === i)
  }
  expect(answerHolder.abandonedCount).toBe(0)
  answerHolder.release()
}

describe('one merchant', () => {
  it('with 20 slow endpoints and a backlog for each holds up nobody else', async () => {
    const fullCase = await createHeavyComercio()
    await Promise.all(Array.from({ length: 60 }, () => fullCase.comercio.api.guias.crear(buildGuia())))
    await waitUntil(async () => fullCase.receptor.receivedWebhooks.length >= 20)
    await expectArrivals(10, fullCase)
  })

  it('that asks for hundreds of tests holds up nobody', async () => {
    const fullCase = await createHeavyComercio()
    const { comercio, receptor, webhooks } = fullCase
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => comercio.api.webhooks.probar(webhooks[i % webhooks.length]!)),
    )
    await waitUntil(async () => receptor.receivedWebhooks.length > 0)
    await expectArrivals(10, fullCase)
  })
})

describe('an endpoint that moved', () => {
  it('isn’t judged by what its old address answers afterwards', async () => {
    const { api } = await environment.createComercio()
    const answerHolder = holdAnswers()
    const old = await openReceiver(answerHolder.responder)
    const nuevo = await openReceiver(answerWith(204))
    const { webhook } = await api.webhooks.crear({ url: old.url })
    await api.guias.crear(buildGuia())
    await waitUntil(async () => old.receivedWebhooks[0])
    await api.webhooks.cambiar(webhook, { url: nuevo.url })
    answerHolder.release(410)
    await waitUntil(async () =>
      (await api.webhooks.avisos(webhook)).datos[0]!.ultimo_estado_http === 410 ? true : undefined,
    )
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'activo', motivo: null, fallas: null })
    await api.guias.crear(buildGuia())
    await waitUntil(async () => nuevo.receivedWebhooks[0])
  })
})

describe('a resend', () => {
  it('asked for again and again before it has left is one', async () => {
    const { api } = await environment.createComercio()
    const receptor = await openReceiver()
    const { webhook } = await api.webhooks.crear({ url: receptor.url })
    await api.guias.crear(buildGuia())
    const { aviso } = await waitUntil(async () =>
      (await api.webhooks.avisos(webhook, { estado: 'entregado' })).datos.find(() => true),
    )
    for (let i = 0; i < 40; i++) await api.webhooks.reenviar(webhook, aviso)
    await waitUntil(async () =>
      (await api.webhooks.obtenerAviso(webhook, aviso)).estado === 'entregado' ? true : undefined,
    )
    const { historial, intentos } = await api.webhooks.obtenerAviso(webhook, aviso)
    expect(receptor.receivedWebhooks.length).toBeGreaterThan(1)
    // Every attempt that counts has a number of its own.
    const numbers = historial.filter(({ tardio }) => !tardio).map(({ numero: number }) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(intentos).toBe(numbers.length)
  })
})
