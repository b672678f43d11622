import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_WAITING_PER_WEBHOOK } from '../../server/domain/webhooks/sending/limits.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { answerWith, holdAnswers } from './receiver.ts'
import { buildAvisoCode, collectCodes, nobody, useWebhooks, waitForAviso } from './webhooks.ts'

const { environment, advance, create, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())
/** A service that sends nothing. */
const environmentWithoutWorkers = useEnvironment({}, () => ({ WORKERS: '0' }))

describe('POST /api/v1/webhooks/{webhook}/probar', () => {
  it('sends a test in any state of the endpoint, once, and counts no failure', async () => {
    const { comercio, api, webhook, receptor } = await nuevo(undefined, { tipos: ['ubicacion.confirmada'] })
    const { datos: aviso, estadoHttp: status } = await api.webhooks.probar(webhook).conRespuesta()
    expect(status).toBe(202)
    expect(aviso).toMatchObject({
      webhook,
      tipo: 'webhook.prueba',
      guia: null,
      estado: 'pendiente',
      causa: 'prueba',
      intentos: 0,
      proximo_intento_en: aviso.creado_en,
    })
    expect(await waitForAviso(api, webhook, aviso.aviso)).toMatchObject({ estado: 'entregado', intentos: 1 })
    expect(receptor.receivedWebhooks[0]!.json).toEqual({
      id: aviso.evento,
      tipo: 'webhook.prueba',
      creado_en: aviso.creado_en,
      datos: { webhook: await api.webhooks.obtener(webhook) },
    })

    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    expect(await waitForAviso(api, webhook, (await api.webhooks.probar(webhook)).aviso)).toMatchObject({
      estado: 'entregado',
    })

    // It may fail as often as it wants.
    receptor.responder = answerWith(500)
    for (let n = 0; n < 5; n++) {
      expect(await waitForAviso(api, webhook, (await api.webhooks.probar(webhook)).aviso)).toMatchObject({
        estado: 'fallido',
        intentos: 1,
        proximo_intento_en: null,
        ultimo_estado_http: 500,
      })
    }
    receptor.responder = answerWith(410)
    await waitForAviso(api, webhook, (await api.webhooks.probar(webhook)).aviso)
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'pausado', motivo: null, fallas: null })
    advance(6_000)
    await environment.waitForQuiet(comercio)
    expect(receptor.receivedWebhooks).toHaveLength(8)

    await api.webhooks.cambiar(webhook, { estado: 'activo', tipos: ['*'] })
    const { guia } = await api.guias.crear(buildGuia())
    await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'deshabilitado', motivo: 'respondio_410' })
    receptor.responder = answerWith(204)
    expect(await waitForAviso(api, webhook, (await api.webhooks.probar(webhook)).aviso)).toMatchObject({
      estado: 'entregado',
    })
    // A test that goes well brings nothing back by itself.
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'deshabilitado', motivo: 'respondio_410' })
  })

  it('arrives before a backlog', async () => {
    const answerHolder = holdAnswers()
    const { api, webhook, receptor } = await nuevo(answerHolder.responder)
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    for (let n = 0; n < 3; n++) await api.guias.crearLote({ guias: Array.from({ length: 100 }, () => buildGuia()) })
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    await waitUntil(async () => receptor.receivedWebhooks.length > 0)
    const { evento } = await api.webhooks.probar(webhook)
    // What is read next begins with it, after what is in memory already.
    const before = receptor.receivedWebhooks.length
    answerHolder.release()
    await waitUntil(async () => receptor.receivedWebhooks.length >= 301)
    expect(receptor.receivedWebhooks.findIndex((one) => one.id === evento) - before).toBeLessThan(
      2 * MAX_WAITING_PER_WEBHOOK,
    )
  })

  it('is one at a time: who asks again before it has left is told of that one', async () => {
    const { api } = await environmentWithoutWorkers.createComercio()
    const [one, other] = [await create({ api }, nobody()), await create({ api }, nobody())]
    const pruebas = [await api.webhooks.probar(one.webhook), await api.webhooks.probar(other.webhook)]
    for (let time = 0; time < 10; time++)
      expect([await api.webhooks.probar(one.webhook), await api.webhooks.probar(other.webhook)]).toEqual(pruebas)
    expect(await collectCodes('aviso', api.webhooks.avisos(one.webhook))).toEqual([pruebas[0]!.aviso])
  })

  it('is no delay in the metrics while it waits to be sent', async () => {
    const { api } = await environmentWithoutWorkers.createComercio()
    const { webhook } = await create({ api }, nobody())
    expect((await api.webhooks.probar(webhook)).estado).toBe('pendiente')
    const metrics = createMetrics()
    metrics.observe(environmentWithoutWorkers)
    expect(await metrics.expose()).toMatch(/^guias_webhook_avisos_atraso_segundos 0$/m)
  })
})
