import {
  ErrorAbortado,
  ErrorGuias,
  ErrorNoEncontrado,
  ErrorRespuesta,
  ErrorTiempo,
  Guias,
  type Solicitud,
} from '@guias/sdk'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useRetries } from './clock.ts'
import {
  cutConnection,
  fault,
  GUIA,
  json,
  LLAVE,
  NEW_GUIA,
  respondHtml,
  respondProblema,
  text,
  useFakeServer,
} from './server.ts'

const { client, respondWith: answer, capturedRequests: received } = useFakeServer()
const slow = useRetries()
const environment = shareEnvironment()

describe('a request without a method of the SDK', () => {
  it('goes out as everything else does', async () => {
    answer(json(200, { zona: 'Norte' }), json(201, { zona: 'Z1' }), json(200, []), json(200, null), text(204, '', {}))
    const api = client({ cabeceras: { 'X-Propia': '1' } })
    const desde = new Date('2026-11-20T15:04:05Z')
    expect(await api.get('/api/v1/zonas', { limite: 2, tipo: ['a', 'b'], desde, nada: undefined })).toEqual({
      zona: 'Norte',
    })
    expect(await api.post('/api/v1/zonas', { nombre: 'Norte' })).toEqual({ zona: 'Z1' })
    expect(await api.put('/api/v1/zonas/Z1?ensayo=true', { nombre: 'Sur' })).toEqual([])
    expect(await api.patch('/api/v1/zonas/Z1', {})).toBeNull()
    expect(await api.delete('/api/v1/zonas/Z1?a=1', { b: 2 })).toBeUndefined()
    expect(received.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['GET', '/api/v1/zonas?limite=2&tipo=a&tipo=b&desde=2026-11-20T15%3A04%3A05.000Z', ''],
      ['POST', '/api/v1/zonas', '{"nombre":"Norte"}'],
      ['PUT', '/api/v1/zonas/Z1?ensayo=true', '{"nombre":"Sur"}'],
      ['PATCH', '/api/v1/zonas/Z1', '{}'],
      ['DELETE', '/api/v1/zonas/Z1?a=1&b=2', ''],
    ])
    for (const { headers } of received)
      expect(headers).toMatchObject({
        authorization: `Bearer ${LLAVE}`,
        'x-propia': '1',
        'user-agent': expect.stringMatching(/^guias-sdk\//),
      })
  })

  it('fails as everything else does, and tells all of the answer', async () => {
    answer(respondProblema(404, 'guia_desconocida'))
    expect(await fault(client().get('/api/v1/zonas'))).toBeInstanceOf(ErrorNoEncontrado)
    for (const response of [respondHtml, text(200, '<html>'), text(200, '', {})]) {
      answer(response)
      expect(await fault(client().post('/api/v1/zonas', {}))).toBeInstanceOf(ErrorRespuesta)
    }
    answer(json(200, { zona: 'Z1' }))
    expect(await client().get('/api/v1/zonas').conRespuesta()).toMatchObject({ estadoHttp: 200, idSolicitud: 'sol-1' })
    const hangingRequest = (options: object) => {
      answer(() => {})
      return fault(client().get('/api/v1/zonas', {}, options))
    }
    expect(await hangingRequest({ tiempoLimite: 30 })).toBeInstanceOf(ErrorTiempo)
    expect(await hangingRequest({ signal: AbortSignal.timeout(30) })).toBeInstanceOf(ErrorAbortado)
    answer(text(304, '', { ETag: '"a"' }))
    expect(await client().get('/api/v1/zonas', {}, { cabeceras: { 'If-None-Match': '"a"' } })).toBeUndefined()
  })

  it.each([
    'api/v1/guias',
    'https://otra.ejemplo.com/api/v1/guias',
    '@otra.ejemplo.com/',
    '.otra.ejemplo.com/',
    '',
    undefined,
  ])('never takes the key to another host: %s', async (path) => {
    const error = await fault(client().get(path as string))
    expect([error.constructor, error.message]).toEqual([ErrorGuias, expect.stringContaining('/api/v1/guias')])
    expect(received).toEqual([])
  })

  it('says what it brings (this compiles)', () => {
    const tipos = (api: ReturnType<typeof client>) => {
      expectTypeOf(api.get('/x')).toEqualTypeOf<Solicitud<unknown>>()
      expectTypeOf(api.post<{ zona: string }>('/x', {})).toEqualTypeOf<Solicitud<{ zona: string }>>()
    }
    expect(tipos).toBeTypeOf('function')
  })

  it('reaches the service', async () => {
    const { api } = await environment.createComercio()
    const fresh = buildGuia()
    const created = await api.post<{ guia: string }>('/api/v1/guias', fresh).conRespuesta()
    expect([created.estadoHttp, created.repetida]).toEqual([201, false])
    expect((await api.post('/api/v1/guias', fresh).conRespuesta()).repetida).toBe(true)
    expect(await api.get(`/api/v1/guias/${created.datos.guia}`)).toMatchObject({ guia: created.datos.guia })
    expect(await fault(api.get('/api/v1/no-existe'))).toMatchObject({ estadoHttp: 404, codigo: 'ruta_desconocida' })
  })
})

describe('the number of attempts for', () => {
  const { external_ref: _, ...GUIA_WITHOUT_REFERENCIA } = NEW_GUIA
  type Api = ReturnType<typeof slow.server.client>
  it.each<[string, (api: Api) => PromiseLike<unknown>, number]>([
    ['get', (api) => api.get('/api/v1/zonas'), 3],
    ['put', (api) => api.put('/api/v1/zonas/1', {}), 3],
    ['delete', (api) => api.delete('/api/v1/zonas/1'), 3],
    ['post', (api) => api.post('/api/v1/zonas', { external_ref: 'x' }), 1],
    ['patch', (api) => api.patch('/api/v1/zonas/1', {}), 1],
    ['post, which is said to be safe', (api) => api.post('/api/v1/zonas', {}, { repetible: true }), 3],
    ['get, which is said not to be', (api) => api.get('/api/v1/zonas', {}, { repetible: false }), 1],
    ['a creation with a reference', (api) => api.post('/api/v1/guias', NEW_GUIA), 3],
    ['a creation without one', (api) => api.post('/api/v1/guias', GUIA_WITHOUT_REFERENCIA), 3],
    ['a batch, a reference in each', (api) => api.post('/api/v1/guias/bulk', { guias: [NEW_GUIA] }), 3],
    [
      'a batch, one without',
      (api) => api.post('/api/v1/guias/bulk', { guias: [NEW_GUIA, GUIA_WITHOUT_REFERENCIA] }),
      3,
    ],
    ['cancelling', (api) => api.post('/api/v1/guias/7K3M9QX2A1B4/cancelar?x=1'), 3],
    ['a new secret', (api) => api.post('/api/v1/webhooks/wh_1/rotar-secreto'), 3],
    ['changing a webhook', (api) => api.patch('/api/v1/webhooks/wh_1', {}), 3],
    ['below a known path', (api) => api.post('/api/v1/guias/7K3M9QX2A1B4/cancelar/ya'), 1],
  ])('%s', async (_label, request, times) => {
    for (const response of [respondProblema(503, 'no_disponible'), cutConnection]) {
      slow.server.capturedRequests.length = 0
      slow.server.respondWith(response)
      expect((await fault(request(slow.server.client()))).intentos).toBe(times)
      expect(slow.server.capturedRequests).toHaveLength(times)
    }
  })
})

describe('a derived client', () => {
  it('is another, with what was changed and all the rest', async () => {
    answer(json(200, GUIA))
    const sentRequests: string[] = []
    const seen: string[] = []
    const api = client({
      cabeceras: { 'X-Tienda': 'Norte', 'X-Caja': '1' },
      fetch: (url, init) => {
        sentRequests.push(url)
        return fetch(url, init)
      },
      registro: ({ ruta: path }) => seen.push(path),
    })
    const other = api.conOpciones({ llave: 'guia_test_otra', cabeceras: { 'X-Caja': '2' }, reintentos: undefined })
    await other.guias.crear(NEW_GUIA)
    await api.guias.obtener('A')
    expect(received.map(({ headers }) => [headers.authorization, headers['x-tienda'], headers['x-caja']])).toEqual([
      ['Bearer guia_test_otra', 'Norte', '2'],
      [`Bearer ${LLAVE}`, 'Norte', '1'],
    ])
    expect([sentRequests.length, seen]).toEqual([2, ['/api/v1/guias', '/api/v1/guias/A']])
  })

  it('may be derived of again, and is refused what any client is', async () => {
    // A server might not receive the request within 30 ms, so its headers are read where it leaves.
    const cajas: (string | null)[] = []
    const api = client({
      fetch: (_url, { signal, headers }) => {
        cajas.push(new Headers(headers).get('x-caja'))
        return new Promise((_resolve, reject) => {
          signal!.addEventListener('abort', () => reject(signal!.reason))
        })
      },
    })
      .conOpciones({ tiempoLimite: 30 })
      .conOpciones({ cabeceras: { 'X-Caja': '3' } })
    expect(await fault(api.guias.obtener('A'))).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 30 })
    expect(cajas[0]).toBe('3')
    expect(() => api.conOpciones({ tiempoLimite: -1 })).toThrow(ErrorGuias)
    expect(() => api.conOpciones({ baseUrl: 'ftp://x' })).toThrow(ErrorGuias)
  })

  it('takes no live key where its origin went for want of an address', () => {
    const api = new Guias({ llave: LLAVE })
    expect(() => api.conOpciones({ llave: 'guia_live_x' })).toThrow('Falta la dirección del servicio')
  })

  it('keeps the key and the address of its origin after a change of the environment', async () => {
    answer(json(200, GUIA))
    process.env.GUIAS_LLAVE = 'guia_test_primera'
    try {
      const api = client({ llave: undefined })
      process.env.GUIAS_LLAVE = 'guia_test_segunda'
      await api.conOpciones({ reintentos: 0 }).guias.obtener('A')
      expect(received[0]!.headers.authorization).toBe('Bearer guia_test_primera')
    } finally {
      delete process.env.GUIAS_LLAVE
    }
  })
})
