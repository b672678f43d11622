import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { setTimeout as esperar } from 'node:timers/promises'
import { inspect } from 'node:util'
import {
  ErrorAlcance,
  ErrorApi,
  ErrorConexion,
  ErrorConflicto,
  ErrorCuerpo,
  ErrorGuias,
  ErrorLimite,
  ErrorNoAutenticado,
  ErrorNoEncontrado,
  ErrorParametro,
  ErrorRespuesta,
  ErrorServicio,
  ErrorTiempo,
  ErrorValidacion,
  type Guia,
  type GuiaIndividual,
  Guias,
  type OpcionesDeGuias,
  VERSION,
} from '@guias/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

interface Recibida {
  metodo: string
  ruta: string
  cabeceras: IncomingMessage['headers']
  cuerpo: string
}
type Contestar = (res: ServerResponse, recibida: Recibida) => void

const LLAVE = 'guia_test_abc_secreto'
let recibidas: Recibida[] = []
let contestar: Contestar = () => {}
let baseUrl = ''

const servidor = createServer((req, res) => {
  let cuerpo = ''
  req.setEncoding('utf8')
  req.on('data', (trozo: string) => {
    cuerpo += trozo
  })
  req.on('end', () => {
    const recibida = { metodo: req.method ?? '', ruta: req.url ?? '', cabeceras: req.headers, cuerpo }
    recibidas.push(recibida)
    contestar(res, recibida)
  })
})
const rechazos: unknown[] = []
const anotarRechazo = (causa: unknown) => rechazos.push(causa)

beforeAll(async () => {
  await new Promise<void>((listo) => servidor.listen(0, '127.0.0.1', listo))
  baseUrl = `http://127.0.0.1:${(servidor.address() as AddressInfo).port}`
  process.on('unhandledRejection', anotarRechazo)
})
beforeEach(() => {
  recibidas = []
})
afterEach(async () => {
  await esperar(0)
  expect(rechazos.splice(0), 'unhandled rejections').toEqual([])
})
afterAll(() => {
  process.off('unhandledRejection', anotarRechazo)
  servidor.closeAllConnections()
  servidor.close()
})

// Each answer is looked at here; test/sdk/reintentos.test.ts is about sending again.
const cliente = (opciones: Partial<OpcionesDeGuias> = {}) =>
  new Guias({ llave: LLAVE, baseUrl, reintentos: 0, ...opciones })
const json = (res: ServerResponse, status: number, cuerpo: unknown, cabeceras: Record<string, string> = {}) =>
  res
    .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'sol-1', ...cabeceras })
    .end(JSON.stringify(cuerpo))
const siempre =
  (status: number, cuerpo: unknown, cabeceras?: Record<string, string>): Contestar =>
  (res) =>
    json(res, status, cuerpo, cabeceras)
const texto =
  (status: number, cuerpo: string, cabeceras: Record<string, string> = { 'Content-Type': 'text/html' }): Contestar =>
  (res) =>
    res.writeHead(status, cabeceras).end(cuerpo)
const problema = (status: number, codigo: string, mas: object = {}) => ({
  codigo,
  titulo: 'Título',
  mensaje: 'Haga esto.',
  estado_http: status,
  errores: [],
  id_solicitud: 'sol-1',
  documentacion: `https://guias.ejemplo.com/docs#error-${codigo}`,
  ...mas,
})
const fallaDe = (promesa: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promesa).then(
    (valor) => {
      throw new Error(`It did not fail: ${inspect(valor)}`)
    },
    (error: unknown) => error,
  )
/** The faulty answer, as what the SDK makes of it. */
const falla = async <T extends ErrorGuias>(
  clase: new (...args: never[]) => T,
  respuesta: Contestar,
  opciones?: Partial<OpcionesDeGuias>,
) => {
  contestar = respuesta
  const error = await fallaDe(cliente(opciones).guias.obtener('7K3M9QX2A1BV'))
  expect(error).toBeInstanceOf(clase)
  expect(error).toBeInstanceOf(ErrorGuias)
  return error as T
}

const GUIA = { guia: '7K3M9QX2A1BV', estado: 'aceptado', secuencia: 1 } as Guia
const NUEVA: GuiaIndividual = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  external_ref: 'PEDIDO-1',
  recogida: { nombre: 'Bodega', lat: 14.5, lng: -90.5 },
}

describe('requests', () => {
  it('creates: key, agent and JSON go out, the guide comes back', async () => {
    contestar = siempre(201, GUIA)
    expect(await cliente().guias.crear(NUEVA)).toEqual(GUIA)
    const [{ metodo, ruta, cabeceras, cuerpo }] = recibidas as [Recibida]
    expect([metodo, ruta, JSON.parse(cuerpo)]).toEqual(['POST', '/api/v1/guias', NUEVA])
    expect(cabeceras).toMatchObject({
      authorization: `Bearer ${LLAVE}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': `guias-sdk/${VERSION}`,
    })
  })

  it('tells a replay', async () => {
    contestar = siempre(200, GUIA, { 'Idempotent-Replayed': 'true' })
    const respuesta = await cliente().guias.crear(NUEVA).conRespuesta()
    expect(respuesta).toMatchObject({ datos: GUIA, status: 200, idSolicitud: 'sol-1', repetida: true })
    expect(respuesta.cabeceras.get('content-type')).toBe('application/json')
    contestar = siempre(201, GUIA)
    expect(await cliente().guias.crear(NUEVA).conRespuesta()).toMatchObject({ status: 201, repetida: false })
  })

  it('is a promise, sent once and at once', async () => {
    contestar = siempre(201, GUIA)
    const solicitud = cliente().guias.crear(NUEVA)
    expect(solicitud).toBeInstanceOf(Promise)
    expect(await solicitud.then(({ guia }) => guia)).toBe(GUIA.guia)
    expect(
      await Promise.all([solicitud, solicitud.conRespuesta().then(({ datos }) => datos), solicitud.finally()]),
    ).toEqual([GUIA, GUIA, GUIA])
    expect(recibidas).toHaveLength(1)
  })

  it('leaves no rejection unhandled, whichever side is awaited', async () => {
    contestar = siempre(404, problema(404, 'guia_desconocida'))
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
    contestar = (res, { cuerpo }) => json(res, 201, { ...GUIA, external_ref: JSON.parse(cuerpo).external_ref })
    const una = { ...NUEVA }
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
    contestar = siempre(200, lote)
    const { resultados } = await cliente().guias.crearLote({ guias: [NUEVA, NUEVA], recogida: { maps_url: 'geo:1,2' } })
    expect(resultados.map((r) => (r.ok ? r.guia : r.error.codigo))).toEqual([GUIA.guia, 'validacion'])
    expect(recibidas[0]).toMatchObject({ ruta: '/api/v1/guias/bulk' })
  })

  it('escapes codes and parameters, and cancels with and without a body', async () => {
    contestar = siempre(200, GUIA)
    const { guias } = cliente({ baseUrl: `${baseUrl}//` })
    await guias.obtener('7k3m-9qx2 a1bv/..', { limite: 2, cursor: 'a+b&c' })
    await guias.cancelar(GUIA.guia)
    await guias.cancelar(GUIA.guia, { descripcion: 'El cliente desistió' })
    expect(recibidas.map(({ metodo, ruta, cuerpo }) => [metodo, ruta, cuerpo])).toEqual([
      ['GET', '/api/v1/guias/7k3m-9qx2%20a1bv%2F..?limite=2&cursor=a%2Bb%26c', ''],
      ['POST', '/api/v1/guias/7K3M9QX2A1BV/cancelar', ''],
      ['POST', '/api/v1/guias/7K3M9QX2A1BV/cancelar', '{"descripcion":"El cliente desistió"}'],
    ])
    expect(recibidas.map(({ cabeceras }) => cabeceras['content-type'])).toEqual([
      undefined,
      undefined,
      'application/json',
    ])
  })

  it('keeps each client to its own key and address', async () => {
    contestar = siempre(200, GUIA)
    const otra = cliente({ llave: ' guia_live_otra\n' })
    await Promise.all([cliente().guias.obtener('A'), otra.guias.obtener('B')])
    const llaves = Object.fromEntries(recibidas.map(({ ruta, cabeceras }) => [ruta.at(-1), cabeceras.authorization]))
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
    await api.guias.crear(NUEVA)
    expect(vistas).toEqual([
      `${baseUrl}/api/v1/guias`,
      {
        method: 'POST',
        body: JSON.stringify(NUEVA),
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
      expect(await fallaDe(solicitud)).toMatchObject({
        name: 'ErrorGuias',
        message: expect.stringContaining('código de la guía'),
      })
    }
    expect(recibidas).toEqual([])
  })

  it('says so when the data cannot be sent', async () => {
    const ciclo: Record<string, unknown> = {}
    ciclo.ciclo = ciclo
    expect(await fallaDe(cliente().guias.crear(ciclo as never))).toMatchObject({
      name: 'ErrorGuias',
      message: expect.stringContaining('armar la solicitud'),
    })
  })
})

describe('lists', () => {
  /** Pages of two over n elements; the cursor is the position. `flujo` always gives one. */
  const paginas =
    (n: number, { flujo = false } = {}): Contestar =>
    (res, { ruta }) => {
      const { searchParams } = new URL(ruta, baseUrl)
      const desde = Number(searchParams.get('cursor') ?? 0)
      const hasta = Math.min(desde + 2, n)
      const datos = Array.from({ length: hasta - desde }, (_, i) => ({ id: desde + i }))
      json(res, 200, { datos, cursor_siguiente: flujo || hasta < n ? String(hasta) : null })
    }
  const todos = async <T>(lista: AsyncIterable<T>) => {
    const vistos: T[] = []
    for await (const elemento of lista) vistos.push(elemento)
    return vistos
  }
  const ids = (cuantos: number, desde = 0) => Array.from({ length: cuantos }, (_, i) => ({ id: desde + i }))

  it('asks nothing before it is used; awaited, gives the first page, once', async () => {
    contestar = paginas(5)
    const lista = cliente().guias.listar({ estado: ['en_ruta', 'aceptado'], external_ref: 'A&B', limite: 2 })
    await esperar(20)
    expect(recibidas).toEqual([])
    expect(await lista).toEqual({ datos: ids(2), cursor_siguiente: '2' })
    expect(await lista.conRespuesta()).toMatchObject({ status: 200, idSolicitud: 'sol-1' })
    expect(recibidas.map(({ ruta }) => ruta)).toEqual([
      '/api/v1/guias?estado=en_ruta&estado=aceptado&external_ref=A%26B&limite=2',
    ])
  })

  it('walks all pages with the same filters, each time anew', async () => {
    contestar = paginas(5)
    const filtros = { estado: ['en_ruta'], limite: 2 }
    const lista = cliente().guias.listar(filtros)
    filtros.estado.push('aceptado')
    expect(await todos(lista)).toEqual(ids(5))
    expect(recibidas.map(({ ruta }) => ruta)).toEqual([
      '/api/v1/guias?estado=en_ruta&limite=2',
      '/api/v1/guias?estado=en_ruta&limite=2&cursor=2',
      '/api/v1/guias?estado=en_ruta&limite=2&cursor=4',
    ])
    expect(await todos(lista)).toEqual(ids(5))
    expect(await todos(cliente().guias.listar({ cursor: '3' }))).toEqual(ids(2, 3))
  })

  it('walks the history of a guide, and stops asking when the caller stops', async () => {
    contestar = paginas(50)
    for await (const evento of cliente().guias.eventos('7K3M9QX2A1BV', { limite: 2 }))
      if (evento.id === (2 as never)) break
    expect(recibidas.map(({ ruta }) => ruta)).toEqual([
      '/api/v1/guias/7K3M9QX2A1BV/eventos?limite=2',
      '/api/v1/guias/7K3M9QX2A1BV/eventos?limite=2&cursor=2',
    ])
    contestar = paginas(0)
    expect(await todos(cliente().guias.eventos('7K3M9QX2A1BV'))).toEqual([])
  })

  it('follows the feed until it is up to date, page by page with the cursor to keep', async () => {
    contestar = paginas(3, { flujo: true })
    expect(await todos(cliente().eventos.listar())).toEqual(ids(3))
    expect(recibidas).toHaveLength(3)
    const cursores = []
    for await (const { cursor_siguiente } of cliente().eventos.listar().paginas()) cursores.push(cursor_siguiente)
    expect(cursores).toEqual(['2', '3', '3'])
    expect(await cliente().eventos.listar({ cursor: '3' })).toEqual({ datos: [], cursor_siguiente: '3' })
  })

  it('fails in the middle with the error of that page', async () => {
    contestar = (res, recibida) =>
      recibida.ruta.includes('cursor=4') ? json(res, 503, problema(503, 'no_disponible')) : paginas(9)(res, recibida)
    const vistos: unknown[] = []
    const error = await fallaDe(
      (async () => {
        for await (const guia of cliente().guias.listar()) vistos.push(guia)
      })(),
    )
    expect(error).toBeInstanceOf(ErrorServicio)
    expect(vistos).toEqual(ids(4))
  })

  it('does not go round for ever on a cursor that stands still', async () => {
    contestar = siempre(200, { datos: [1], cursor_siguiente: 'x' })
    expect(await fallaDe(todos(cliente().guias.listar()))).toMatchObject({
      name: 'ErrorGuias',
      message: expect.stringContaining('no avanza'),
    })
    expect(recibidas).toHaveLength(2)
  })
})

describe('errors of the API', () => {
  it.each([
    [400, 'cursor_invalido', ErrorParametro],
    [401, 'no_autenticado', ErrorNoAutenticado],
    [403, 'alcance_insuficiente', ErrorAlcance],
    [404, 'guia_desconocida', ErrorNoEncontrado],
    [405, 'metodo_no_permitido', ErrorApi],
    [409, 'carrera_perdida', ErrorConflicto],
    [413, 'cuerpo_demasiado_grande', ErrorCuerpo],
    [415, 'tipo_no_admitido', ErrorCuerpo],
    [422, 'validacion', ErrorValidacion],
    [429, 'codigo_de_manana', ErrorLimite],
    [500, 'error_interno', ErrorServicio],
    [503, 'codigo_de_manana', ErrorServicio],
  ])('%i %s', async (status, codigo, Clase) => {
    const error = await falla(Clase, siempre(status, problema(status, codigo)))
    expect(error.constructor).toBe(Clase)
    expect(error).toBeInstanceOf(ErrorApi)
    expect(error).toMatchObject({
      name: Clase.name,
      status,
      codigo,
      idSolicitud: 'sol-1',
      errores: [],
      esperarSegundos: null,
    })
    expect(error.message).toBe(`Haga esto. (codigo: ${codigo}, HTTP ${status}, id_solicitud: sol-1)`)
  })

  it('lists what to correct in the message, within reason', async () => {
    const errores = Array.from({ length: 12 }, (_, i) => ({
      campo: `/c${i}`,
      codigo: 'codigo_de_manana',
      mensaje: `falta ${i}`,
    }))
    const error = await falla(
      ErrorValidacion,
      siempre(422, problema(422, 'validacion', { errores, errores_omitidos: 5 })),
    )
    expect(error.errores).toEqual(errores)
    expect(error.message.split('\n').slice(1)).toEqual([
      ...errores.slice(0, 10).map((e) => `  ${e.campo}: ${e.mensaje}`),
      '  … y 7 más',
    ])
  })

  it('carries what conflicts', async () => {
    const otra = await falla(ErrorConflicto, siempre(409, problema(409, 'external_ref_en_conflicto', { guia: 'ABC' })))
    expect(otra).toMatchObject({ guia: 'ABC', estado: null, transiciones: [] })
    const tarde = await falla(
      ErrorConflicto,
      siempre(409, problema(409, 'transicion_invalida', { estado: 'en_luna', transiciones: ['en_ruta'] })),
    )
    expect(tarde).toMatchObject({ guia: null, estado: 'en_luna', transiciones: ['en_ruta'] })
  })

  it('carries how long to wait, and members it does not know', async () => {
    const error = await falla(
      ErrorServicio,
      siempre(503, problema(503, 'no_disponible', { nuevo: 1 }), { 'Retry-After': '2' }),
    )
    expect([error.esperarSegundos, error.documentacion, error.problema, error.cabeceras.get('retry-after')]).toEqual([
      2,
      'https://guias.ejemplo.com/docs#error-no_disponible',
      problema(503, 'no_disponible', { nuevo: 1 }),
      '2',
    ])
  })

  it('manages with a problem that lacks everything but its code', async () => {
    const error = await falla(ErrorApi, siempre(418, { codigo: 'x' }))
    expect(error).toMatchObject({ status: 418, codigo: 'x', idSolicitud: 'sol-1', errores: [], documentacion: null })
    expect(error.message).toBe('El servicio rechazó la solicitud (codigo: x, HTTP 418, id_solicitud: sol-1)')
  })

  it('takes states and members of a newer server', async () => {
    const nueva = { ...GUIA, estado: 'en_luna', cohete: { nombre: 'X' } }
    contestar = siempre(200, nueva)
    expect(await cliente().guias.obtener(GUIA.guia)).toEqual(nueva)
  })

  it('narrows by class (this compiles)', async () => {
    const error = await falla(ErrorApi, siempre(404, problema(404, 'guia_desconocida')))
    const leer = (e: Error) => {
      if (e instanceof ErrorValidacion) return e.errores.length
      if (e instanceof ErrorApi) return e.codigo
      if (e instanceof ErrorTiempo) return e.tiempoLimite
      if (e instanceof ErrorGuias) return e.name
      return e.message
    }
    expect(leer(error)).toBe('guia_desconocida')
  })
})

describe('answers that are not the API’s', () => {
  it.each([
    ['an HTML page with 200', texto(200, '<html>\n<body>Bienvenido</body>'), 200, 'proxy'],
    ['an HTML page with 502', texto(502, '<html>Bad Gateway'), 502, 'Intente de nuevo'],
    ['HTML that calls itself JSON', texto(200, '<html>', { 'Content-Type': 'application/json' }), 200, 'proxy'],
    ['nothing, without a type', texto(200, '', {}), 200, 'vacía'],
    ['204', texto(204, '', {}), 204, 'vacía'],
    ['JSON of something else', siempre(200, { status: 'ok' }), 200, 'proxy'],
    ['a page where a guide should be', siempre(200, { datos: [], cursor_siguiente: null }), 200, 'proxy'],
    ['null', siempre(200, null), 200, 'null'],
    ['an error of a gateway in JSON', siempre(403, { message: 'Forbidden' }), 403, 'Forbidden'],
    [
      'a JSON text cut short',
      texto(200, '{"guia": "7K3', { 'Content-Type': 'application/json' }),
      200,
      '{"guia": "7K3',
    ],
  ])('%s', async (_, respuesta, status, dice) => {
    const error = await falla(ErrorRespuesta, respuesta)
    expect(error).toMatchObject({ name: 'ErrorRespuesta', status })
    expect(error.message).toContain(`HTTP ${status}`)
    expect(error.message).toContain(dice)
  })

  it('keeps the first 200 characters and the id', async () => {
    const error = await falla(ErrorRespuesta, texto(500, 'x'.repeat(5000), { 'X-Request-Id': 'sol-9' }))
    expect(error).toMatchObject({
      texto: 'x'.repeat(200),
      idSolicitud: 'sol-9',
      message: expect.stringContaining('sol-9'),
    })
    expect(error.message.length).toBeLessThan(500)
  })

  it('follows no redirect: a POST would become a GET', async () => {
    contestar = (res, { metodo }) =>
      metodo === 'POST'
        ? res.writeHead(301, { Location: 'https://guias.ejemplo.com/api/v1/guias' }).end()
        : json(res, 200, GUIA)
    const error = await fallaDe(cliente().guias.crear(NUEVA))
    expect(error).toMatchObject({
      name: 'ErrorRespuesta',
      status: 301,
      message: expect.stringContaining('https://guias.ejemplo.com/api/v1/guias'),
    })
    expect(recibidas).toHaveLength(1)
  })

  it.each([
    ['a page', () => cliente().guias.listar()],
    ['a batch', () => cliente().guias.crearLote({ guias: [NUEVA] })],
    ['the feed', () => cliente().eventos.listar()],
  ])('looks at the shape of %s', async (_, pedir) => {
    contestar = siempre(200, GUIA)
    expect(await fallaDe(pedir())).toBeInstanceOf(ErrorRespuesta)
  })
})

describe('connection and time', () => {
  it('cut before the answer', async () => {
    const error = await falla(ErrorConexion, (res) => res.destroy())
    expect(error.name).toBe('ErrorConexion')
    expect(error.message).toContain(baseUrl)
    expect(error.message).toContain('external_ref')
    expect(error.cause).toBeInstanceOf(Error)
  })

  it.each([201, 404])('cut in the middle of a %i', async (status) => {
    await falla(ErrorConexion, (res) => {
      res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': '500' }).write('{"guia":')
      setTimeout(() => res.destroy(), 20)
    })
  })

  it('nobody listens: it says where and why', async () => {
    const libre = createServer().listen(0, '127.0.0.1')
    await new Promise((listo) => libre.once('listening', listo))
    const { port } = libre.address() as AddressInfo
    await new Promise((listo) => libre.close(listo))
    const error = await falla(ErrorConexion, () => {}, { baseUrl: `http://127.0.0.1:${port}` })
    expect(error.message).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}.*ECONNREFUSED`))
  })

  it.each([
    ['no answer', () => {}],
    [
      'a body that never ends',
      (res: ServerResponse) => res.writeHead(200, { 'Content-Type': 'application/json' }).write('{'),
    ],
    ['an error whose body never ends', (res: ServerResponse) => res.writeHead(500).write('{')],
  ])('gives up on %s, and hangs up', async (_, respuesta) => {
    let colgada: Promise<unknown> | undefined
    const error = await falla(
      ErrorTiempo,
      (res) => {
        colgada = new Promise((listo) => res.once('close', listo))
        respuesta(res)
      },
      { tiempoLimite: 60 },
    )
    expect(error).toBeInstanceOf(ErrorConexion)
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 60, message: expect.stringContaining('60 ms') })
    await colgada
  })

  it('gives up on a fetch that ignores the signal', async () => {
    await falla(ErrorTiempo, () => {}, { tiempoLimite: 30, fetch: () => new Promise(() => {}) })
  })

  it('waits for a slow answer within the time, and without end if asked', async () => {
    contestar = (res) => setTimeout(() => json(res, 200, GUIA), 80)
    expect(
      await Promise.all(
        [cliente({ tiempoLimite: 5000 }), cliente({ tiempoLimite: Infinity }), cliente({ tiempoLimite: 2 ** 40 })].map(
          (api) => api.guias.obtener('A'),
        ),
      ),
    ).toEqual([GUIA, GUIA, GUIA])
  })
})

describe('construction', () => {
  it.each([
    ['no key', { llave: '' }, 'Falta la llave'],
    ['an undefined key', { llave: undefined }, 'Falta la llave'],
    ['a key with a line inside', { llave: 'guia_test_abc\nsecreto' }, 'cópiela de nuevo'],
    ['an address without scheme', { baseUrl: 'guias.ejemplo.com' }, 'baseUrl'],
    ['another scheme', { baseUrl: 'ftp://guias.ejemplo.com' }, 'https://'],
    ['credentials', { baseUrl: 'https://u:secreto@guias.ejemplo.com' }, 'usuario'],
    ['a query', { baseUrl: 'https://guias.ejemplo.com?a=1' }, 'baseUrl'],
    ['the prefix', { baseUrl: 'https://guias.ejemplo.com/api/v1/' }, 'sin /api/v1'],
    ['no time', { tiempoLimite: 0 }, 'tiempoLimite'],
    ['not a time', { tiempoLimite: Number.NaN }, 'tiempoLimite'],
  ])('refuses %s', (_, opciones, dice) => {
    let error: unknown
    try {
      cliente(opciones as Partial<OpcionesDeGuias>)
    } catch (e) {
      error = e
    }
    expect(error).toBeInstanceOf(ErrorGuias)
    expect((error as Error).message).toContain(dice)
    expect(inspect(error)).not.toContain('secreto')
  })

  it('refuses being built from nothing', () => {
    expect(() => new Guias()).toThrow(ErrorGuias)
  })

  it('never shows the key', async () => {
    const api = cliente()
    const errores = [
      await falla(ErrorConexion, (res) => res.destroy()),
      await falla(ErrorRespuesta, texto(200, '<html>')),
      await falla(ErrorNoAutenticado, siempre(401, problema(401, 'no_autenticado'))),
    ]
    for (const valor of [api, api.guias, ...errores]) {
      expect(inspect(valor, { depth: 10, showHidden: true })).not.toContain('secreto')
      expect(JSON.stringify(valor)).not.toContain('secreto')
    }
  })
})

describe('the package', () => {
  const require = createRequire(import.meta.url)
  const leer = (archivo: string) => readFileSync(new URL(`../sdk/${archivo}`, import.meta.url), 'utf8')
  const codigo = (archivo: string) => leer(archivo).replace(/\/\*[\s\S]*?\*\//g, '')

  it('loads with require too, and has no dependency', async () => {
    const cjs = require('@guias/sdk') as typeof import('@guias/sdk')
    contestar = siempre(200, GUIA)
    expect(await new cjs.Guias({ llave: LLAVE, baseUrl }).guias.obtener('A')).toEqual(GUIA)
    const ajenos = ['dist/index.js', 'dist/index.cjs'].flatMap(
      (archivo) => codigo(archivo).match(/\b(require\(|from ["']|import\().*/g) ?? [],
    )
    expect(ajenos).toEqual([])
  })

  it('has one version, and no any in what it declares', () => {
    const paquete = JSON.parse(leer('package.json')) as { version: string; dependencies?: object }
    expect([VERSION, paquete.dependencies]).toEqual([paquete.version, undefined])
    expect(codigo('dist/index.d.ts').match(/.*\bany\b.*/g) ?? []).toEqual([])
  })
})
