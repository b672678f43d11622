import { ErrorNoEncontrado, VERSION } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import {
  type CapturedRequest,
  fault,
  GUIA,
  json,
  LLAVE,
  NEW_GUIA,
  problema,
  respondProblema,
  useFakeServer,
} from './server.ts'

const server = useFakeServer()
const { client, respondWith: answer, capturedRequests: received } = server

describe('requests', () => {
  it('creates: key, agent and JSON go out, the guide comes back', async () => {
    answer(json(201, GUIA))
    expect(await client().guias.crear(NEW_GUIA)).toEqual(GUIA)
    const [{ method, path, headers, body }] = received as [CapturedRequest]
    expect([method, path, JSON.parse(body)]).toEqual(['POST', '/api/v1/guias', NEW_GUIA])
    expect(headers).toMatchObject({
      authorization: `Bearer ${LLAVE}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': `guias-sdk/${VERSION} (node ${process.versions.node}; ${process.platform})`,
    })
  })

  it('tells a replay', async () => {
    answer(json(200, GUIA, { 'Idempotent-Replayed': 'true' }))
    const response = await client().guias.crear(NEW_GUIA).conRespuesta()
    expect(response).toMatchObject({ datos: GUIA, estadoHttp: 200, idSolicitud: 'sol-1', repetida: true })
    expect(response.cabeceras.get('content-type')).toBe('application/json')
    answer(json(201, GUIA))
    expect(await client().guias.crear(NEW_GUIA).conRespuesta()).toMatchObject({ estadoHttp: 201, repetida: false })
  })

  it('is a promise, sent once and at once', async () => {
    answer(json(201, GUIA))
    const solicitud = client().guias.crear(NEW_GUIA)
    expect(solicitud).toBeInstanceOf(Promise)
    expect(await solicitud.then(({ guia }) => guia)).toBe(GUIA.guia)
    expect(
      await Promise.all([solicitud, solicitud.conRespuesta().then(({ datos }) => datos), solicitud.finally()]),
    ).toEqual([GUIA, GUIA, GUIA])
    expect(received).toHaveLength(1)
  })

  it('leaves no rejection unhandled, whichever side is awaited', async () => {
    answer(respondProblema(404, 'guia_desconocida'))
    await expect(client().guias.obtener('X')).rejects.toBeInstanceOf(ErrorNoEncontrado)
    await expect(client().guias.obtener('X').conRespuesta()).rejects.toBeInstanceOf(ErrorNoEncontrado)
    await expect(client().guias.listar()).rejects.toBeInstanceOf(ErrorNoEncontrado)
    expect(
      await client()
        .guias.listar()
        .catch(() => 'capturado'),
    ).toBe('capturado')
  })

  it('sends the object as it was at the call', async () => {
    answer((res, { body }) => json(201, { ...GUIA, external_ref: JSON.parse(body).external_ref })(res))
    const one = { ...NEW_GUIA }
    const requests = ['A', 'B', 'C'].map((external_ref) => client().guias.crear(Object.assign(one, { external_ref })))
    expect((await Promise.all(requests)).map((guia) => guia.external_ref)).toEqual(['A', 'B', 'C'])
  })

  it('creates a batch in which some fail', async () => {
    const lote = {
      ok: false,
      creadas: 1,
      repetidas: 0,
      fallidas: 1,
      advertencias: [],
      resultados: [
        {
          indice: 0,
          ok: true,
          guia: GUIA.guia,
          estado: 'aceptado',
          external_ref: null,
          repetida: false,
          advertencias: [],
        },
        { indice: 1, ok: false, external_ref: null, error: problema(422, 'validacion') },
      ],
    }
    answer(json(200, lote))
    const { resultados } = await client().guias.crearLote({
      guias: [NEW_GUIA, NEW_GUIA],
      recogida: { maps_url: 'geo:1,2' },
    })
    expect(resultados.map((r) => (r.ok ? r.guia : r.error.codigo))).toEqual([GUIA.guia, 'validacion'])
    expect(received[0]).toMatchObject({ path: '/api/v1/guias/bulk' })
  })

  it('escapes codes and parameters, and cancels with and without a body', async () => {
    answer(json(200, GUIA))
    const { guias } = client({ baseUrl: `${server.baseUrl}//` })
    await guias.obtener('7k3m-9qx2 a1b4/..', { limite: 2, cursor: 'a+b&c' })
    await guias.cancelar(GUIA.guia)
    await guias.cancelar(GUIA.guia, { razon: 'El cliente desistió' })
    expect(received.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['GET', '/api/v1/guias/7k3m-9qx2%20a1b4%2F..?limite=2&cursor=a%2Bb%26c', ''],
      ['POST', '/api/v1/guias/7K3M9QX2A1B4/cancelar', ''],
      ['POST', '/api/v1/guias/7K3M9QX2A1B4/cancelar', '{"razon":"El cliente desistió"}'],
    ])
    expect(received.map(({ headers }) => headers['content-type'])).toEqual([undefined, undefined, 'application/json'])
  })

  it('keeps each client to its own key and address', async () => {
    answer(json(200, GUIA))
    const other = client({ llave: ' guia_live_otra\n' })
    await Promise.all([client().guias.obtener('A'), other.guias.obtener('B')])
    const llaves = Object.fromEntries(received.map(({ path, headers }) => [path.at(-1), headers.authorization]))
    expect(llaves).toEqual({ A: `Bearer ${LLAVE}`, B: 'Bearer guia_live_otra' })
  })

  it('goes through the fetch that it is given, with a plain address and options', async () => {
    const seen: unknown[] = []
    const api = client({
      fetch: async (url, init) => {
        seen.push(url, { ...init, signal: init.signal instanceof AbortSignal })
        return Response.json(GUIA, { status: 201 })
      },
    })
    await api.guias.crear(NEW_GUIA)
    expect(seen).toEqual([
      `${server.baseUrl}/api/v1/guias`,
      {
        method: 'POST',
        body: JSON.stringify(NEW_GUIA),
        redirect: 'manual',
        signal: true,
        headers: expect.objectContaining({ authorization: `Bearer ${LLAVE}` }),
      },
    ])
  })

  it.each(['', ' ', '.', '..', undefined, null, 7])('sends nothing for the code %j', async (codigo) => {
    const { guias } = client()
    for (const solicitud of [
      guias.obtener(codigo as string),
      guias.eventos(codigo as string),
      guias.cancelar(codigo as string),
    ]) {
      expect(await fault(solicitud)).toMatchObject({
        name: 'ErrorGuias',
        message: expect.stringContaining('guia debe ser un texto, el código'),
      })
    }
    expect(received).toEqual([])
  })

  it('says so when the data cannot be sent', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.ciclo = cycle
    expect(await fault(client().guias.crear(cycle as never))).toMatchObject({
      name: 'ErrorGuias',
      message: expect.stringContaining('armar la solicitud'),
    })
  })
})

describe('headers', () => {
  it('from the call are added, and the SDK’s own stay', async () => {
    answer(json(200, GUIA))
    const api = client({ cabeceras: { 'X-De-Siempre': 'a', 'X-Ambas': 'a' } })
    await api.guias.crear(NEW_GUIA, {
      cabeceras: { 'x-ambas': 'b', Authorization: 'Bearer otra', 'content-type': 'text/plain', 'X-Rastro': 'c' },
    })
    expect(received[0]!.headers).toMatchObject({
      'x-de-siempre': 'a',
      'x-rastro': 'c',
      authorization: `Bearer ${LLAVE}`,
      'content-type': 'application/json',
    })
  })

  it('carry no authorization where the request needs no key', async () => {
    answer(json(200, { keys: [] }))
    await client({ cabeceras: { Authorization: 'Bearer otra' } }).guias.clavesPublicas()
    expect(received.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })

  it('that cannot be sent are an error before anything is', async () => {
    const error = await fault(client().guias.obtener('A', { cabeceras: { 'mala cabecera': 'x' } }))
    expect([error.name, error.message, received.length]).toEqual(['ErrorGuias', expect.stringContaining('armar'), 0])
  })
})
