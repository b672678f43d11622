import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, waitUntil } from '../factories.ts'
import { answerWith, holdAnswers } from './receiver.ts'
import { buildAvisoCode, useWebhooks, waitForAviso, waitForIntentos } from './webhooks.ts'

const { environment, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())

describe('POST /api/v1/webhooks/{webhook}/avisos/{aviso}/reenviar', () => {
  it('sends what was delivered, what failed and what waits again, with the same id and body', async () => {
    const { api, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(buildGuia())
    const key = buildAvisoCode(webhook, guia)
    await waitForAviso(api, webhook, key)
    // Delivered, and the guide has gone on since.
    await api.guias.cancelar(guia)
    await waitForAviso(api, webhook, buildAvisoCode(webhook, guia, 2))
    const { datos, estadoHttp: status } = await api.webhooks.reenviar(webhook, key).conRespuesta()
    expect(status).toBe(202)
    expect(datos).toMatchObject({ aviso: key, estado: 'pendiente', causa: 'manual', terminado_en: null })
    expect(await waitForAviso(api, webhook, key, 2)).toMatchObject({
      estado: 'entregado',
      causa: 'manual',
      historial: [
        { numero: 2, causa: 'manual' },
        { numero: 1, causa: 'automatica' },
      ],
    })
    const receivedAvisos = receptor.receivedWebhooks.filter((one) => one.id === `evt_${guia}_1`)
    expect(receivedAvisos).toHaveLength(2)
    expect(receivedAvisos[0]!.body).toBe(receivedAvisos[1]!.body)

    // Failed: it begins anew, with the schedule of always.
    receptor.responder = answerWith(500)
    const { aviso: prueba, evento } = await api.webhooks.probar(webhook)
    await waitForAviso(api, webhook, prueba)
    await api.webhooks.reenviar(webhook, prueba)
    expect(await waitForIntentos(api, webhook, prueba, 2)).toMatchObject({ estado: 'pendiente', causa: 'manual' })
    // Waiting: now.
    receptor.responder = answerWith(204)
    await api.webhooks.reenviar(webhook, prueba)
    expect(await waitForAviso(api, webhook, prueba, 3)).toMatchObject({ estado: 'entregado', causa: 'manual' })
    expect(receptor.receivedWebhooks.filter((one) => one.id === evento)).toHaveLength(3)
    // And paused.
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    await api.webhooks.reenviar(webhook, key)
    expect(await waitForAviso(api, webhook, key, 3)).toMatchObject({ estado: 'entregado', intentos: 3 })
    const guias = await api.guias.crear(buildGuia())
    const stop = buildAvisoCode(webhook, guias.guia)
    expect(await api.webhooks.obtenerAviso(webhook, stop)).toMatchObject({ estado: 'pendiente', intentos: 0 })
    await api.webhooks.reenviar(webhook, stop)
    expect(await waitForAviso(api, webhook, stop)).toMatchObject({ estado: 'entregado', intentos: 1 })
  })

  it('sends once or more, and never loses it, when asked many times at once', async () => {
    const { comercio, api, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(buildGuia())
    const key = buildAvisoCode(webhook, guia)
    await waitForAviso(api, webhook, key)
    await Promise.all(Array.from({ length: 10 }, () => api.webhooks.reenviar(webhook, key)))
    const { intentos } = await waitForAviso(api, webhook, key, 2)
    await environment.waitForQuiet(comercio)
    expect(receptor.receivedWebhooks.length).toBeGreaterThanOrEqual(intentos)
    expect(receptor.receivedWebhooks.length).toBeLessThanOrEqual(11)
    expect((await api.webhooks.obtenerAviso(webhook, key)).estado).toBe('entregado')
  })

  it.each([500, 204])('sends again even during an attempt, for any outcome of it (%i)', async (status) => {
    const answerHolder = holdAnswers()
    const { api, webhook, receptor } = await nuevo(answerHolder.responder)
    const { guia } = await api.guias.crear(buildGuia())
    await waitUntil(async () => receptor.receivedWebhooks.length === 1)
    receptor.responder = answerWith(204)
    await api.webhooks.reenviar(webhook, buildAvisoCode(webhook, guia))
    answerHolder.release(status)
    await waitUntil(async () => receptor.receivedWebhooks.length === 2)
    expect(await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))).toMatchObject({
      estado: 'entregado',
      causa: 'manual',
    })
  })
})
