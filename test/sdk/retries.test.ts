import type { ServerResponse } from 'node:http'
import type { ErrorConexion, ErrorGuias, ErrorLimite, GuiaIndividual, Guias, OpcionesConClave } from '@guias/sdk'
import { describe, expect, it, vi } from 'vitest'
import { findFreePort } from '../ports.ts'
import { ENDLESS_HEADER, useRetries } from './clock.ts'
import {
  type CapturedRequest,
  cutConnection,
  fault,
  GUIA,
  json,
  NEW_GUIA,
  partialSignIn,
  type Responder,
  respondHtml,
  respondProblema,
} from './server.ts'

const { sdk, clock, server, sucesos } = useRetries()
const { client, respondWith: answer, capturedRequests: received } = server

const CON = NEW_GUIA
const { external_ref: _, ...GUIA_WITHOUT_REFERENCIA } = CON
const success = json(200, GUIA)
const hang: Responder = () => clock.jumpToNext()
const slow: Responder = (res) =>
  res.writeHead(200, { 'Content-Type': 'application/json', ...ENDLESS_HEADER }).write('{')

/** What happens · answer · is what is safe to repeat repeated · is what isn't · what the caller gets in the end. */
const FALLAS: [string, Responder, boolean, boolean, new (...args: never[]) => ErrorGuias][] = [
  ['the connection reset', cutConnection, true, false, sdk.ErrorConexion],
  ['half a body', partialSignIn(), true, false, sdk.ErrorConexion],
  ['no answer', hang, true, false, sdk.ErrorTiempo],
  ['a body that never ends', slow, true, false, sdk.ErrorTiempo],
  ['408', respondProblema(408, 'codigo_de_manana'), true, false, sdk.ErrorApi],
  ['500', respondProblema(500, 'error_interno'), true, false, sdk.ErrorServicio],
  ['503', respondProblema(503, 'no_disponible', { 'Retry-After': '0' }), true, false, sdk.ErrorServicio],
  ['502 of a proxy, in HTML', respondHtml, true, false, sdk.ErrorRespuesta],
  ['429: it was not attended', respondProblema(429, 'codigo_de_manana'), true, true, sdk.ErrorLimite],
  ['429 of a proxy, in HTML', (res) => res.writeHead(429).end('<html>'), true, true, sdk.ErrorRespuesta],
  ['a lost race: nothing was done', respondProblema(409, 'carrera_perdida'), true, true, sdk.ErrorConflicto],
  ['a stale sequence', respondProblema(409, 'carrera_perdida', {}, { secuencia: 5 }), false, false, sdk.ErrorConflicto],
  ['another conflict', respondProblema(409, 'transicion_invalida'), false, false, sdk.ErrorConflicto],
  ['422', respondProblema(422, 'validacion'), false, false, sdk.ErrorValidacion],
  ['a page with 200', (res) => res.writeHead(200).end('<html>'), false, false, sdk.ErrorRespuesta],
]

type Pedir = (api: Guias, options?: OpcionesConClave) => PromiseLike<unknown>
const lote = (...guias: GuiaIndividual[]) => ({ guias })
const REPETIBLES: Record<string, Pedir> = {
  'guias.obtener': (api, o) => api.guias.obtener('A', o),
  'guias.seguir': (api, o) => api.guias.seguir('A', o).next(),
  'guias.listar': (api, o) => api.guias.listar({}, o),
  'guias.eventos': (api, o) => api.guias.eventos('A', {}, o),
  'guias.pruebaEntrega': (api, o) => api.guias.pruebaEntrega('A', o),
  'guias.intentos': (api, o) => api.guias.intentos('A', {}, o),
  'guias.etiqueta': (api, o) => api.guias.etiqueta('A', o),
  'guias.etiquetas': (api, o) => api.guias.etiquetas(['A'], o),
  'guias.etiquetaPdf': (api, o) => api.guias.etiquetaPdf('A', o),
  'guias.etiquetaPdf, several': (api, o) => api.guias.etiquetaPdf(['A'], o),
  'guias.etiquetaZpl': (api, o) => api.guias.etiquetaZpl('A', o),
  'guias.esperarPrueba': (api, o) => api.guias.esperarPrueba('A', o),
  'guias.porReferencia': (api, o) => api.guias.porReferencia('A', o),
  'archivos.descargar': (api, o) => api.archivos.descargar(`${server.baseUrl}/archivos/A`, o),
  'guias.clavesPublicas': (api, o) => api.guias.clavesPublicas(o),
  'guias.crear with a reference': (api, o) => api.guias.crear(CON, o),
  'guias.crear without a reference': (api, o) => api.guias.crear(GUIA_WITHOUT_REFERENCIA, o),
  'guias.crearLote, a reference in each': (api, o) => api.guias.crearLote(lote(CON, CON), o),
  'guias.crearLote, one without a reference': (api, o) => api.guias.crearLote(lote(CON, GUIA_WITHOUT_REFERENCIA), o),
  'guias.reintentar': (api, o) => api.guias.reintentar('A', {}, o),
  'guias.devolver': (api, o) => api.guias.devolver('A', { razon: 'B' }, o),
  'guias.corregir': (api, o) => api.guias.corregir('A', { contenido: 'B' }, o),
  'guias.cancelar': (api, o) => api.guias.cancelar('A', undefined, o),
  'guias.confirmarUbicacion': (api, o) => api.guias.confirmarUbicacion('A', { lat: 1, lng: 2 }, o),
  'cuenta.obtener': (api, o) => api.cuenta.obtener(o),
  'cuenta.bitacora': (api, o) => api.cuenta.bitacora({}, o),
  'eventos.listar': (api, o) => api.eventos.listar({}, o),
  'eventos.seguir': (api, o) => api.eventos.seguir({}, { reintentos: 2, ...o }).next(),
  'catalogo.departamentos': (api, o) => api.catalogo.departamentos({}, o),
  'catalogo.municipios': (api, o) => api.catalogo.municipios({ departamento: 'GT-GU' }, o),
  'webhooks.listar': (api, o) => api.webhooks.listar({}, o),
  'webhooks.obtener': (api, o) => api.webhooks.obtener('wh', o),
  'webhooks.cambiar': (api, o) => api.webhooks.cambiar('wh', { estado: 'pausado' }, o),
  'webhooks.eliminar': (api, o) => api.webhooks.eliminar('wh', o),
  'webhooks.ensayarRecuperacion': (api, o) => api.webhooks.ensayarRecuperacion('wh', { desde: '2026-01-01' }, o),
  'webhooks.obtenerRecuperacion': (api, o) => api.webhooks.obtenerRecuperacion('wh', 'rec', o),
  'webhooks.avisos': (api, o) => api.webhooks.avisos('wh', {}, o),
  'webhooks.obtenerAviso': (api, o) => api.webhooks.obtenerAviso('wh', 'ent', o),
  'simulador.confirmarUbicacion': (api, o) => api.simulador.confirmarUbicacion('A', undefined, o),
  'guias.reenviarSolicitud': (api, o) => api.guias.reenviarSolicitud('A', o),
  'webhooks.crear': (api, o) => api.webhooks.crear({ url: 'https://a.ejemplo.com' }, o),
  'webhooks.rotarSecreto': (api, o) => api.webhooks.rotarSecreto('wh', undefined, o),
  'webhooks.probar': (api, o) => api.webhooks.probar('wh', o),
  'webhooks.recuperar': (api, o) => api.webhooks.recuperar('wh', { desde: '2026-01-01' }, o),
  'webhooks.reenviar': (api, o) => api.webhooks.reenviar('wh', 'ent', o),
  'simulador.avanzar': (api, o) => api.simulador.avanzar('A', { estado: 'recolectado' }, o),
  'simulador.decidir': (api, o) => api.simulador.decidir('A', { eleccion: 'otro_dia' }, o),
}
const CON_CLAVE = Object.fromEntries(
  Object.entries(REPETIBLES).filter(([target]) =>
    /without|reenviar|corregir|guias\.(reintentar|devolver)|webhooks\.(crear|rotarSecreto|probar|(ensayarR|r)ecuper(ar|acion))$|avanzar|decidir/.test(
      target,
    ),
  ),
)
const UNKNOWN_ROUTE: Pedir = (api, o) => api.post('/api/v1/zonas', { nombre: 'Norte' }, o)
const ONLY_ONCE: Record<string, Pedir> = {
  'a path that this version does not know': UNKNOWN_ROUTE,
}

describe('the repetition of a request', () => {
  describe.each(FALLAS)('%s', (_, response, repetible, always, Clase) => {
    it.each([
      ['what is safe to repeat', REPETIBLES['guias.crear with a reference']!, repetible ? 3 : 1],
      ['what is not', UNKNOWN_ROUTE, always ? 3 : 1],
    ])('%s', async (_label, request, times) => {
      answer(response)
      const error = await fault(request(client()))
      expect(error).toBeInstanceOf(Clase)
      expect([received.length, error.intentos]).toEqual([times, times])
      expect(received.map(({ headers }) => headers['x-guias-reintento'])).toEqual([undefined, '1', '2'].slice(0, times))
      expect(new Set(received.map(({ method, path, body }) => method + path + body)).size).toBe(1)
      expect(sucesos.map(({ tipo, intento }) => [tipo, intento])).toEqual(
        Array.from({ length: times }, (_unused, i) => [i + 1 < times ? 'reintento' : 'falla', i + 1]),
      )
      if (!repetible && !always) return
      answer(response, json(201, GUIA))
      received.length = 0
      const other = request(client())
      if (times === 3) expect(await other).toEqual(GUIA)
      else await fault(other)
      expect(received).toHaveLength(times === 3 ? 2 : 1)
    })
  })

  it.each(Object.entries(REPETIBLES))('%s: yes', async (_, request) => {
    answer(respondProblema(503, 'no_disponible'))
    expect(await fault(request(client()))).toMatchObject({ name: 'ErrorServicio', intentos: 3 })
    expect(received).toHaveLength(3)
  })

  it.each(Object.entries(ONLY_ONCE))('%s: never, but when it was refused', async (_, request) => {
    for (const response of [respondProblema(503, 'no_disponible'), respondHtml, cutConnection]) {
      answer(response)
      received.length = 0
      await fault(request(client({ reintentos: 5 })))
      expect(received).toHaveLength(1)
    }
    answer(respondProblema(429, 'codigo_de_manana'))
    expect(await fault(request(client()))).toMatchObject({ name: 'ErrorLimite', intentos: 3 })
    answer(cutConnection)
    const requestWithOwnKey = request(client(), { claveDeIdempotencia: 'suya' })
    expect(await fault(requestWithOwnKey)).toMatchObject({ name: 'ErrorConexion', intentos: 3 })
  })

  it('is tested for every method of the SDK', () => {
    const api = client()
    const resources = ['guias', 'archivos', 'cuenta', 'eventos', 'catalogo', 'webhooks', 'simulador'] as const
    const metodos = resources.flatMap((resource) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(api[resource])).map((method) => `${resource}.${method}`),
    )
    const all = [...Object.keys(REPETIBLES), ...Object.keys(ONLY_ONCE)].filter((target) => target.includes('.'))
    const testedNames = all.map((target) => target.split(/[ ,]/)[0])
    // In requests of its own: test/sdk/many.test.ts.
    const separateOne = ['guias.crearMuchas']
    expect(metodos.filter((one) => !one.endsWith('.constructor') && !separateOne.includes(one)).sort()).toEqual(
      [...new Set(testedNames)].sort(),
    )
  })

  it('happens when nobody listened, since no request can have arrived', async () => {
    const api = client({ baseUrl: `http://127.0.0.1:${await findFreePort()}` })
    const error = await fault<ErrorConexion>(api.guias.crear(GUIA_WITHOUT_REFERENCIA))
    expect([error.name, error.intentos, error.pudoLlegar, String(error.message)]).toEqual([
      'ErrorConexion',
      3,
      false,
      expect.stringContaining('ECONNREFUSED'),
    ])
  })

  it.each<[string, Responder | undefined, boolean]>([
    ['cut', cutConnection, true],
    ['failed', respondProblema(503, 'no_disponible'), true],
    ['refused for its rate', respondProblema(429, 'demasiadas_solicitudes'), false],
    ['refused, too', undefined, false],
  ])('refused after an attempt that was %s tells what that attempt may have done', async (_, first, mayHaveArrived) => {
    answer(first ?? success)
    const fetchQueue = first ? [fetch] : []
    const rechazar = async () => {
      throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' })
    }
    const api = client({ fetch: (url, init) => (fetchQueue.shift() ?? rechazar)(url, init) })
    const error = await fault<ErrorConexion>(api.guias.crear(CON))
    expect([error.name, error.intentos, error.pudoLlegar]).toEqual(['ErrorConexion', 3, mayHaveArrived])
    expect(error.message.includes('pudo haber recibido')).toBe(mayHaveArrived)
  })

  it('remembers a failed attempt after another was refused for its rate', async () => {
    const responses = [respondProblema(503, 'no_disponible'), respondProblema(429, 'demasiadas_solicitudes')]
    const api = client({
      fetch: async (url, init) => {
        const response = responses.shift()
        if (!response) throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' })
        answer(response)
        return fetch(url, init)
      },
    })
    const error = await fault<ErrorConexion>(api.guias.crear(CON))
    expect([error.name, error.intentos, error.pudoLlegar]).toEqual(['ErrorConexion', 3, true])
  })

  it('happens as often as the client or the call says', async () => {
    answer(respondProblema(500, 'error_interno'))
    expect((await fault(client({ reintentos: 0 }).guias.obtener('A'))).intentos).toBe(1)
    expect((await fault(client({ reintentos: 0 }).guias.obtener('A', { reintentos: 4 }))).intentos).toBe(5)
    expect((await fault(client().guias.obtener('A', { reintentos: 0 }))).intentos).toBe(1)
  })

  it.each(Object.entries(CON_CLAVE))('%s: with a key of the SDK’s own, the same each time', async (_, request) => {
    const keys: unknown[] = []
    for (let time = 0; time < 2; time++) {
      answer(cutConnection, respondHtml, cutConnection)
      received.length = 0
      await fault(request(client()))
      const sentKeys = received.map(({ headers }) => headers['idempotency-key'])
      expect(sentKeys).toEqual(Array(3).fill(expect.stringMatching(/^auto-[0-9a-f]{32}$/)))
      expect(new Set(sentKeys).size).toBe(1)
      keys.push(sentKeys[0])
    }
    expect(new Set(keys).size).toBe(2)
  })

  it.each(Object.entries(REPETIBLES).filter(([target]) => !(target in CON_CLAVE)))(
    '%s: without a key',
    async (_, request) => {
      answer(cutConnection)
      await fault(request(client()))
      expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill(undefined))
    },
  )

  it.each<OpcionesConClave>([
    { claveDeIdempotencia: 'pedido-77' },
    { cabeceras: { 'idempotency-key': 'pedido-77' } },
    { claveDeIdempotencia: 'pedido-77', cabeceras: { 'idempotency-key': 'otra' } },
  ])('uses the key of the caller, also for a path that this version does not know: %j', async (options) => {
    answer(respondProblema(409, 'idempotencia_en_conflicto'))
    const sentRequests = [...Object.values(CON_CLAVE), REPETIBLES['guias.crear with a reference']!, UNKNOWN_ROUTE]
    for (const request of sentRequests)
      expect(await fault(request(client(), options))).toMatchObject({
        codigo: 'idempotencia_en_conflicto',
        intentos: 1,
      })
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(
      Array(sentRequests.length).fill('pedido-77'),
    )
  })

  it('does not happen for a key that no header can carry', async () => {
    const error = await fault(client().guias.crear(GUIA_WITHOUT_REFERENCIA, { claveDeIdempotencia: 'a\nb' }))
    expect([error.name, error.intentos]).toEqual(['ErrorGuias', 0])
    expect(received).toEqual([])
  })

  it('sends a body that is not an object as it is', async () => {
    answer(respondProblema(422, 'validacion'))
    for (const body of [[], 'x', 7]) await fault(client().webhooks.rotarSecreto('wh', body as never))
    expect(received.map(({ body }) => body)).toEqual(['[]', '"x"', '7'])
  })
})

describe('the pause', () => {
  const measurePauses = async (n: number, headers?: Record<string, string>) => {
    answer(respondProblema(503, 'no_disponible', headers))
    await fault(client({ reintentos: n, plazoTotal: 60_000 }).guias.obtener('A'))
    return sucesos.map(({ esperaMs }) => esperaMs)
  }

  it('is random over a width that doubles, up to 8 s', async () => {
    vi.mocked(Math.random).mockReturnValue(0.01)
    expect(await measurePauses(4)).toEqual([5, 10, 20, 40, null])
    sucesos.length = 0
    vi.mocked(Math.random).mockReturnValue(0.0001)
    expect((await measurePauses(9)).at(-2)).toBe(Math.round(0.8))
  })

  it.each<Record<string, string>>([
    { 'Retry-After': '1' },
    // A date is of the clock that wrote it, however wrong that goes.
    { 'Retry-After': 'Fri, 20 Nov 2020 10:00:01 GMT', Date: 'Fri, 20 Nov 2020 10:00:00 GMT' },
  ])('is at least what is asked for: %j', async (headers) => {
    const arrivals: number[] = []
    const recordArrival = (response: Responder) => (res: ServerResponse, receivedRequest: CapturedRequest) => {
      arrivals.push(clock.now)
      response(res, receivedRequest)
    }
    answer(recordArrival(respondProblema(503, 'no_disponible', headers)), recordArrival(success))
    await client().guias.obtener('A')
    expect(sucesos[0]!.esperaMs).toBe(1000)
    expect(arrivals[1]! - arrivals[0]!).toBe(1000)
  })

  it.each([
    ['61', 61],
    ['Fri, 01 Jan 2100 00:00:00 GMT', expect.closeTo(2_300_000_000, -9)],
  ])('is none when it asks for more than a minute (%s): the caller is told', async (wait, seconds) => {
    answer(respondProblema(429, 'codigo_de_manana', { 'Retry-After': wait }))
    const error = await fault<ErrorLimite>(client().guias.obtener('A'))
    expect([error.intentos, error.esperarSegundos]).toEqual([1, seconds])
  })

  it.each(['-1', 'pronto', '1.5', '2027-01-01', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
    'is the usual one for Retry-After: %s',
    async (wait) => {
      answer(respondProblema(503, 'no_disponible', { 'Retry-After': wait }), success)
      await client().guias.obtener('A')
      expect(sucesos[0]!.esperaMs).toBe(0)
    },
  )
})
