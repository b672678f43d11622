import { describe, expect, it } from 'vitest'
import { buildGuia, waitUntil } from '../factories.ts'
import { answerWith } from './receiver.ts'
import { buildAvisoCode, useWebhooks, waitForAviso } from './webhooks.ts'

// Live endpoints are public addresses, which no test has: what is sent is looked at on endpoints of this machine that are
// made to be like them.

const { environment, advance, createEndpoint: nuevo } = useWebhooks()

const markUnchecked = (webhook: string) =>
  environment.db.pool.query('update webhook set comprobado_en = null where webhook = $1', [webhook])

describe('a live endpoint', () => {
  it('is asked for an answer when it is registered, and again at another address; until then it waits', async () => {
    const { api } = await environment.createComercio('live')
    const { webhook, ...created } = await api.webhooks.crear({ url: 'https://tienda.ejemplo.com/avisos' })
    expect(created).toMatchObject({ estado: 'por_comprobar', comprobado_en: null })
    const { guia } = await api.guias.crear(buildGuia())
    const pruebas = async () => {
      const { datos } = await api.webhooks.avisos(webhook)
      return datos.filter(({ tipo }) => tipo === 'webhook.prueba')
    }
    expect(await pruebas()).toHaveLength(1)
    expect(await api.webhooks.obtenerAviso(webhook, buildAvisoCode(webhook, guia))).toMatchObject({
      estado: 'pendiente',
    })
    // Nobody makes it active but its own answer.
    expect(await api.webhooks.cambiar(webhook, { estado: 'activo' })).toMatchObject({ estado: 'por_comprobar' })
    expect(await api.webhooks.cambiar(webhook, { estado: 'pausado' })).toMatchObject({ estado: 'pausado' })
    await environment.db.pool.query('update webhook set comprobado_en = now() where webhook = $1', [webhook])
    expect(await api.webhooks.cambiar(webhook, { estado: 'activo' })).toMatchObject({ estado: 'activo' })
    // The first test has ended, so the new address gets a test of its own.
    await environment.db.pool.query(
      `update webhook_aviso set estado = 'fallido', terminado_en = now() where webhook = $1 and causa = 'prueba'`,
      [webhook],
    )
    const movedWebhook = await api.webhooks.cambiar(webhook, { url: 'https://tienda.ejemplo.com/otra' })
    expect(movedWebhook).toMatchObject({ estado: 'por_comprobar', comprobado_en: null })
    expect(await pruebas()).toHaveLength(2)
  })

  it('differs from an endpoint of test data, which needs no proof, even at another address', async () => {
    const { api, webhook, receptor } = await nuevo()
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'activo', comprobado_en: expect.any(String) })
    const other = await api.webhooks.cambiar(webhook, { url: `${receptor.url}?otra` })
    expect(other).toMatchObject({ estado: 'activo', comprobado_en: expect.any(String) })
  })
})

describe('an endpoint that has not proved itself', () => {
  it('gets nothing but its tests, loses nothing, and everything in its order once one goes well', async () => {
    const { api, comercio, webhook, receptor } = await nuevo(answerWith(500))
    await markUnchecked(webhook)
    await waitUntil(async () => (await api.webhooks.obtener(webhook)).estado === 'por_comprobar')
    const guias = []
    for (let n = 0; n < 3; n++) guias.push((await api.guias.crear(buildGuia())).guia)
    await waitForAviso(api, webhook, (await api.webhooks.probar(webhook)).aviso)
    advance(60_000)
    await environment.waitForQuiet(comercio)
    expect(receptor.receivedWebhooks.map(({ json }) => json.tipo)).toEqual(['webhook.prueba'])
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'por_comprobar', fallas: null })
    expect(await api.webhooks.obtenerAviso(webhook, buildAvisoCode(webhook, guias[0]!))).toMatchObject({
      estado: 'pendiente',
    })

    receptor.responder = answerWith(204)
    await waitForAviso(api, webhook, (await api.webhooks.probar(webhook)).aviso)
    for (const guia of guias) await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))
    expect(receptor.receivedWebhooks.slice(2).map(({ json }) => json.datos.guia.guia)).toEqual(guias)
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'activo', comprobado_en: expect.any(String) })
  })
})
