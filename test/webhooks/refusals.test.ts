import { ErrorNoEncontrado, Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { type Api, collectCodes, fallaDeApi, nobody, readFailureCode, terminada, useWebhooks } from './webhooks.ts'

const { environment, create, nuevo } = useWebhooks()

describe('a request that cannot be read', () => {
  it('is 400 in every operation, and changes nothing', async () => {
    const { comercio, api, webhook } = await nuevo()
    const before = await api.webhooks.obtener(webhook)
    const { cuerpo: prueba } = await environment.request('POST', `/api/v1/webhooks/${webhook}/probar`, {
      llave: comercio.llave,
    })
    await terminada(api, webhook, prueba.aviso)
    const request = async (method: string, path: string, raw?: string) => {
      const { status, cuerpo } = await environment.request(method, `/api/v1/webhooks${path}`, {
        llave: comercio.llave,
        ...(raw === undefined ? {} : { raw, cabeceras: { 'Content-Type': 'application/json' } }),
      })
      expect([method, path, status]).toEqual([method, path, 400])
      return cuerpo.codigo
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
    const { aviso: suya } = await api.webhooks.probar(own)
    const eliminado = await nuevo()
    const { aviso: prueba } = await eliminado.api.webhooks.probar(eliminado.webhook)
    const { recuperacion } = await eliminado.api.webhooks.recuperar(eliminado.webhook, {
      desde: new Date(Date.now() - 86_400_000).toISOString(),
    })
    await eliminado.api.webhooks.eliminar(eliminado.webhook)
    const alive = new Guias({
      llave: await environment.createLlave(eliminado.comercio, { modo: 'live' }),
      baseUrl: environment.url,
    })
    const cases: [Api, string, string, string][] = [
      [eliminado.api, eliminado.webhook, prueba, recuperacion],
      [eliminado.api, own, suya, recuperacion],
      [alive, eliminado.webhook, prueba, recuperacion],
      [api, 'wh_000000000000', 'avi_000000000000_000000000000_1', 'rec_000000000000'],
      [api, 'ñ%00/../x', '¿?', '%'],
      [api, 'x'.repeat(64), 'x'.repeat(80), 'x'.repeat(64)],
    ]
    for (const [suyo, webhook, aviso, recuperado] of cases) {
      const pedidos: [string, () => PromiseLike<unknown>][] = [
        ['webhook_desconocido', () => suyo.webhooks.obtener(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.cambiar(webhook, { descripcion: 'x' })],
        // Nobody learns from the answer about an address whether the endpoint exists.
        ['webhook_desconocido', () => suyo.webhooks.cambiar(webhook, { url: 'https://no-existe.ejemplo.com/' })],
        ['webhook_desconocido', () => suyo.webhooks.eliminar(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.rotarSecreto(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.probar(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.avisos(webhook)],
        [
          'webhook_desconocido',
          () => suyo.webhooks.recuperar(webhook, { desde: new Date(Date.now() - 86_400_000).toISOString() }),
        ],
        [
          'webhook_desconocido',
          () => suyo.webhooks.ensayarRecuperacion(webhook, { desde: new Date(Date.now() - 86_400_000).toISOString() }),
        ],
        ['aviso_desconocido', () => suyo.webhooks.obtenerAviso(webhook, aviso)],
        ['aviso_desconocido', () => suyo.webhooks.reenviar(webhook, aviso)],
        ['recuperacion_desconocida', () => suyo.webhooks.obtenerRecuperacion(webhook, recuperado)],
      ]
      for (const [codigo, request] of pedidos) {
        const error = await fallaDeApi(request())
        expect(error, `${webhook} ${codigo} ${error}`).toBeInstanceOf(ErrorNoEncontrado)
        expect([webhook, error.codigo]).toEqual([webhook, codigo])
      }
    }
    // A delivery is its endpoint's alone.
    const vecino = await create({ api }, nobody())
    expect(await readFailureCode(api.webhooks.obtenerAviso(vecino.webhook, suya))).toBe('aviso_desconocido')
    expect(await readFailureCode(api.webhooks.reenviar(vecino.webhook, suya))).toBe('aviso_desconocido')
    for (const torcida of [`${suya}1`, suya.toLowerCase(), `${suya} `, suya.replace('avi_', 'evt_')])
      expect(await readFailureCode(api.webhooks.obtenerAviso(own, torcida))).toBe('aviso_desconocido')
  })
})
