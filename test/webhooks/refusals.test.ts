import { ErrorNoEncontrado, Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { type Api, collectCodes, fallaDeApi, nadie, readFailureCode, terminada, useWebhooks } from './webhooks.ts'

const { environment, create: crear, nuevo } = useWebhooks()

describe('a request that cannot be read', () => {
  it('is 400 in every operation, and changes nothing', async () => {
    const { comercio, api, webhook } = await nuevo()
    const antes = await api.webhooks.obtener(webhook)
    const { cuerpo: prueba } = await environment.request('POST', `/api/v1/webhooks/${webhook}/probar`, {
      llave: comercio.llave,
    })
    await terminada(api, webhook, prueba.aviso)
    const pedir = async (metodo: string, ruta: string, crudo?: string) => {
      const { status, cuerpo } = await environment.request(metodo, `/api/v1/webhooks${ruta}`, {
        llave: comercio.llave,
        ...(crudo === undefined ? {} : { raw: crudo, cabeceras: { 'Content-Type': 'application/json' } }),
      })
      expect([metodo, ruta, status]).toEqual([metodo, ruta, 400])
      return cuerpo.codigo
    }
    for (const [metodo, ruta] of [
      ['POST', ''],
      ['PATCH', `/${webhook}`],
      ['POST', `/${webhook}/rotar-secreto`],
      ['POST', `/${webhook}/recuperar`],
    ] as const) {
      for (const crudo of ['{', '{"url":"a","url":"b"}', '{"__proto__":{}}', '[1,]']) await pedir(metodo, ruta, crudo)
    }
    for (const [metodo, ruta] of [
      ['GET', ''],
      ['GET', `/${webhook}`],
      ['DELETE', `/${webhook}`],
      ['POST', `/${webhook}/probar`],
      ['GET', `/${webhook}/avisos`],
      ['GET', `/${webhook}/avisos/${prueba.aviso}`],
      ['POST', `/${webhook}/avisos/${prueba.aviso}/reenviar`],
      ['GET', `/${webhook}/recuperaciones/rec_000000000000`],
    ] as const) {
      expect(await pedir(metodo, `${ruta}?inventado=1`)).toBe('parametro_invalido')
    }
    for (const consulta of ['limite=0', 'limite=101', 'limite=x', 'limite=1&limite=2'])
      for (const ruta of ['', `/${webhook}/avisos`]) await pedir('GET', `${ruta}?${consulta}`)
    for (const consulta of ['creado_desde=ayer', 'creado_hasta=2026-02-30T00:00:00Z', 'tipo=', 'guia='])
      await pedir('GET', `/${webhook}/avisos?${consulta}`)
    for (const estado of ['volando', 'constructor', '__proto__', "pendiente'"])
      await pedir('GET', `/${webhook}/avisos?estado=${encodeURIComponent(estado)}`)
    for (const cursor of ['x', 'AQx5cJrQkM8b0mQ2cGf1nY3o'])
      for (const ruta of ['', `/${webhook}/avisos`])
        expect(await pedir('GET', `${ruta}?cursor=${cursor}`)).toBe('cursor_invalido')
    expect(await api.webhooks.obtener(webhook)).toEqual(antes)
    expect(await collectCodes('aviso', api.webhooks.avisos(webhook))).toEqual([prueba.aviso])
  })
})

describe('an unknown object', () => {
  it('is 404 in every operation, and so is another merchant’s, another mode’s and what was deleted', async () => {
    const { api, webhook: propio } = await nuevo()
    const { aviso: suya } = await api.webhooks.probar(propio)
    const eliminado = await nuevo()
    const { aviso: prueba } = await eliminado.api.webhooks.probar(eliminado.webhook)
    const { recuperacion } = await eliminado.api.webhooks.recuperar(eliminado.webhook, {
      desde: new Date(Date.now() - 86_400_000).toISOString(),
    })
    await eliminado.api.webhooks.eliminar(eliminado.webhook)
    const viva = new Guias({
      llave: await environment.createLlave(eliminado.comercio, { modo: 'live' }),
      baseUrl: environment.url,
    })
    const casos: [Api, string, string, string][] = [
      [eliminado.api, eliminado.webhook, prueba, recuperacion],
      [eliminado.api, propio, suya, recuperacion],
      [viva, eliminado.webhook, prueba, recuperacion],
      [api, 'wh_000000000000', 'avi_000000000000_000000000000_1', 'rec_000000000000'],
      [api, 'ñ%00/../x', '¿?', '%'],
      [api, 'x'.repeat(64), 'x'.repeat(80), 'x'.repeat(64)],
    ]
    for (const [suyo, webhook, aviso, recuperado] of casos) {
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
      for (const [codigo, pedir] of pedidos) {
        const error = await fallaDeApi(pedir())
        expect(error, `${webhook} ${codigo} ${error}`).toBeInstanceOf(ErrorNoEncontrado)
        expect([webhook, error.codigo]).toEqual([webhook, codigo])
      }
    }
    // A delivery is its endpoint's alone.
    const vecino = await crear({ api }, nadie())
    expect(await readFailureCode(api.webhooks.obtenerAviso(vecino.webhook, suya))).toBe('aviso_desconocido')
    expect(await readFailureCode(api.webhooks.reenviar(vecino.webhook, suya))).toBe('aviso_desconocido')
    for (const torcida of [`${suya}1`, suya.toLowerCase(), `${suya} `, suya.replace('avi_', 'evt_')])
      expect(await readFailureCode(api.webhooks.obtenerAviso(propio, torcida))).toBe('aviso_desconocido')
  })
})
