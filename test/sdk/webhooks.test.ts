import { ErrorConflicto, ErrorNoEncontrado, ErrorRespuesta } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { fault, useFakeServer } from './server.ts'
import { ID, SECRETO } from './signatures.ts'

const { client, respondWith: answer, capturedRequests: received } = useFakeServer()
let api: ReturnType<typeof client>
beforeAll(() => {
  api = client()
})
const responder = (status: number, kind?: unknown, tipo = 'application/json') =>
  answer((res) => {
    res.writeHead(status, { 'X-Request-Id': 'sol-1', ...(kind === undefined ? {} : { 'Content-Type': tipo }) })
    res.end(typeof kind === 'string' || kind === undefined ? kind : JSON.stringify(kind))
  })
const arrivals = () =>
  received.map(({ method, path, headers, body }) => ({
    method,
    path,
    tipo: headers['content-type'],
    body: body ? JSON.parse(body) : undefined,
  }))

describe('api.webhooks', () => {
  const WEBHOOK = { webhook: 'wh_1', url: 'https://tienda.ejemplo.com/', estado: 'activo' }
  const CON_SECRETO = { ...WEBHOOK, secreto: SECRETO }
  const ENTREGA = { aviso: 'avi_1', evento: ID, estado: 'pendiente' }
  const RECUPERACION = { recuperacion: 'rec_1', webhook: 'wh_1', estado: 'en_curso', desde: '2026-11-20T15:00:00Z' }
  const ENSAYO = { eventos: 1204, avisos: 37, exacto: true }
  const PAGINA = { datos: [ENTREGA], cursor_siguiente: null }
  const desde = '2026-11-20T15:00:00Z'

  const OPERACIONES: [string, () => PromiseLike<unknown>, number, unknown, string, string, object?][] = [
    [
      'crear',
      () => api.webhooks.crear({ url: WEBHOOK.url, tipos: ['guia.*'] }),
      201,
      CON_SECRETO,
      'POST',
      '',
      { url: WEBHOOK.url, tipos: ['guia.*'] },
    ],
    ['listar', () => api.webhooks.listar({ limite: 2, cursor: 'a+b' }), 200, PAGINA, 'GET', '?limite=2&cursor=a%2Bb'],
    ['obtener', () => api.webhooks.obtener('wh_1'), 200, WEBHOOK, 'GET', '/wh_1'],
    [
      'cambiar',
      () => api.webhooks.cambiar('wh_1', { estado: 'pausado' }),
      200,
      WEBHOOK,
      'PATCH',
      '/wh_1',
      { estado: 'pausado' },
    ],
    ['eliminar', () => api.webhooks.eliminar('wh_1'), 204, undefined, 'DELETE', '/wh_1'],
    ['rotarSecreto', () => api.webhooks.rotarSecreto('wh_1'), 200, CON_SECRETO, 'POST', '/wh_1/rotar-secreto'],
    [
      'rotarSecreto, at once',
      () => api.webhooks.rotarSecreto('wh_1', { solapamiento_horas: 0 }),
      200,
      CON_SECRETO,
      'POST',
      '/wh_1/rotar-secreto',
      { solapamiento_horas: 0 },
    ],
    ['probar', () => api.webhooks.probar('wh_1'), 202, ENTREGA, 'POST', '/wh_1/probar'],
    [
      'recuperar',
      () => api.webhooks.recuperar('wh_1', { desde, hasta: desde, todas: true }),
      202,
      RECUPERACION,
      'POST',
      '/wh_1/recuperar',
      { desde, hasta: desde, todas: true },
    ],
    [
      'ensayarRecuperacion',
      () => api.webhooks.ensayarRecuperacion('wh_1', { desde }),
      200,
      ENSAYO,
      'POST',
      '/wh_1/recuperar',
      { desde, ensayo: true },
    ],
    [
      'obtenerRecuperacion',
      () => api.webhooks.obtenerRecuperacion('wh_1', 'rec_1'),
      200,
      RECUPERACION,
      'GET',
      '/wh_1/recuperaciones/rec_1',
    ],
    [
      'avisos',
      () =>
        api.webhooks.avisos('wh_1', {
          estado: 'fallido',
          tipo: 'guia.nota',
          guia: '7K3M',
          creado_desde: desde,
          limite: 5,
        }),
      200,
      PAGINA,
      'GET',
      `/wh_1/avisos?estado=fallido&tipo=guia.nota&guia=7K3M&creado_desde=${encodeURIComponent(desde)}&limite=5`,
    ],
    ['obtenerAviso', () => api.webhooks.obtenerAviso('wh_1', 'avi_1'), 200, ENTREGA, 'GET', '/wh_1/avisos/avi_1'],
    ['reenviar', () => api.webhooks.reenviar('wh_1', 'avi_1'), 202, ENTREGA, 'POST', '/wh_1/avisos/avi_1/reenviar'],
  ]

  it.each(OPERACIONES)('%s', async (_, request, status, datos, method, path, body) => {
    responder(status, datos)
    expect(await request()).toEqual(datos)
    expect(arrivals()).toEqual([
      { method, path: `/api/v1/webhooks${path}`, tipo: body ? 'application/json' : undefined, body },
    ])
  })

  it.each(OPERACIONES)('%s is not content with another answer', async (_, request) => {
    for (const other of [[200, '<html>Bienvenido', 'text/html'], [200, { ok: true }], [200, ''], [200]] as Parameters<
      typeof responder
    >[]) {
      responder(...other)
      expect(await fault(request())).toBeInstanceOf(ErrorRespuesta)
    }
    responder(404, { codigo: 'webhook_desconocido' })
    expect(await fault(request())).toBeInstanceOf(ErrorNoEncontrado)
    responder(409, { codigo: 'webhook_repetido' })
    expect(await fault(request())).toBeInstanceOf(ErrorConflicto)
  })

  it('gives the whole answer of a deletion, and takes 204 for nothing else', async () => {
    responder(204)
    const solicitud = api.webhooks.eliminar('wh_1')
    expect(await solicitud.conRespuesta()).toMatchObject({ datos: undefined, estadoHttp: 204, idSolicitud: 'sol-1' })
    expect(await fault(api.webhooks.obtener('wh_1'))).toBeInstanceOf(ErrorRespuesta)
  })

  it('insists on the secret where there must be one', async () => {
    responder(201, WEBHOOK)
    expect(await fault(api.webhooks.crear({ url: WEBHOOK.url }))).toBeInstanceOf(ErrorRespuesta)
    expect(await fault(api.webhooks.rotarSecreto('wh_1'))).toBeInstanceOf(ErrorRespuesta)
  })

  it('walks all deliveries', async () => {
    responder(200, { datos: [ENTREGA, ENTREGA], cursor_siguiente: 'c' })
    const seen: string[] = []
    for await (const { aviso } of api.webhooks.avisos('wh 1/..', { estado: 'pendiente' })) {
      seen.push(aviso)
      responder(200, PAGINA)
    }
    expect(seen).toHaveLength(3)
    expect(received.map(({ path }) => path)).toEqual([
      '/api/v1/webhooks/wh%201%2F../avisos?estado=pendiente',
      '/api/v1/webhooks/wh%201%2F../avisos?estado=pendiente&cursor=c',
    ])
  })

  it.each(['', ' ', '.', '..', undefined, null, 7])('sends nothing for the id %j', async (bad) => {
    const id = bad as string
    const { webhooks } = api
    const sentRequests: [PromiseLike<unknown>, string][] = [
      ...[
        webhooks.obtener(id),
        webhooks.cambiar(id, {}),
        webhooks.eliminar(id),
        webhooks.rotarSecreto(id),
        webhooks.probar(id),
        webhooks.recuperar(id, { desde }),
        webhooks.ensayarRecuperacion(id, { desde }),
        webhooks.obtenerRecuperacion(id, 'rec_1'),
        webhooks.avisos(id),
        webhooks.obtenerAviso(id, 'avi_1'),
        webhooks.reenviar(id, 'avi_1'),
      ].map((sentRequest): [PromiseLike<unknown>, string] => [sentRequest, 'webhook debe ser un texto']),
      [webhooks.obtenerRecuperacion('wh_1', id), 'recuperacion debe ser un texto'],
      [webhooks.obtenerAviso('wh_1', id), 'aviso debe ser un texto'],
      [webhooks.reenviar('wh_1', id), 'aviso debe ser un texto'],
    ]
    for (const [sentRequest, dice] of sentRequests) {
      expect(await fault(sentRequest)).toMatchObject({ name: 'ErrorGuias', message: expect.stringContaining(dice) })
    }
    expect(received).toEqual([])
  })

  it('never sends for real what was meant as a rehearsal', async () => {
    const error = await fault(api.webhooks.recuperar('wh_1', { desde, ensayo: true } as never))
    expect(error).toMatchObject({ name: 'ErrorGuias', message: expect.stringContaining('ensayarRecuperacion') })
    expect(received).toEqual([])
  })
})
