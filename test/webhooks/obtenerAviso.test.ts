import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia } from '../factories.ts'
import { answerWith } from './receiver.ts'
import { buildAvisoCode, DNS_NAMES, readFailureCode, useWebhooks, waitForAviso, waitForIntentos } from './webhooks.ts'

const { environment, openReceiver, advance, create, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())

describe('GET /api/v1/webhooks/{webhook}/avisos/{aviso}', () => {
  it('tells every attempt: what was sent, what came back, how long it took; nothing secret', async () => {
    const length = 'ñ'.repeat(9_000)
    const { api, webhook, secreto, receptor } = await nuevo((_received, res) => {
      res.writeHead(503, {
        'Content-Type': 'text/plain; charset=utf-8',
        'Set-Cookie': ['sesion=SECRETISIMO', 'otra=SECRETISIMO'],
        Authorization: 'Bearer SECRETISIMO',
        'WWW-Authenticate': 'Bearer SECRETISIMO',
        'X-Api-Key': 'SECRETISIMO',
        'X-Csrf-Token': 'SECRETISIMO',
        'X-Traza': 'abc',
      })
      res.end(length)
    })
    const { guia } = await api.guias.crear(buildGuia({ external_ref: 'Ñuño «Ó» 1' }))
    const key = buildAvisoCode(webhook, guia)
    await waitForIntentos(api, webhook, key, 1)
    receptor.responder = answerWith(200, {}, 'ok')
    advance(6_000)
    const aviso = await waitForAviso(api, webhook, key, 2)
    const { rows } = await environment.db.pool.query('select * from webhook_intento where webhook = $1', [webhook])
    expect(JSON.stringify([aviso, rows])).not.toContain('SECRETISIMO')
    expect(JSON.stringify(aviso)).not.toContain(secreto.slice(6))
    expect(aviso).toMatchObject({
      aviso: key,
      webhook,
      evento: `evt_${guia}_1`,
      tipo: 'guia.aceptado',
      guia,
      estado: 'entregado',
      causa: 'automatica',
      intentos: 2,
      proximo_intento_en: null,
      ultimo_estado_http: 200,
      ultimo_error: null,
      terminado_en: expect.any(String),
    })
    expect(receptor.receivedWebhooks.map(({ body }) => body)).toEqual([aviso.cuerpo, aviso.cuerpo])
    const [good, bad] = aviso.historial
    expect(bad).toMatchObject({
      numero: 1,
      causa: 'automatica',
      tardio: false,
      url: receptor.url,
      ip: '127.0.0.1',
      firmado_con: [1],
      estado_http: 503,
      error: 'http',
      detalle: expect.stringContaining('503'),
    })
    // Headers and body of a server on this machine are kept from whoever can only call us.
    expect(bad!.respuesta).toEqual({ cabeceras: {}, cuerpo: '', cuerpo_truncado: true })
    expect(good).toMatchObject({
      numero: 2,
      estado_http: 200,
      error: null,
      detalle: null,
      respuesta: { cabeceras: {}, cuerpo: '', cuerpo_truncado: true },
    })
    for (const [n, intento] of [bad!, good!].entries()) {
      const { headers } = receptor.receivedWebhooks[n]!
      expect(intento.cabeceras).toEqual({
        'content-type': 'application/json',
        'user-agent': headers['user-agent'],
        'webhook-id': headers['webhook-id'],
        'webhook-timestamp': headers['webhook-timestamp'],
        'webhook-signature': '***',
      })
      const { primer_byte_ms, total_ms, dns_ms, conexion_ms, tls_ms } = intento.latencia
      expect(primer_byte_ms).toBeGreaterThan(0)
      expect(total_ms).toBeGreaterThanOrEqual(primer_byte_ms!)
      expect(tls_ms).toBeNull()
      for (const phaseMs of [dns_ms, conexion_ms]) if (phaseMs !== null) expect(phaseMs).toBeLessThanOrEqual(total_ms)
    }
    expect(bad!.latencia.conexion_ms).not.toBeNull()
  })

  it('shows why nothing could be sent, and connects to no address that is not public any more', async () => {
    const trap = await openReceiver()
    DNS_NAMES['cambia.ejemplo.com'] = ['8.8.8.8']
    const comercio = await environment.createComercio('live')
    const { port } = new URL(trap.url)
    const { webhook } = await create(comercio, { url: `https://cambia.ejemplo.com:${port}/avisos` })
    await environment.db.pool.query('update webhook set comprobado_en = now() where webhook = $1', [webhook])
    DNS_NAMES['cambia.ejemplo.com'] = ['127.0.0.1']
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const aviso = await waitForIntentos(comercio.api, webhook, buildAvisoCode(webhook, guia), 1)
    expect(aviso).toMatchObject({
      estado: 'pendiente',
      ultimo_estado_http: null,
      ultimo_error: 'destino_no_permitido',
    })
    expect(aviso.historial).toMatchObject([
      { ip: null, estado_http: null, respuesta: null, error: 'destino_no_permitido' },
    ])
    delete DNS_NAMES['cambia.ejemplo.com']
    await comercio.api.webhooks.reenviar(webhook, buildAvisoCode(webhook, guia))
    expect((await waitForIntentos(comercio.api, webhook, buildAvisoCode(webhook, guia), 2)).ultimo_error).toBe('dns')
    expect(trap.receivedWebhooks).toEqual([])
    await comercio.api.webhooks.eliminar(webhook)
  })
})

describe('the code of a delivery', () => {
  it('names a delivery in one way alone', async () => {
    const { api, webhook } = await nuevo()
    const { guia } = await api.guias.crear(buildGuia())
    await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))
    expect(
      await readFailureCode(api.webhooks.obtenerAviso(webhook, buildAvisoCode(webhook, guia).replace(/_1$/, '_01'))),
    ).toBe('aviso_desconocido')
  })
})
