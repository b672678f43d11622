import { Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import {
  buildAvisoCode,
  collectCodes,
  readFailureCode,
  useWebhooks,
  type WebhookCreationData,
  waitForAviso,
  waitUntilVisible,
} from './webhooks.ts'

const { environment, openReceiver, now, create, createEndpoint: nuevo } = useWebhooks()

describe('types and modes', () => {
  it('each endpoint gets exactly the types it asked for', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const filters: NonNullable<WebhookCreationData['tipos']>[] = [
      ['*'],
      ['guia.*'],
      ['ubicacion.*'],
      ['webhook.*'],
      ['guia.en_ruta'],
      ['guia.en_ruta', 'ubicacion.*', 'guia.cancelado'],
      ['guia.*', 'ubicacion.solicitada'],
    ]
    const endpoints = await Promise.all(
      filters.map(async (tipos) => {
        const receptor = await openReceiver()
        return { tipos, receptor, webhook: (await create(comercio, receptor, { tipos })).webhook }
      }),
    )
    const { guia: a } = await api.guias.crear(buildGuia())
    const { guia: b } = await api.guias.crear(buildGuiaWithoutDestino())
    await waitUntil(async () => (await api.guias.obtener(b)).secuencia === 2)
    for (const estado of ['recolectado', 'en_ruta'])
      await environment.asOperador('POST', `/guias/${a}/eventos`, { estado })
    await environment.asOperador('POST', `/guias/${a}/eventos`, { tipo: 'guia.nota', descripcion: 'Llamar antes' })
    await api.guias.cancelar(b)
    const eventos = [...(await api.guias.eventos(a)).datos, ...(await api.guias.eventos(b)).datos]
    for (const { tipos, receptor, webhook } of endpoints) {
      const wants = (tipo: string) => tipos.some((t) => t === '*' || t === tipo || t === `${tipo.split('.')[0]}.*`)
      const expectedItems = eventos.filter(({ tipo }) => wants(tipo)).map((evento) => evento.id)
      await waitUntil(async () => receptor.receivedWebhooks.length >= expectedItems.length)
      expect([tipos, receptor.receivedWebhooks.map((one) => one.id).sort()]).toEqual([tipos, expectedItems.sort()])
      expect((await api.webhooks.avisos(webhook, { limite: 100 })).datos).toHaveLength(expectedItems.length)
    }
  })

  it('an endpoint hears of its own mode alone', async () => {
    const { comercio, api, webhook, receptor } = await nuevo()
    const alive = new Guias({
      llave: await environment.createLlave(comercio, { modo: 'live' }),
      baseUrl: environment.url,
    })
    const liveEntry = await create({ api: alive }, { url: 'https://tienda.ejemplo.com/avisos' })
    await alive.webhooks.cambiar(liveEntry.webhook, { estado: 'pausado' })
    const { guia: realOne } = await alive.guias.crear(buildGuia())
    const { guia: testGuia } = await api.guias.crear(buildGuia())
    await waitForAviso(api, webhook, buildAvisoCode(webhook, testGuia))
    const liveAvisos = (await alive.webhooks.avisos(liveEntry.webhook)).datos.filter(
      ({ tipo }) => tipo !== 'webhook.prueba',
    )
    expect(liveAvisos.map(({ aviso }) => aviso)).toEqual([buildAvisoCode(liveEntry.webhook, realOne)])
    expect(await collectCodes('aviso', api.webhooks.avisos(webhook))).toEqual([buildAvisoCode(webhook, testGuia)])
    expect(receptor.receivedWebhooks.map((one) => one.json.datos.guia.guia)).toEqual([testGuia])
    expect(await collectCodes('webhook', alive.webhooks.listar())).toEqual([liveEntry.webhook])
    expect(await collectCodes('webhook', api.webhooks.listar())).toEqual([webhook])
    const desde = new Date(now() - HOUR_MS).toISOString()
    await waitUntilVisible(api, webhook, desde, 1)
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde, todas: true })).toMatchObject({ eventos: 1 })
    expect(await readFailureCode(api.webhooks.obtener(liveEntry.webhook))).toBe('webhook_desconocido')
    expect(
      await readFailureCode(api.webhooks.obtenerAviso(liveEntry.webhook, buildAvisoCode(liveEntry.webhook, realOne))),
    ).toBe('aviso_desconocido')
    // A cursor of one mode is none of the other's.
    await api.guias.crear(buildGuia())
    const { cursor_siguiente } = await api.webhooks.avisos(webhook, { limite: 1 })
    expect(await readFailureCode(alive.webhooks.avisos(liveEntry.webhook, { cursor: cursor_siguiente! }))).toBe(
      'cursor_invalido',
    )
    await alive.webhooks.eliminar(liveEntry.webhook)
  })
})
