import { ErrorNoEncontrado, Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { type Api, apiFault, collectCodes, nobody, readFailureCode, useWebhooks, waitForAviso } from './webhooks.ts'

const { environment, create, createEndpoint: nuevo } = useWebhooks()

describe('a request that cannot be read', () => {
  it('is 400 in every operation, and changes nothing', async () => {
    const { comercio, api, webhook } = await nuevo()
    const before = await api.webhooks.obtener(webhook)
    const { body: prueba } = await environment.request('POST', `/api/v1/webhooks/${webhook}/probar`, {
      llave: comercio.llave,
    })
    await waitForAviso(api, webhook, prueba.aviso)
    const request = async (method: string, path: string, raw?: string) => {
      const { status, body } = await environment.request(method, `/api/v1/webhooks${path}`, {
        llave: comercio.llave,
        ...(raw === undefined ? {} : { raw, headers: { 'Content-Type': 'application/json' } }),
      })
      expect([method, path, status]).toEqual([method, path, 400])
      return body.codigo
    }
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${webhook}`],
      ['POST', `/${webhook}/rotar-secreto`],
      ['POST', `/${webhook}/recuperar`],
    ] as const) {
      for (const raw of ['{', '{"url":"a","url":"b"}', '{"__proto__":{}}', '[1,]']) await request(method, path, raw)
    }
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${webhook}`],
      ['DELETE', `/${webhook}`],
      ['POST', `/${webhook}/probar`],
      ['GET', `/${webhook}/avisos`],
      ['GET', `/${webhook}/avisos/${prueba.aviso}`],
      ['POST', `/${webhook}/avisos/${prueba.aviso}/reenviar`],
      ['GET', `/${webhook}/recuperaciones/rec_000000000000`],
    ] as const) {
      expect(await request(method, `${path}?inventado=1`)).toBe('parametro_invalido')
    }
    for (const query of ['limite=0', 'limite=101', 'limite=x', 'limite=1&limite=2'])
      for (const path of ['', `/${webhook}/avisos`]) await request('GET', `${path}?${query}`)
    for (const query of ['creado_desde=ayer', 'creado_hasta=2026-02-30T00:00:00Z', 'tipo=', 'guia='])
      await request('GET', `/${webhook}/avisos?${query}`)
    for (const estado of ['volando', 'constructor', '__proto__', "pendiente'"])
      await request('GET', `/${webhook}/avisos?estado=${encodeURIComponent(estado)}`)
    for (const cursor of ['x', 'AQx5cJrQkM8b0mQ2cGf1nY3o'])
      for (const path of ['', `/${webhook}/avisos`])
        expect(await request('GET', `${path}?cursor=${cursor}`)).toBe('cursor_invalido')
    expect(await api.webhooks.obtener(webhook)).toEqual(before)
    expect(await collectCodes('aviso', api.webhooks.avisos(webhook))).toEqual([prueba.aviso])
  })
})

describe('an unknown object', () => {
  it('is 404 in every operation, and so is another merchant’s, another mode’s and what was deleted', async () => {
    const { api, webhook: own } = await nuevo()
    const { aviso: ownAviso } = await api.webhooks.probar(own)
    const deletedWebhook = await nuevo()
    const { aviso: prueba } = await deletedWebhook.api.webhooks.probar(deletedWebhook.webhook)
    const { recuperacion } = await deletedWebhook.api.webhooks.recuperar(deletedWebhook.webhook, {
      desde: new Date(Date.now() - 86_400_000).toISOString(),
    })
    await deletedWebhook.api.webhooks.eliminar(deletedWebhook.webhook)
    const alive = new Guias({
      llave: await environment.createLlave(deletedWebhook.comercio, { modo: 'live' }),
      baseUrl: environment.url,
    })
    const cases: [Api, string, string, string][] = [
      [deletedWebhook.api, deletedWebhook.webhook, prueba, recuperacion],
      [deletedWebhook.api, own, ownAviso, recuperacion],
      [alive, deletedWebhook.webhook, prueba, recuperacion],
      [api, 'wh_000000000000', 'avi_000000000000_000000000000_1', 'rec_000000000000'],
      [api, 'ñ%00/../x', '¿?', '%'],
      [api, 'x'.repeat(64), 'x'.repeat(80), 'x'.repeat(64)],
    ]
    for (const [client, webhook, aviso, recoveryId] of cases) {
      const requests: [string, () => PromiseLike<unknown>][] = [
        ['webhook_desconocido', () => client.webhooks.obtener(webhook)],
        ['webhook_desconocido', () => client.webhooks.cambiar(webhook, { descripcion: 'x' })],
        // Nobody learns from the answer about an address whether the endpoint exists.
        ['webhook_desconocido', () => client.webhooks.cambiar(webhook, { url: 'https://no-existe.ejemplo.com/' })],
        ['webhook_desconocido', () => client.webhooks.eliminar(webhook)],
        ['webhook_desconocido', () => client.webhooks.rotarSecreto(webhook)],
        ['webhook_desconocido', () => client.webhooks.probar(webhook)],
        ['webhook_desconocido', () => client.webhooks.avisos(webhook)],
        [
          'webhook_desconocido',
          () => client.webhooks.recuperar(webhook, { desde: new Date(Date.now() - 86_400_000).toISOString() }),
        ],
        [
          'webhook_desconocido',
          () =>
            client.webhooks.ensayarRecuperacion(webhook, { desde: new Date(Date.now() - 86_400_000).toISOString() }),
        ],
        ['aviso_desconocido', () => client.webhooks.obtenerAviso(webhook, aviso)],
        ['aviso_desconocido', () => client.webhooks.reenviar(webhook, aviso)],
        ['recuperacion_desconocida', () => client.webhooks.obtenerRecuperacion(webhook, recoveryId)],
      ]
      for (const [codigo, request] of requests) {
        const error = await apiFault(request())
        expect(error, `${webhook} ${codigo} ${error}`).toBeInstanceOf(ErrorNoEncontrado)
        expect([webhook, error.codigo]).toEqual([webhook, codigo])
      }
    }
    // A delivery is its endpoint's alone.
    const vecino = await create({ api }, nobody())
    expect(await readFailureCode(api.webhooks.obtenerAviso(vecino.webhook, ownAviso))).toBe('aviso_desconocido')
    expect(await readFailureCode(api.webhooks.reenviar(vecino.webhook, ownAviso))).toBe('aviso_desconocido')
    for (const malformedCodigo of [
      `${ownAviso}1`,
      ownAviso.toLowerCase(),
      `${ownAviso} `,
      ownAviso.replace('avi_', 'evt_'),
    ])
      expect(await readFailureCode(api.webhooks.obtenerAviso(own, malformedCodigo))).toBe('aviso_desconocido')
  })
})
