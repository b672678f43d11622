import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import {
  ErrorAbortado,
  ErrorApi,
  ErrorConexion,
  ErrorConflicto,
  type ErrorGuias,
  ErrorLimite,
  ErrorRespuesta,
  ErrorServicio,
  ErrorTiempo,
  ErrorValidacion,
  type GuiaIndividual,
  Guias,
  type OpcionesDeGuias,
  type OpcionesDeSolicitud,
  type Suceso,
} from '@guias/sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

interface Recibida {
  metodo: string
  ruta: string
  cabeceras: IncomingHttpHeaders
  cuerpo: string
  en: number
}
type Contestar = (res: ServerResponse) => unknown

const LLAVE = 'guia_test_abc_secreto'
const GUIA = { guia: '7K3M9QX2A1BV', estado: 'aceptado', secuencia: 1 }
const SIN: GuiaIndividual = {
  telefono: '+50231481676',
  departamento: 'Guatemala',
  municipio: 'Mixco',
  recogida: { nombre: 'Bodega', lat: 14.5, lng: -90.5 },
}
const CON: GuiaIndividual = { ...SIN, external_ref: 'PEDIDO-1' }
const LOTE = { ok: true, creadas: 0, fallidas: 0, resultados: [] }

let recibidas: Recibida[] = []
let sucesos: Suceso[] = []
/** One per request that arrives; the last one for all that follow. */
let guion: Contestar[] = []
let baseUrl = ''

const servidor = createServer((req, res) => {
  let cuerpo = ''
  req.setEncoding('utf8').on('data', (trozo: string) => {
    cuerpo += trozo
  })
  req.on('end', () => {
    recibidas.push({
      metodo: req.method!,
      ruta: req.url!,
      cabeceras: req.headers,
      cuerpo,
      en: performance.now(),
    })
    const contestar = guion.length > 1 ? guion.shift() : guion[0]
    contestar?.(res)
  })
})
beforeAll(async () => {
  await new Promise<void>((listo) => servidor.listen(0, '127.0.0.1', listo))
  baseUrl = `http://127.0.0.1:${(servidor.address() as AddressInfo).port}`
})
beforeEach(() => {
  recibidas = []
  sucesos = []
  // The pauses are of a random length, whose least is nothing.
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(() => {
  servidor.closeAllConnections()
  servidor.close()
})

const cliente = (opciones: OpcionesDeGuias = {}) =>
  new Guias({ llave: LLAVE, baseUrl, tiempoLimite: 60_000, registro: (suceso) => sucesos.push(suceso), ...opciones })
const json =
  (status: number, cuerpo: unknown, cabeceras: Record<string, string> = {}): Contestar =>
  (res) =>
    res
      .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': 'sol-1', ...cabeceras })
      .end(JSON.stringify(cuerpo))
const problema = (status: number, codigo: string, cabeceras?: Record<string, string>) =>
  json(
    status,
    { estado_http: status, codigo, titulo: 'Título', mensaje: 'Haga esto.', errores: [], id_solicitud: 'sol-1' },
    cabeceras,
  )
const bien = json(200, GUIA)
const falla = <T = ErrorGuias>(promesa: PromiseLike<unknown>): Promise<T> =>
  Promise.resolve(promesa).then(
    (valor) => {
      throw new Error(`It did not fail: ${inspect(valor)}`)
    },
    (error) => error,
  )

const colgar: Contestar = () => {}
const aMedias: Contestar = (res) => {
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '500' }).write('{"guia":')
  setTimeout(() => res.destroy(), 10)
}
const lento: Contestar = (res) => res.writeHead(200, { 'Content-Type': 'application/json' }).write('{')
const html: Contestar = (res) =>
  res.writeHead(502, { 'Content-Type': 'text/html' }).end('<html>\n<h1>502 Bad Gateway</h1>')

/** What happens · answer · is what is safe to repeat repeated · is what isn't · what the caller gets in the end. */
const FALLAS: [string, Contestar, boolean, boolean, new (...args: never[]) => ErrorGuias][] = [
  ['the connection reset', (res) => res.destroy(), true, false, ErrorConexion],
  ['half a body', aMedias, true, false, ErrorConexion],
  ['no answer', colgar, true, false, ErrorTiempo],
  ['a body that never ends', lento, true, false, ErrorTiempo],
  ['408', problema(408, 'codigo_de_manana'), true, false, ErrorApi],
  ['500', problema(500, 'error_interno'), true, false, ErrorServicio],
  ['503', problema(503, 'no_disponible', { 'Retry-After': '0' }), true, false, ErrorServicio],
  ['502 of a proxy, in HTML', html, true, false, ErrorRespuesta],
  ['429: it was not attended', problema(429, 'codigo_de_manana'), true, true, ErrorLimite],
  ['429 of a proxy, in HTML', (res) => res.writeHead(429).end('<html>'), true, true, ErrorRespuesta],
  ['a lost race: nothing was done', problema(409, 'carrera_perdida'), true, true, ErrorConflicto],
  ['another conflict', problema(409, 'transicion_invalida'), false, false, ErrorConflicto],
  ['422', problema(422, 'validacion'), false, false, ErrorValidacion],
  ['a page with 200', (res) => res.writeHead(200).end('<html>'), false, false, ErrorRespuesta],
]

type Pedir = (api: Guias, opciones?: OpcionesDeSolicitud) => PromiseLike<unknown>
const lote = (...guias: GuiaIndividual[]) => ({ guias })
const REPETIBLES: Record<string, Pedir> = {
  'guias.obtener': (api, o) => api.guias.obtener('A', {}, o),
  'guias.listar': (api, o) => api.guias.listar({}, o),
  'guias.eventos': (api, o) => api.guias.eventos('A', {}, o),
  'guias.pruebaEntrega': (api, o) => api.guias.pruebaEntrega('A', o),
  'guias.intentos': (api, o) => api.guias.intentos('A', {}, o),
  'guias.etiqueta': (api, o) => api.guias.etiqueta('A', o),
  'guias.etiquetas': (api, o) => api.guias.etiquetas(['A'], o),
  'guias.clavesPublicas': (api, o) => api.guias.clavesPublicas(o),
  'guias.crear with a reference': (api, o) => api.guias.crear(CON, o),
  'guias.crearLote, a reference in each': (api, o) => api.guias.crearLote(lote(CON, CON), o),
  'guias.cancelar': (api, o) => api.guias.cancelar('A', undefined, o),
  'guias.confirmarUbicacion': (api, o) => api.guias.confirmarUbicacion('A', { lat: 1, lng: 2 }, o),
  'eventos.listar': (api, o) => api.eventos.listar({}, o),
  'catalogo.departamentos': (api, o) => api.catalogo.departamentos({}, o),
  'catalogo.municipios': (api, o) => api.catalogo.municipios({ departamento: 'GT-GU' }, o),
  'webhooks.listar': (api, o) => api.webhooks.listar({}, o),
  'webhooks.obtener': (api, o) => api.webhooks.obtener('wh', o),
  'webhooks.cambiar': (api, o) => api.webhooks.cambiar('wh', { estado: 'pausado' }, o),
  'webhooks.eliminar': (api, o) => api.webhooks.eliminar('wh', o),
  'webhooks.ensayarRecuperacion': (api, o) => api.webhooks.ensayarRecuperacion('wh', { desde: '2026-01-01' }, o),
  'webhooks.obtenerRecuperacion': (api, o) => api.webhooks.obtenerRecuperacion('wh', 'rec', o),
  'webhooks.entregas': (api, o) => api.webhooks.entregas('wh', {}, o),
  'webhooks.obtenerEntrega': (api, o) => api.webhooks.obtenerEntrega('wh', 'ent', o),
  'simulador.confirmarUbicacion': (api, o) => api.simulador.confirmarUbicacion('A', undefined, o),
}
const UNA_VEZ: Record<string, Pedir> = {
  'guias.crear without a reference': (api, o) => api.guias.crear(SIN, o),
  'guias.crearLote, one without a reference': (api, o) => api.guias.crearLote(lote(CON, SIN), o),
  'guias.reenviarSolicitud': (api, o) => api.guias.reenviarSolicitud('A', o),
  'webhooks.crear': (api, o) => api.webhooks.crear({ url: 'https://a.ejemplo.com' }, o),
  'webhooks.rotarSecreto': (api, o) => api.webhooks.rotarSecreto('wh', undefined, o),
  'webhooks.probar': (api, o) => api.webhooks.probar('wh', o),
  'webhooks.recuperar': (api, o) => api.webhooks.recuperar('wh', { desde: '2026-01-01' }, o),
  'webhooks.reenviar': (api, o) => api.webhooks.reenviar('wh', 'ent', o),
  'simulador.avanzar': (api, o) => api.simulador.avanzar('A', { estado: 'recolectado' }, o),
}

describe('what is sent again', () => {
  describe.each(FALLAS)('%s', (_, contestar, repetible, siempre, Clase) => {
    // Only what never ends is waited for as short as this.
    const limite = [colgar, lento].includes(contestar) ? { tiempoLimite: 400 } : {}
    it.each([
      ['what is safe to repeat', REPETIBLES['guias.crear with a reference']!, repetible ? 3 : 1],
      ['what is not', UNA_VEZ['guias.crear without a reference']!, siempre ? 3 : 1],
    ])('%s', async (_cual, pedir, veces) => {
      guion = [contestar]
      const error = await falla(pedir(cliente(limite)))
      expect(error).toBeInstanceOf(Clase)
      expect([recibidas.length, error.intentos]).toEqual([veces, veces])
      expect(recibidas.map(({ cabeceras }) => cabeceras['x-guias-reintento'])).toEqual(
        [undefined, '1', '2'].slice(0, veces),
      )
      expect(new Set(recibidas.map(({ metodo, ruta, cuerpo }) => metodo + ruta + cuerpo)).size).toBe(1)
      expect(sucesos.map(({ tipo, intento }) => [tipo, intento])).toEqual(
        Array.from({ length: veces }, (_nada, i) => [i + 1 < veces ? 'reintento' : 'falla', i + 1]),
      )
      if (!repetible && !siempre) return
      guion = [contestar, json(201, GUIA)]
      recibidas = []
      const otra = pedir(cliente(limite))
      if (veces === 3) expect(await otra).toEqual(GUIA)
      else await falla(otra)
      expect(recibidas).toHaveLength(veces === 3 ? 2 : 1)
    })
  })

  it.each(Object.entries(REPETIBLES))('%s: yes', async (_, pedir) => {
    guion = [problema(503, 'no_disponible')]
    expect(await falla(pedir(cliente()))).toMatchObject({ name: 'ErrorServicio', intentos: 3 })
    expect(recibidas).toHaveLength(3)
  })

  it.each(Object.entries(UNA_VEZ))('%s: never, but when it was refused', async (_, pedir) => {
    for (const contestar of [problema(503, 'no_disponible'), html, (res: ServerResponse) => res.destroy()]) {
      guion = [contestar]
      recibidas = []
      await falla(pedir(cliente({ reintentos: 5 })))
      expect(recibidas).toHaveLength(1)
    }
    guion = [problema(429, 'codigo_de_manana')]
    expect(await falla(pedir(cliente()))).toMatchObject({ name: 'ErrorLimite', intentos: 3 })
  })

  it('is every method there is', () => {
    const api = cliente()
    const metodos = (['guias', 'eventos', 'catalogo', 'webhooks', 'simulador'] as const).flatMap((recurso) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(api[recurso])).map((metodo) => `${recurso}.${metodo}`),
    )
    const probados = [...Object.keys(REPETIBLES), ...Object.keys(UNA_VEZ)].map((cual) => cual.split(/[ ,]/)[0])
    // In requests of its own: test/sdk/muchas.test.ts.
    const aparte = ['guias.crearMuchas']
    expect(metodos.filter((uno) => !uno.endsWith('.constructor') && !aparte.includes(uno)).sort()).toEqual(
      [...new Set(probados)].sort(),
    )
  })

  it('whatever it is, where nobody listened: nothing can have arrived', async () => {
    const libre = createServer().listen(0, '127.0.0.1')
    await new Promise((listo) => libre.once('listening', listo))
    const { port } = libre.address() as AddressInfo
    await new Promise((listo) => libre.close(listo))
    const api = cliente({ baseUrl: `http://127.0.0.1:${port}` })
    const error = await falla<ErrorConexion>(api.guias.crear(SIN))
    expect([error.name, error.intentos, String(error.message)]).toEqual([
      'ErrorConexion',
      3,
      expect.stringContaining('ECONNREFUSED'),
    ])
  })

  it('as often as is said, by the client or by the call', async () => {
    guion = [problema(500, 'error_interno')]
    expect((await falla(cliente({ reintentos: 0 }).guias.obtener('A'))).intentos).toBe(1)
    expect((await falla(cliente({ reintentos: 0 }).guias.obtener('A', {}, { reintentos: 4 }))).intentos).toBe(5)
    expect((await falla(cliente().guias.obtener('A', {}, { reintentos: 0 }))).intentos).toBe(1)
  })

  it('what has a reference of the SDK’s own, the same each time', async () => {
    guion = [(res) => res.destroy(), html, json(201, GUIA)]
    const api = cliente({ referenciaAutomatica: true })
    await api.guias.crear(SIN)
    const referencias = recibidas.map(({ cuerpo }) => JSON.parse(cuerpo).external_ref)
    expect(referencias).toHaveLength(3)
    expect(referencias[0]).toMatch(/^auto-[0-9a-f]{32}$/)
    expect(new Set(referencias).size).toBe(1)
    guion = [html, json(200, LOTE)]
    recibidas = []
    await api.guias.crearLote(lote(SIN, CON, SIN))
    const [una, otra] = recibidas.map(({ cuerpo }) => cuerpo)
    expect(una).toBe(otra)
    const [a, b, c] = JSON.parse(una!).guias.map((guia: GuiaIndividual) => guia.external_ref)
    expect([b, a === c, a === referencias[0]]).toEqual(['PEDIDO-1', false, false])
    expect('external_ref' in SIN).toBe(false)
  })
})

describe('the pause', () => {
  const pausas = async (n: number, cabeceras?: Record<string, string>) => {
    guion = [problema(503, 'no_disponible', cabeceras)]
    await falla(cliente({ reintentos: n, plazoTotal: 60_000 }).guias.obtener('A'))
    return sucesos.map(({ esperaMs }) => esperaMs)
  }

  it('is random over a width that doubles, up to 8 s', async () => {
    vi.mocked(Math.random).mockReturnValue(0.01)
    expect(await pausas(4)).toEqual([5, 10, 20, 40, null])
    sucesos = []
    vi.mocked(Math.random).mockReturnValue(0.0001)
    expect((await pausas(9)).at(-2)).toBe(Math.round(0.8))
  })

  it.each<Record<string, string>>([
    { 'Retry-After': '1' },
    // A date is of the clock that wrote it, however wrong that goes.
    { 'Retry-After': 'Fri, 20 Nov 2020 10:00:01 GMT', Date: 'Fri, 20 Nov 2020 10:00:00 GMT' },
  ])('is at least what is asked for: %j', async (cabeceras) => {
    guion = [problema(503, 'no_disponible', cabeceras), bien]
    await cliente().guias.obtener('A')
    expect(sucesos[0]!.esperaMs).toBe(1000)
    expect(recibidas[1]!.en - recibidas[0]!.en).toBeGreaterThanOrEqual(990)
  })

  it.each([
    ['61', 61],
    ['Fri, 01 Jan 2100 00:00:00 GMT', expect.closeTo(2_300_000_000, -9)],
  ])('is none when it asks for more than a minute (%s): the caller is told', async (espera, segundos) => {
    guion = [problema(429, 'codigo_de_manana', { 'Retry-After': espera })]
    const error = await falla<ErrorLimite>(cliente().guias.obtener('A'))
    expect([error.intentos, error.esperarSegundos]).toEqual([1, segundos])
  })

  it.each(['-1', 'pronto', '1.5', '2027-01-01', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
    'is the usual one for Retry-After: %s',
    async (espera) => {
      guion = [problema(503, 'no_disponible', { 'Retry-After': espera }), bien]
      await cliente().guias.obtener('A')
      expect(sucesos[0]!.esperaMs).toBe(0)
    },
  )
})

describe('time', () => {
  it('of each attempt, of the client or of the call', async () => {
    guion = [colgar]
    const error = await falla<ErrorTiempo>(cliente().guias.obtener('A', {}, { tiempoLimite: 40 }))
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 40, intentos: 3 })
    expect(error.message).toContain('40 ms')
  })

  it('of all of it: it cuts the attempt that runs, and begins none that would end after it', async () => {
    guion = [html, html, colgar]
    const inicio = performance.now()
    const error = await falla<ErrorTiempo>(cliente({ tiempoLimite: 5_000 }).guias.obtener('A', {}, { plazoTotal: 120 }))
    expect(performance.now() - inicio).toBeLessThan(1_500)
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 120, intentos: 3 })
    expect(error.message).toContain('plazoTotal')

    guion = [problema(503, 'no_disponible', { 'Retry-After': '5' })]
    expect(await falla(cliente({ plazoTotal: 2_000 }).guias.obtener('A'))).toMatchObject({ status: 503, intentos: 1 })
  })

  it.each([
    ['tiempoLimite', 0],
    ['plazoTotal', Number.NaN],
    ['reintentos', -1],
    ['reintentos', 'dos'],
  ])('refuses %s: %s, by the client and by the call', async (nombre, valor) => {
    const mala = { [nombre]: valor } as never
    expect(() => cliente(mala)).toThrow(nombre)
    expect((await falla(cliente().guias.obtener('A', {}, mala))).message).toContain(nombre)
    expect(recibidas).toEqual([])
  })
})

describe('signal', () => {
  it('aborted before: nothing is sent', async () => {
    const error = await falla(cliente().guias.obtener('A', {}, { signal: AbortSignal.abort('ya no') }))
    expect(error).toBeInstanceOf(ErrorAbortado)
    expect([error.name, error.cause, error.intentos, recibidas.length]).toEqual(['ErrorAbortado', 'ya no', 0, 0])
  })

  it('aborts the request that runs, and hangs up', async () => {
    const corte = new AbortController()
    let colgada: Promise<unknown> | undefined
    guion = [
      (res) => {
        colgada = new Promise((listo) => res.once('close', listo))
        corte.abort()
      },
    ]
    const error = await falla(cliente({ tiempoLimite: 5_000 }).guias.crear(CON, { signal: corte.signal }))
    expect([error.name, error.intentos, (error.cause as Error).name]).toEqual(['ErrorAbortado', 1, 'AbortError'])
    await colgada
  })

  it('aborts the wait between two', async () => {
    const corte = new AbortController()
    guion = [problema(503, 'no_disponible', { 'Retry-After': '30' })]
    const api = cliente({ registro: ({ tipo }) => tipo === 'reintento' && setTimeout(() => corte.abort(), 20) })
    const error = await falla(api.guias.obtener('A', {}, { signal: corte.signal }))
    expect([error.name, error.intentos]).toEqual(['ErrorAbortado', 1])
  })

  it('leaves nothing behind on a signal that lives long', async () => {
    const corte = new AbortController()
    const poner = vi.spyOn(corte.signal, 'addEventListener')
    const quitar = vi.spyOn(corte.signal, 'removeEventListener')
    guion = [html, bien]
    await cliente().guias.obtener('A', {}, { signal: corte.signal })
    expect(poner.mock.calls.length).toBe(3)
    expect(quitar.mock.calls.map(([, escucha]) => escucha)).toEqual(poner.mock.calls.map(([, escucha]) => escucha))
  })

  it('ends a walk over pages', async () => {
    const corte = new AbortController()
    guion = [json(200, { datos: [1, 2], cursor_siguiente: 'x' })]
    const vistos: unknown[] = []
    const error = await falla(
      (async () => {
        for await (const uno of cliente().guias.listar({}, { signal: corte.signal })) {
          vistos.push(uno)
          corte.abort()
        }
      })(),
    )
    expect([error.name, vistos]).toEqual(['ErrorAbortado', [1, 2]])
  })
})

describe('headers', () => {
  it('of the call are added; ours stay', async () => {
    guion = [bien]
    const api = cliente({ cabeceras: { 'X-De-Siempre': 'a', 'X-Ambas': 'a' } })
    await api.guias.crear(CON, {
      cabeceras: { 'x-ambas': 'b', Authorization: 'Bearer otra', 'content-type': 'text/plain', 'X-Rastro': 'c' },
    })
    expect(recibidas[0]!.cabeceras).toMatchObject({
      'x-de-siempre': 'a',
      'x-rastro': 'c',
      authorization: `Bearer ${LLAVE}`,
      'content-type': 'application/json',
    })
  })

  it('that cannot be sent are an error before anything is', async () => {
    const error = await falla(cliente().guias.obtener('A', {}, { cabeceras: { 'mala cabecera': 'x' } }))
    expect([error.name, error.message, recibidas.length]).toEqual(['ErrorGuias', expect.stringContaining('armar'), 0])
  })
})

describe('registro', () => {
  it('gets each attempt, and nothing that is secret or of a person', async () => {
    guion = [html, problema(503, 'no_disponible'), json(200, { datos: [], cursor_siguiente: null })]
    await cliente().guias.listar({ external_ref: 'PEDIDO-1' })
    expect(sucesos.map(({ ms, ...resto }) => resto)).toEqual([
      {
        tipo: 'reintento',
        metodo: 'GET',
        ruta: '/api/v1/guias',
        intento: 1,
        status: 502,
        idSolicitud: null,
        error: 'ErrorRespuesta',
        codigo: null,
        esperaMs: 0,
      },
      {
        tipo: 'reintento',
        metodo: 'GET',
        ruta: '/api/v1/guias',
        intento: 2,
        status: 503,
        idSolicitud: 'sol-1',
        error: 'ErrorServicio',
        codigo: 'no_disponible',
        esperaMs: 0,
      },
      {
        tipo: 'respuesta',
        metodo: 'GET',
        ruta: '/api/v1/guias',
        intento: 3,
        status: 200,
        idSolicitud: 'sol-1',
        error: null,
        codigo: null,
        esperaMs: null,
      },
    ])
    expect(sucesos.every(({ ms }) => Number.isInteger(ms) && ms >= 0)).toBe(true)
    guion = [problema(422, 'validacion')]
    await falla(cliente().guias.crear(CON, { cabeceras: { 'X-Otro': 'privado' } }))
    expect(inspect(sucesos, { depth: 9 })).not.toMatch(/secreto|31481676|PEDIDO|privado|Mixco/)
  })

  it('that throws disturbs nobody, and that is no function is refused', async () => {
    guion = [bien]
    const api = cliente({
      registro: () => {
        throw new Error('no')
      },
    })
    expect(await api.guias.obtener('A')).toEqual(GUIA)
    expect(() => cliente({ registro: console as never })).toThrow('registro')
  })
})

describe('the environment', () => {
  it('gives the key and the address that are not passed', async () => {
    guion = [bien]
    vi.stubEnv('GUIAS_LLAVE', ' guia_test_del_entorno\n')
    vi.stubEnv('GUIAS_BASE_URL', `${baseUrl}/`)
    try {
      await new Guias().guias.obtener('A')
      await new Guias({ llave: LLAVE, baseUrl: undefined }).guias.obtener('A')
      expect(recibidas.map(({ cabeceras }) => cabeceras.authorization)).toEqual([
        'Bearer guia_test_del_entorno',
        `Bearer ${LLAVE}`,
      ])
      vi.stubEnv('GUIAS_BASE_URL', '')
      expect(() => new Guias({ llave: '' })).toThrow('Falta la llave')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('which is a page gets no key of real guides, unless it is said', async () => {
    vi.stubGlobal('document', {})
    try {
      expect(() => new Guias({ llave: 'guia_live_abc_secreto' })).toThrow('permitirNavegador')
      expect(new Guias({ llave: 'guia_live_abc_secreto', permitirNavegador: true })).toBeInstanceOf(Guias)
      expect(new Guias({ llave: LLAVE })).toBeInstanceOf(Guias)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
