import { ErrorNoEncontrado, VERSION } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import {
  type CapturedRequest,
  falla,
  GUIA,
  json,
  LLAVE,
  NEW_GUIA,
  problema,
  respondProblema,
  useFakeServer,
} from './server.ts'

const servidor = useFakeServer()
const { client: cliente, respondWith: contestar, capturedRequests: recibidas } = servidor

describe('requests', () => {
  it('creates: key, agent and JSON go out, the guide comes back', async () => {
    contestar(json(201, GUIA))
    expect(await cliente().guias.crear(NEW_GUIA)).toEqual(GUIA)
    const [{ method: metodo, path: ruta, cabeceras, cuerpo }] = recibidas as [CapturedRequest]
    expect([metodo, ruta, JSON.parse(cuerpo)]).toEqual(['POST', '/api/v1/guias', NEW_GUIA])
    expect(cabeceras).toMatchObject({
      authorization: `Bearer ${LLAVE}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': `guias-sdk/${VERSION} (node ${process.versions.node}; ${process.platform})`,
    })
  })

  it('tells a replay', async () => {
    contestar(json(200, GUIA, { 'Idempotent-Replayed': 'true' }))
    const respuesta = await cliente().guias.crear(NEW_GUIA).conRespuesta()
    expect(respuesta).toMatchObject({ datos: GUIA, status: 200, idSolicitud: 'sol-1', repetida: true })
    expect(respuesta.cabeceras.get('content-type')).toBe('application/json')
    contestar(json(201, GUIA))
    expect(await cliente().guias.crear(NEW_GUIA).conRespuesta()).toMatchObject({ status: 201, repetida: false })
  })

  it('is a promise, sent once and at once', async () => {
    contestar(json(201, GUIA))
    const solicitud = cliente().guias.crear(NEW_GUIA)
    expect(solicitud).toBeInstanceOf(Promise)
    expect(await solicitud.then(({ guia }) => guia)).toBe(GUIA.guia)
    expect(
      await Promise.all([solicitud, solicitud.conRespuesta().then(({ datos }) => datos), solicitud.finally()]),
    ).toEqual([GUIA, GUIA, GUIA])
    expect(recibidas).toHaveLength(1)
  })

  it('leaves no rejection unhandled, whichever side is awaited', async () => {
    contestar(respondProblema(404, 'guia_desconocida'))
    await expect(cliente().guias.obtener('X')).rejects.toBeInstanceOf(ErrorNoEncontrado)
    await expect(cliente().guias.obtener('X').conRespuesta()).rejects.toBeInstanceOf(ErrorNoEncontrado)
    await expect(cliente().guias.listar()).rejects.toBeInstanceOf(ErrorNoEncontrado)
    expect(
      await cliente()
        .guias.listar()
        .catch(() => 'capturado'),
    ).toBe('capturado')
  })

  it('sends the object as it was at the call', async () => {
    contestar((res, { cuerpo }) => json(201, { ...GUIA, external_ref: JSON.parse(cuerpo).external_ref })(res))
    const una = { ...NEW_GUIA }
    const enCurso = ['A', 'B', 'C'].map((external_ref) => cliente().guias.crear(Object.assign(una, { external_ref })))
    expect((await Promise.all(enCurso)).map((guia) => guia.external_ref)).toEqual(['A', 'B', 'C'])
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
    contestar(json(200, lote))
    const { resultados } = await cliente().guias.crearLote({
      guias: [NEW_GUIA, NEW_GUIA],
      recogida: { maps_url: 'geo:1,2' },
    })
    expect(resultados.map((r) => (r.ok ? r.guia : r.error.codigo))).toEqual([GUIA.guia, 'validacion'])
    expect(recibidas[0]).toMatchObject({ path: '/api/v1/guias/bulk' })
  })

  it('escapes codes and parameters, and cancels with and without a body', async () => {
    contestar(json(200, GUIA))
    const { guias } = cliente({ baseUrl: `${servidor.baseUrl}//` })
    await guias.obtener('7k3m-9qx2 a1b4/..', { limite: 2, cursor: 'a+b&c' })
    await guias.cancelar(GUIA.guia)
    await guias.cancelar(GUIA.guia, { razon: 'El cliente desistió' })
    expect(recibidas.map(({ method: metodo, path: ruta, cuerpo }) => [metodo, ruta, cuerpo])).toEqual([
      ['GET', '/api/v1/guias/7k3m-9qx2%20a1b4%2F..?limite=2&cursor=a%2Bb%26c', ''],
      ['POST', '/api/v1/guias/7K3M9QX2A1B4/cancelar', ''],
      ['POST', '/api/v1/guias/7K3M9QX2A1B4/cancelar', '{"razon":"El cliente desistió"}'],
    ])
    expect(recibidas.map(({ cabeceras }) => cabeceras['content-type'])).toEqual([
      undefined,
      undefined,
      'application/json',
    ])
  })

  it('keeps each client to its own key and address', async () => {
    contestar(json(200, GUIA))
    const otra = cliente({ llave: ' guia_live_otra\n' })
    await Promise.all([cliente().guias.obtener('A'), otra.guias.obtener('B')])
    const llaves = Object.fromEntries(
      recibidas.map(({ path: ruta, cabeceras }) => [ruta.at(-1), cabeceras.authorization]),
    )
    expect(llaves).toEqual({ A: `Bearer ${LLAVE}`, B: 'Bearer guia_live_otra' })
  })

  it('goes through the fetch that it is given, with a plain address and options', async () => {
    const vistas: unknown[] = []
    const api = cliente({
      fetch: async (url, init) => {
        vistas.push(url, { ...init, signal: init.signal instanceof AbortSignal })
        return Response.json(GUIA, { status: 201 })
      },
    })
    await api.guias.crear(NEW_GUIA)
    expect(vistas).toEqual([
      `${servidor.baseUrl}/api/v1/guias`,
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
    const { guias } = cliente()
    for (const solicitud of [
      guias.obtener(codigo as string),
      guias.eventos(codigo as string),
      guias.cancelar(codigo as string),
    ]) {
      expect(await falla(solicitud)).toMatchObject({
        name: 'ErrorGuias',
        message: expect.stringContaining('guia debe ser un texto, el código'),
      })
    }
    expect(recibidas).toEqual([])
  })

  it('says so when the data cannot be sent', async () => {
    const ciclo: Record<string, unknown> = {}
    ciclo.ciclo = ciclo
    expect(await falla(cliente().guias.crear(ciclo as never))).toMatchObject({
      name: 'ErrorGuias',
      message: expect.stringContaining('armar la solicitud'),
    })
  })
})

describe('headers', () => {
  it('from the call are added, and the SDK’s own stay', async () => {
    contestar(json(200, GUIA))
    const api = cliente({ cabeceras: { 'X-De-Siempre': 'a', 'X-Ambas': 'a' } })
    await api.guias.crear(NEW_GUIA, {
      cabeceras: { 'x-ambas': 'b', Authorization: 'Bearer otra', 'content-type': 'text/plain', 'X-Rastro': 'c' },
    })
    expect(recibidas[0]!.cabeceras).toMatchObject({
      'x-de-siempre': 'a',
      'x-rastro': 'c',
      authorization: `Bearer ${LLAVE}`,
      'content-type': 'application/json',
    })
  })

  it('carry no authorization where the request needs no key', async () => {
    contestar(json(200, { keys: [] }))
    await cliente({ cabeceras: { Authorization: 'Bearer otra' } }).guias.clavesPublicas()
    expect(recibidas.map(({ cabeceras }) => cabeceras.authorization)).toEqual([undefined])
  })

  it('that cannot be sent are an error before anything is', async () => {
    const error = await falla(cliente().guias.obtener('A', { cabeceras: { 'mala cabecera': 'x' } }))
    expect([error.name, error.message, recibidas.length]).toEqual(['ErrorGuias', expect.stringContaining('armar'), 0])
  })
})
