import { createHmac, randomBytes } from 'node:crypto'
import {
  type EntregaDeWebhook,
  ErrorConflicto,
  ErrorNoEncontrado,
  ErrorParametro,
  ErrorValidacion,
  Guias,
} from '@guias/sdk'
import { Webhook as Estandar } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { type Direccion, type Resolver, resolverDelSistema } from '../../server/salida/destino.ts'
import { VENTANA } from '../../server/webhooks/entregasPendientes.ts'
import { type Comercio, MASTER_KEY, usarEntorno } from '../entorno.ts'
import { COMPLETO, hasta, sinDestino, unaGuia } from '../fabricas.ts'
import { limpiarAhora } from './limpiar.ts'
import { contestar, type Receptor, type Recibido, retener, usarReceptores } from './receptor.ts'

/** Names that exist for this file alone; what isn't here doesn't resolve. */
const NOMBRES: Record<string, string[]> = {
  'tienda.ejemplo.com': ['8.8.8.8', '2606:4700:4700::1111'],
  'interno.ejemplo.com': ['10.0.0.7'],
  'mixto.ejemplo.com': ['8.8.8.8', '127.0.0.1'],
  'metadatos.ejemplo.com': ['169.254.169.254'],
}
const resolver: Resolver = async (nombre) => {
  if (nombre === 'localhost') return resolverDelSistema(nombre)
  if (!NOMBRES[nombre]) throw Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })
  return NOMBRES[nombre].map((address): Direccion => ({ address, family: address.includes(':') ? 6 : 4 }))
}

const entorno = usarEntorno({ resolver })
const nuevoReceptor = usarReceptores()

const ahora = () => entorno.reloj().getTime()
const adelantar = (ms: number) => entorno.adelantar(ms)
const HORA = 3_600_000
const limpiar = () => limpiarAhora(entorno)

type Api = Comercio['api']
type Datos = Omit<Parameters<Api['webhooks']['crear']>[0], 'url'>

/** Every secret that was shown, for the last test. */
const secretos: string[] = []
const crear = async ({ api }: Pick<Comercio, 'api'>, { url }: Pick<Receptor, 'url'>, datos: Datos = {}) => {
  const creado = await api.webhooks.crear({ url, ...datos })
  secretos.push(creado.secreto)
  return creado
}
const rotar = async (api: Api, webhook: string, horas?: number) => {
  const rotado = await api.webhooks.rotarSecreto(
    webhook,
    horas === undefined ? undefined : { solapamiento_horas: horas },
  )
  secretos.push(rotado.secreto)
  return rotado
}
/** A merchant with an endpoint. */
const nuevo = async (responder?: Receptor['responder'], datos?: Datos) => {
  const comercio = await entorno.nuevoComercio()
  const receptor = await nuevoReceptor(responder)
  return { comercio, api: comercio.api, receptor, ...(await crear(comercio, receptor, datos)) }
}
/** An address where nobody listens, and nothing is ever sent to. */
let serie = 0
const nadie = () => ({ url: `http://127.0.0.1:9/nadie/${++serie}` })
const entregaDe = (webhook: string, guia: string, secuencia = 1) => `ent_${webhook.slice(3)}_${guia}_${secuencia}`
const leerCodigos = async <N extends string>(nombre: N, lista: AsyncIterable<Record<N, string>>) => {
  const leidos: string[] = []
  for await (const { [nombre]: codigo } of lista) leidos.push(codigo)
  return leidos
}
const terminada = (api: Api, webhook: string, entrega: string, intentos = 1) =>
  hasta(async () => {
    const leida = await api.webhooks.obtenerEntrega(webhook, entrega)
    return leida.intentos >= intentos && leida.estado !== 'pendiente' && leida
  })
const tras = (api: Api, webhook: string, entrega: string, intentos: number) =>
  hasta(async () => {
    const leida = await api.webhooks.obtenerEntrega(webhook, entrega)
    return leida.intentos >= intentos && leida
  })
const falla = (promesa: PromiseLike<unknown>) =>
  promesa.then(
    () => {
      throw new Error('it was accepted')
    },
    (error) => error,
  )
const codigoDe = async (promesa: PromiseLike<unknown>) => (await falla(promesa)).codigo

describe('POST /api/v1/webhooks', () => {
  it('creates an endpoint for every type of event and shows its secret once', async () => {
    const comercio = await entorno.nuevoComercio()
    const { url } = await nuevoReceptor()
    const { datos: creado, status, cabeceras } = await comercio.api.webhooks.crear({ url }).conRespuesta()
    secretos.push(creado.secreto)
    expect(status).toBe(201)
    expect(cabeceras.get('location')).toBe(`/api/v1/webhooks/${creado.webhook}`)
    const { secreto, ...resto } = creado
    expect(secreto).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(resto).toEqual({
      webhook: expect.stringMatching(/^wh_[0-9A-Z]{12}$/),
      url,
      tipos: ['*'],
      descripcion: null,
      estado: 'activo',
      motivo: null,
      estado_en: resto.creado_en,
      fallas: null,
      secretos: [{ version: 1, creado_en: resto.creado_en, vence_en: null }],
      modo: 'test',
      creado_en: expect.any(String),
      actualizado_en: resto.creado_en,
    })
    const ruta = cabeceras.get('location')!
    expect((await entorno.pedir('GET', ruta, { llave: comercio.llave })).cuerpo).toEqual(resto)
    expect((await comercio.api.webhooks.listar()).datos).toEqual([resto])
  })

  it('keeps the types and the description, and the address in its normal form', async () => {
    const { api } = await entorno.nuevoComercio()
    const tipos: NonNullable<Datos['tipos']> = ['guia.*', 'ubicacion.confirmada', 'webhook.deshabilitado']
    const creado = await crear(
      { api },
      { url: 'HTTPS://Tienda.Ejemplo.COM:443/Guías?a=1' },
      { tipos, descripcion: 'Tienda en línea ✓' },
    )
    expect(creado).toMatchObject({
      url: 'https://tienda.ejemplo.com/Gu%C3%ADas?a=1',
      tipos,
      descripcion: 'Tienda en línea ✓',
    })
    // The same address, written otherwise, is the same.
    expect(await codigoDe(api.webhooks.crear({ url: 'https://tienda.ejemplo.com/Gu%C3%ADas?a=1' }))).toBe(
      'webhook_repetido',
    )
  })

  it('refuses an address twice, and names the endpoint that has it', async () => {
    const comercio = await entorno.nuevoComercio()
    const destino = nadie()
    const { webhook } = await crear(comercio, destino)
    const error = await falla(comercio.api.webhooks.crear(destino))
    expect(error).toBeInstanceOf(ErrorConflicto)
    expect([error.status, error.codigo, error.message]).toEqual([
      409,
      'webhook_repetido',
      expect.stringContaining(webhook),
    ])
    // Another merchant's, and another mode's, is another matter.
    await crear(await entorno.nuevoComercio(), destino)
    expect(await leerCodigos('webhook', comercio.api.webhooks.listar())).toEqual([webhook])
  })

  it('takes exactly one of many equal ones at once', async () => {
    const { api } = await entorno.nuevoComercio()
    for (let ronda = 0; ronda < 5; ronda++) {
      const destino = nadie()
      const codigos = await Promise.all(
        Array.from({ length: ronda === 0 ? 10 : 2 }, () =>
          api.webhooks.crear(destino).then(
            () => '201',
            ({ codigo }) => codigo,
          ),
        ),
      )
      expect(codigos.filter((codigo) => codigo === '201')).toHaveLength(1)
      expect(codigos.filter((codigo) => codigo === 'webhook_repetido')).toHaveLength(codigos.length - 1)
    }
    expect(await leerCodigos('webhook', api.webhooks.listar())).toHaveLength(5)
  })

  it('takes twenty per mode, and another when one is gone', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    for (let i = 0; i < 20; i++) await crear(comercio, nadie())
    const error = await falla(api.webhooks.crear(nadie()))
    expect([error.status, error.codigo]).toEqual([409, 'limite_de_webhooks'])
    const viva = new Guias({ llave: await entorno.nuevaLlave(comercio, { modo: 'live' }), baseUrl: entorno.url })
    await crear({ api: viva }, { url: 'https://tienda.ejemplo.com/' })
    const [primero] = await leerCodigos('webhook', api.webhooks.listar())
    await api.webhooks.eliminar(primero!)
    await crear(comercio, nadie())
    expect(await codigoDe(api.webhooks.crear(nadie()))).toBe('limite_de_webhooks')
  })

  it('leaves twenty of thirty at once', async () => {
    for (let ronda = 0; ronda < 5; ronda++) {
      const { api } = await entorno.nuevoComercio()
      const codigos = await Promise.all(
        Array.from({ length: 30 }, () =>
          api.webhooks.crear(nadie()).then(
            () => '201',
            ({ codigo }) => codigo,
          ),
        ),
      )
      expect((await leerCodigos('webhook', api.webhooks.listar())).length).toBe(20)
      expect(codigos.filter((codigo) => codigo === '201')).toHaveLength(20)
      expect(codigos.filter((codigo) => codigo === 'limite_de_webhooks')).toHaveLength(10)
    }
  })

  const HOSTILES = [
    'http://tienda.ejemplo.com/',
    'ftp://tienda.ejemplo.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'tienda.ejemplo.com',
    '//tienda.ejemplo.com/',
    'https:tienda.ejemplo.com',
    'https:\\\\tienda.ejemplo.com\\',
    'https://',
    'https://usuario:clave@tienda.ejemplo.com/',
    'https://tienda.ejemplo.com@127.0.0.1/',
    'https://@tienda.ejemplo.com/',
    'https://tienda.ejemplo.com/#fragmento',
    'https://tienda.ejemplo.com:22/',
    'https://tienda.ejemplo.com:80/',
    'https://tienda.ejemplo.com:1023/',
    'https://tienda.ejemplo.com:0/',
    'https://tienda.ejemplo.com:65536/',
    'https://tienda.ejemplo.com/ espacio',
    ' https://tienda.ejemplo.com/',
    'https://tienda.ejemplo.com/\r\nX-Otra: 1',
    'https://tienda.ejemplo.com/\u202egro',
    'https://tien\u00adda.ejemplo.com/',
    'https://localhost/',
    'https://localhost:8443/',
    'https://LOCALHOST./',
    'https://foo.localhost/',
    'https://impresora.local/',
    'https://db.internal/',
    'https://router.home.arpa/',
    'https://algo.test/',
    'https://algo.invalid/',
    'https://algo.onion/',
    'https://intranet/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://①②⑦.0.0.1/',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://168.63.129.16/',
    'https://192.0.2.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[ff02::1]/',
    'https://interno.ejemplo.com/',
    'https://mixto.ejemplo.com/',
    'https://metadatos.ejemplo.com/',
    'https://-mal-.ejemplo.com/',
    `https://${'a'.repeat(64)}.ejemplo.com/`,
    `https://tienda.ejemplo.com/${'ñ'.repeat(1_000)}`,
    'http://10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://192.168.1.1:8080/',
  ]

  it('refuses addresses that lead elsewhere than to a public https server', async () => {
    const { api } = await entorno.nuevoComercio()
    const { webhook, ...antes } = await api.webhooks.crear(nadie())
    secretos.push(antes.secreto)
    for (const url of HOSTILES) {
      for (const pedir of [() => api.webhooks.crear({ url }), () => api.webhooks.cambiar(webhook, { url })]) {
        const error = await falla(pedir())
        expect([url, error.status, error.codigo]).toEqual([url, 422, 'url_no_permitida'])
        expect(error.errores).toMatchObject([{ campo: '/url', codigo: 'valor_no_admitido' }])
      }
    }
    expect(await api.webhooks.listar()).toMatchObject({ datos: [{ webhook, url: antes.url }] })
  })

  it('refuses a name that does not resolve', async () => {
    const { api } = await entorno.nuevoComercio()
    const error = await falla(api.webhooks.crear({ url: 'https://no-existe.ejemplo.com/' }))
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect([error.status, error.codigo, error.errores[0].campo]).toEqual([422, 'url_no_resuelve', '/url'])
    expect(error.message).toContain('no-existe.ejemplo.com')
  })

  it('lets http on loopback pass for test keys alone', async () => {
    const { api } = await entorno.nuevoComercio()
    for (const url of [
      'http://127.0.0.1:9/',
      'http://localhost:9/',
      'http://[::1]:9/',
      'http://127.0.0.1/',
      'http://127.8.8.8:22/',
    ]) {
      await crear({ api }, { url })
    }
    const { api: viva } = await entorno.nuevoComercio('live')
    for (const url of ['http://127.0.0.1:9/', 'http://localhost:9/', 'http://[::1]:9/', 'https://localhost/']) {
      const error = await falla(viva.webhooks.crear({ url }))
      expect([url, error.status, error.codigo]).toEqual([url, 422, 'url_no_permitida'])
    }
    expect((await viva.webhooks.listar()).datos).toEqual([])
    expect(await crear({ api: viva }, { url: 'https://tienda.ejemplo.com/' })).toMatchObject({ modo: 'live' })
  })

  it.each<[string, object, string]>([
    ['a type that doesn’t exist', { tipos: ['guia.volando'] }, '/tipos/0'],
    ['a wildcard that doesn’t exist', { tipos: ['*', 'guia.en_*'] }, '/tipos/1'],
    ['no type', { tipos: [] }, '/tipos'],
    ['a type twice', { tipos: ['guia.*', 'guia.*'] }, '/tipos'],
    ['types that are no list', { tipos: 'guia.*' }, '/tipos'],
    ['null types', { tipos: null }, '/tipos'],
    ['an empty description', { descripcion: '' }, '/descripcion'],
    ['an invisible description', { descripcion: '\u200b' }, '/descripcion'],
    ['two lines', { descripcion: 'a\nb' }, '/descripcion'],
    ['a long description', { descripcion: 'a'.repeat(201) }, '/descripcion'],
    ['a null description', { descripcion: null }, '/descripcion'],
    ['an unknown property', { secreto: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }, '/secreto'],
    ['a number for an address', { url: 7 }, '/url'],
    ['an empty address', { url: '' }, '/url'],
    ['a long address', { url: `https://tienda.ejemplo.com/${'a'.repeat(2_048)}` }, '/url'],
    ['no address', { url: undefined }, '/url'],
  ])('refuses %s', async (_que, datos, campo) => {
    const { api } = await entorno.nuevoComercio()
    const error = await falla(api.webhooks.crear({ ...nadie(), ...datos } as never))
    expect([error.status, error.codigo]).toEqual([422, 'validacion'])
    expect(error.errores.map((una: { campo: string }) => una.campo)).toContain(campo)
    expect((await api.webhooks.listar()).datos).toEqual([])
  })
})

describe('what cannot be read', () => {
  it('is 400 in every operation, and changes nothing', async () => {
    const { comercio, api, webhook } = await nuevo()
    const antes = await api.webhooks.obtener(webhook)
    const { cuerpo: prueba } = await entorno.pedir('POST', `/api/v1/webhooks/${webhook}/probar`, {
      llave: comercio.llave,
    })
    await terminada(api, webhook, prueba.entrega)
    const pedir = async (metodo: string, ruta: string, crudo?: string) => {
      const { status, cuerpo } = await entorno.pedir(metodo, `/api/v1/webhooks${ruta}`, {
        llave: comercio.llave,
        ...(crudo === undefined ? {} : { crudo, cabeceras: { 'Content-Type': 'application/json' } }),
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
      ['GET', `/${webhook}/entregas`],
      ['GET', `/${webhook}/entregas/${prueba.entrega}`],
      ['POST', `/${webhook}/entregas/${prueba.entrega}/reenviar`],
      ['GET', `/${webhook}/recuperaciones/rec_000000000000`],
    ] as const) {
      expect(await pedir(metodo, `${ruta}?inventado=1`)).toBe('parametro_invalido')
    }
    for (const consulta of ['limite=0', 'limite=101', 'limite=x', 'limite=1&limite=2'])
      for (const ruta of ['', `/${webhook}/entregas`]) await pedir('GET', `${ruta}?${consulta}`)
    for (const consulta of ['creado_desde=ayer', 'creado_hasta=2026-02-30T00:00:00Z', 'tipo=', 'guia='])
      await pedir('GET', `/${webhook}/entregas?${consulta}`)
    for (const estado of ['volando', 'constructor', '__proto__', "pendiente'"])
      await pedir('GET', `/${webhook}/entregas?estado=${encodeURIComponent(estado)}`)
    for (const cursor of ['x', 'AQx5cJrQkM8b0mQ2cGf1nY3o'])
      for (const ruta of ['', `/${webhook}/entregas`])
        expect(await pedir('GET', `${ruta}?cursor=${cursor}`)).toBe('cursor_invalido')
    expect(await api.webhooks.obtener(webhook)).toEqual(antes)
    expect(await leerCodigos('entrega', api.webhooks.entregas(webhook))).toEqual([prueba.entrega])
  })
})

describe('GET /api/v1/webhooks', () => {
  it('pages oldest first, without doubles or gaps while some are made and deleted', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const creados: string[] = []
    for (let i = 0; i < 10; i++) creados.push((await crear(comercio, nadie())).webhook)
    const leidos: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { datos, cursor_siguiente } = await api.webhooks.listar({ limite: 3, ...(cursor ? { cursor } : {}) })
      leidos.push(...datos.map(({ webhook }) => webhook))
      cursor = cursor_siguiente
      if (leidos.length === 3) {
        creados.push((await crear(comercio, nadie())).webhook)
        await api.webhooks.eliminar(creados[0]!)
      }
    }
    expect(leidos).toEqual(creados)
    // Neither another merchant's cursor nor another operation's.
    const otro = await entorno.nuevoComercio()
    const { cursor_siguiente } = await api.webhooks.listar({ limite: 1 })
    expect(await codigoDe(otro.api.webhooks.listar({ cursor: cursor_siguiente! }))).toBe('cursor_invalido')
    expect(await codigoDe(api.guias.listar({ cursor: cursor_siguiente! }))).toBe('cursor_invalido')
  })
})

describe('what is unknown', () => {
  it('is 404 in every operation, and so is another merchant’s, another mode’s and what was deleted', async () => {
    const { api, webhook: propio } = await nuevo()
    const { entrega: suya } = await api.webhooks.probar(propio)
    const eliminado = await nuevo()
    const { entrega: prueba } = await eliminado.api.webhooks.probar(eliminado.webhook)
    const { recuperacion } = await eliminado.api.webhooks.recuperar(eliminado.webhook, {
      desde: new Date(Date.now() - 86_400_000).toISOString(),
    })
    await eliminado.api.webhooks.eliminar(eliminado.webhook)
    const viva = new Guias({
      llave: await entorno.nuevaLlave(eliminado.comercio, { modo: 'live' }),
      baseUrl: entorno.url,
    })
    const casos: [Api, string, string, string][] = [
      [eliminado.api, eliminado.webhook, prueba, recuperacion],
      [eliminado.api, propio, suya, recuperacion],
      [viva, eliminado.webhook, prueba, recuperacion],
      [api, 'wh_000000000000', 'ent_000000000000_000000000000_1', 'rec_000000000000'],
      [api, 'ñ%00/../x', '¿?', '%'],
      [api, 'x'.repeat(64), 'x'.repeat(80), 'x'.repeat(64)],
    ]
    for (const [suyo, webhook, entrega, recuperado] of casos) {
      const pedidos: [string, () => PromiseLike<unknown>][] = [
        ['webhook_desconocido', () => suyo.webhooks.obtener(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.cambiar(webhook, { descripcion: 'x' })],
        // Nobody learns from the answer about an address whether the endpoint exists.
        ['webhook_desconocido', () => suyo.webhooks.cambiar(webhook, { url: 'https://no-existe.ejemplo.com/' })],
        ['webhook_desconocido', () => suyo.webhooks.eliminar(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.rotarSecreto(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.probar(webhook)],
        ['webhook_desconocido', () => suyo.webhooks.entregas(webhook)],
        [
          'webhook_desconocido',
          () => suyo.webhooks.recuperar(webhook, { desde: new Date(Date.now() - 86_400_000).toISOString() }),
        ],
        [
          'webhook_desconocido',
          () => suyo.webhooks.ensayarRecuperacion(webhook, { desde: new Date(Date.now() - 86_400_000).toISOString() }),
        ],
        ['entrega_de_webhook_desconocida', () => suyo.webhooks.obtenerEntrega(webhook, entrega)],
        ['entrega_de_webhook_desconocida', () => suyo.webhooks.reenviar(webhook, entrega)],
        ['recuperacion_desconocida', () => suyo.webhooks.obtenerRecuperacion(webhook, recuperado)],
      ]
      for (const [codigo, pedir] of pedidos) {
        const error = await falla(pedir())
        expect(error, `${webhook} ${codigo} ${error}`).toBeInstanceOf(ErrorNoEncontrado)
        expect([webhook, error.codigo]).toEqual([webhook, codigo])
      }
    }
    // A delivery is its endpoint's alone.
    const vecino = await crear({ api }, nadie())
    expect(await codigoDe(api.webhooks.obtenerEntrega(vecino.webhook, suya))).toBe('entrega_de_webhook_desconocida')
    expect(await codigoDe(api.webhooks.reenviar(vecino.webhook, suya))).toBe('entrega_de_webhook_desconocida')
    for (const torcida of [`${suya}1`, suya.toLowerCase(), `${suya} `, suya.replace('ent_', 'evt_')])
      expect(await codigoDe(api.webhooks.obtenerEntrega(propio, torcida))).toBe('entrega_de_webhook_desconocida')
  })
})

describe('PATCH /api/v1/webhooks/{webhook}', () => {
  it('changes what it names and nothing else', async () => {
    const { api, webhook, ...creado } = await nuevo(undefined, { tipos: ['guia.*'], descripcion: 'Una' })
    const { comercio: _c, receptor: _r, secreto: _s, ...antes } = creado
    adelantar(1_000)
    let previo: object = { webhook, ...antes }
    const otro = await nuevoReceptor()
    for (const cambio of [
      { descripcion: 'Otra' },
      { tipos: ['*', 'guia.nota'] },
      { url: otro.url },
      { url: otro.url, descripcion: 'Tercera', tipos: ['ubicacion.*'] },
    ] as Parameters<Api['webhooks']['cambiar']>[1][]) {
      const despues = await api.webhooks.cambiar(webhook, cambio)
      expect(despues).toEqual({ ...previo, ...cambio, actualizado_en: despues.actualizado_en })
      expect(despues.actualizado_en > antes.actualizado_en).toBe(true)
      expect(await api.webhooks.obtener(webhook)).toEqual(despues)
      previo = despues
    }
  })

  it('sends what waits to the new address, and by the new types from then on', async () => {
    const { api, webhook, receptor } = await nuevo(contestar(500))
    const { guia } = await api.guias.crear(unaGuia())
    await tras(api, webhook, entregaDe(webhook, guia), 1)
    const otro = await nuevoReceptor()
    await api.webhooks.cambiar(webhook, { url: otro.url, tipos: ['guia.cancelado'] })
    adelantar(6_000)
    const entrega = await terminada(api, webhook, entregaDe(webhook, guia), 2)
    expect(entrega.historial.map(({ url }) => url)).toEqual([otro.url, receptor.url])
    const { guia: segunda } = await api.guias.crear(unaGuia())
    await api.guias.cancelar(segunda)
    await terminada(api, webhook, entregaDe(webhook, segunda, 2))
    expect(otro.recibidos.map(({ json }) => json.tipo)).toEqual(['guia.aceptado', 'guia.cancelado'])
    expect(receptor.recibidos).toHaveLength(1)
  })

  it('refuses another’s address, what is not valid, and changes nothing then', async () => {
    const { comercio, api, webhook } = await nuevo(undefined, { tipos: ['guia.*'], descripcion: 'Una' })
    const otro = await crear(comercio, nadie())
    const antes = await api.webhooks.obtener(webhook)
    const casos: [object, number, string][] = [
      [{ url: otro.url, descripcion: 'X', estado: 'pausado' }, 409, 'webhook_repetido'],
      [{ url: 'https://localhost/', tipos: ['*'] }, 422, 'url_no_permitida'],
      [{ url: 'https://no-existe.ejemplo.com/', tipos: ['*'] }, 422, 'url_no_resuelve'],
      [{}, 422, 'validacion'],
      [{ estado: 'deshabilitado' }, 422, 'validacion'],
      [{ estado: 'eliminado' }, 422, 'validacion'],
      [{ estado: null }, 422, 'validacion'],
      [{ descripcion: 'X', tipos: [] }, 422, 'validacion'],
      [{ descripcion: 'X', tipos: ['guia.volando'] }, 422, 'validacion'],
      [{ descripcion: '' }, 422, 'validacion'],
      [{ descripcion: null }, 422, 'validacion'],
      [{ descripcion: 'X', modo: 'live' }, 422, 'validacion'],
      [{ descripcion: 'X', motivo: null }, 422, 'validacion'],
      [{ id: 'wh_000000000000' }, 422, 'validacion'],
    ]
    for (const [cambio, status, codigo] of casos) {
      const error = await falla(api.webhooks.cambiar(webhook, cambio as never))
      expect([cambio, error.status, error.codigo]).toEqual([cambio, status, codigo])
    }
    expect(await api.webhooks.obtener(webhook)).toEqual(antes)
    // Its own address is no conflict.
    expect(await api.webhooks.cambiar(webhook, { url: antes.url })).toMatchObject({ url: antes.url })
  })

  it('gives one address to one of two endpoints at once', async () => {
    const { comercio, api, webhook } = await nuevo()
    const otro = await crear(comercio, nadie())
    const destino = nadie()
    const codigos = await Promise.all(
      [webhook, otro.webhook].map((cual) =>
        api.webhooks.cambiar(cual, destino).then(
          () => '200',
          ({ codigo }) => codigo,
        ),
      ),
    )
    expect(codigos.sort()).toEqual(['200', 'webhook_repetido'])
  })

  it('pauses: events wait, and go on resuming, the oldest first', async () => {
    const { comercio, api, webhook, receptor } = await nuevo()
    const pausado = await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    expect(pausado).toMatchObject({ estado: 'pausado', motivo: null })
    const [a, b] = [await api.guias.crear(unaGuia()), await api.guias.crear(unaGuia())]
    adelantar(60_000)
    // Pausing again is no news.
    expect((await api.webhooks.cambiar(webhook, { estado: 'pausado' })).estado_en).toBe(pausado.estado_en)
    const guias: string[] = [a.guia, b.guia]
    for (let n = 0; n < 150; n++) guias.push((await api.guias.crear(unaGuia())).guia)
    await entorno.quietud(comercio)
    expect(receptor.recibidos).toEqual([])
    const entrega = await api.webhooks.obtenerEntrega(webhook, entregaDe(webhook, a.guia))
    expect(entrega).toMatchObject({ estado: 'pendiente', intentos: 0, historial: [], causa: 'automatica' })
    const despierto = await api.webhooks.cambiar(webhook, { estado: 'activo' })
    expect(despierto.estado_en > pausado.estado_en).toBe(true)
    await hasta(async () => receptor.recibidos.length >= 152)
    await entorno.quietud(comercio)
    expect(receptor.recibidos).toHaveLength(152)
    // Those in the queue at a time overtake each other, and one may have to wait for a retry of its round: most keep
    // their place, which at random would be 51 away on average.
    const puesto = new Map(receptor.recibidos.map(({ json }, n) => [json.datos.guia.guia, n]))
    expect(puesto.size).toBe(152)
    const corridas = guias.map((guia, n) => Math.abs(puesto.get(guia)! - n))
    expect(corridas.reduce((suma, corrida) => suma + corrida) / corridas.length).toBeLessThan(VENTANA / 2)
  })
})

describe('DELETE /api/v1/webhooks/{webhook}', () => {
  it('ends everything of it, and its address is free again', async () => {
    const { comercio, api, webhook, url, receptor } = await nuevo(contestar(500))
    const { guia } = await api.guias.crear(unaGuia())
    await tras(api, webhook, entregaDe(webhook, guia), 1)
    expect((await api.webhooks.eliminar(webhook).conRespuesta()).status).toBe(204)
    expect(await codigoDe(api.webhooks.eliminar(webhook))).toBe('webhook_desconocido')
    expect((await api.webhooks.listar()).datos).toEqual([])
    const cuantas = async () => {
      const { rows } = await entorno.db.pool.query(
        `select (select count(*)::int from webhook_entrega where webhook = $1) as entregas,
           (select count(*)::int from webhook_intento where webhook = $1) as intentos,
           (select count(*)::int from webhook_secreto where webhook = $1) as secretos,
           (select count(*)::int from webhook where webhook = $1) as webhooks`,
        [webhook],
      )
      return rows[0]
    }
    expect(await cuantas()).toMatchObject({ secretos: 0 })
    receptor.responder = contestar(204)
    const nuevoId = (await crear(comercio, { url })).webhook
    expect(nuevoId).not.toBe(webhook)
    adelantar(6_000)
    const { guia: otra } = await api.guias.crear(unaGuia())
    await terminada(api, nuevoId, entregaDe(nuevoId, otra))
    expect(receptor.recibidos.map(({ id: evento }) => evento)).toEqual([`evt_${guia}_1`, `evt_${otra}_1`])
    await limpiar()
    expect(await cuantas()).toEqual({ entregas: 0, intentos: 0, secretos: 0, webhooks: 1 })
    adelantar(11 * 60_000)
    await limpiar()
    expect(await cuantas()).toEqual({ entregas: 0, intentos: 0, secretos: 0, webhooks: 0 })
    expect((await api.webhooks.obtenerEntrega(nuevoId, entregaDe(nuevoId, otra))).estado).toBe('entregada')
    expect(await api.webhooks.obtener(nuevoId)).toMatchObject({ estado: 'activo' })
  })
})

const firmas = (recibido: Recibido) => String(recibido.cabeceras['webhook-signature']).split(' ')
/** What the secret makes of it, whatever the time. */
const firmaDe = (secreto: string, { id, cabeceras, cuerpo }: Recibido) =>
  `v1,${createHmac('sha256', Buffer.from(secreto.slice(6), 'base64'))
    .update(`${id}.${cabeceras['webhook-timestamp']}.${cuerpo}`)
    .digest('base64')}`
/** The library's own judgement; it looks at the clock, so the time is made the present. */
const segunLaBiblioteca = (secreto: string, recibido: Recibido) => {
  const hace = Number(recibido.cabeceras['webhook-timestamp']) * 1_000 - Date.now()
  const reloj = Date.now
  Date.now = () => reloj() + hace
  try {
    return new Estandar(secreto).verify(recibido.cuerpo, recibido.cabeceras as Record<string, string>)
  } finally {
    Date.now = reloj
  }
}

describe('POST /api/v1/webhooks/{webhook}/rotar-secreto', () => {
  const probar = async (api: Api, webhook: string, receptor: Receptor) => {
    const { entrega, evento } = await api.webhooks.probar(webhook)
    const { historial } = await terminada(api, webhook, entrega)
    const recibido = receptor.recibidos.find((uno) => uno.id === evento)!
    return { recibido, firmado_con: historial[0]!.firmado_con }
  }

  it('signs with both during the overlap, and with the new one alone after it', async () => {
    const { api, webhook, secreto, receptor } = await nuevo()
    const rotado = await rotar(api, webhook)
    expect(rotado.secreto).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(rotado.secreto).not.toBe(secreto)
    expect(rotado.secretos.map(({ version }) => version)).toEqual([2, 1])
    expect(rotado.secretos[0]!.vence_en).toBeNull()
    const fin = new Date(rotado.secretos[1]!.vence_en!).getTime()
    expect(fin - new Date(rotado.secretos[0]!.creado_en).getTime()).toBe(24 * HORA)
    const { secreto: _secreto, ...sinSecreto } = rotado
    expect(await api.webhooks.obtener(webhook)).toEqual(sinSecreto)
    const { recibido, firmado_con } = await probar(api, webhook, receptor)
    expect(firmado_con).toEqual([2, 1])
    expect(firmas(recibido)).toEqual([firmaDe(rotado.secreto, recibido), firmaDe(secreto, recibido)])
    for (const cual of [secreto, rotado.secreto]) expect(segunLaBiblioteca(cual, recibido)).toEqual(recibido.json)
    expect(() => segunLaBiblioteca(`whsec_${randomBytes(32).toString('base64')}`, recibido)).toThrow()

    adelantar(fin - ahora() - 5_000)
    expect((await probar(api, webhook, receptor)).firmado_con).toEqual([2, 1])
    adelantar(5_001)
    const despues = await probar(api, webhook, receptor)
    expect(despues.firmado_con).toEqual([2])
    expect(firmas(despues.recibido)).toEqual([firmaDe(rotado.secreto, despues.recibido)])
    expect(() => segunLaBiblioteca(secreto, despues.recibido)).toThrow()
    expect((await api.webhooks.obtener(webhook)).secretos.map(({ version }) => version)).toEqual([2])
    // Housekeeping forgets it a day later, and versions go on.
    adelantar(25 * HORA)
    await limpiar()
    const { rows } = await entorno.db.pool.query('select version from webhook_secreto where webhook = $1', [webhook])
    expect(rows).toEqual([{ version: 2 }])
    expect((await rotar(api, webhook, 0)).secretos.map(({ version }) => version)).toEqual([3])
  })

  it('retires the old one at once with no overlap', async () => {
    const { api, webhook, secreto, receptor } = await nuevo()
    const rotado = await rotar(api, webhook, 0)
    expect(rotado.secretos.map(({ version, vence_en }) => [version, vence_en])).toEqual([[2, null]])
    const { recibido, firmado_con } = await probar(api, webhook, receptor)
    expect(firmado_con).toEqual([2])
    expect(firmas(recibido)).toEqual([firmaDe(rotado.secreto, recibido)])
    expect(() => segunLaBiblioteca(secreto, recibido)).toThrow()
  })

  it('never signs with more than two, however often it is asked', async () => {
    const { api, webhook, receptor } = await nuevo()
    const dados: string[] = []
    for (let n = 2; n <= 6; n++) {
      const rotado = await rotar(api, webhook, n % 2 === 0 ? 168 : 1)
      dados.push(rotado.secreto)
      expect(rotado.secretos.map(({ version }) => version)).toEqual([n, n - 1])
    }
    const { recibido, firmado_con } = await probar(api, webhook, receptor)
    expect(firmado_con).toEqual([6, 5])
    expect(firmas(recibido)).toEqual(
      dados
        .slice(-2)
        .map((secreto) => firmaDe(secreto, recibido))
        .reverse(),
    )
    expect(new Set(dados).size).toBe(5)
  })

  it('gives a version to each of many at once, and the last two sign', async () => {
    for (let ronda = 0; ronda < 5; ronda++) {
      const { api, webhook } = await nuevo()
      const rotados = await Promise.all(Array.from({ length: 10 }, () => rotar(api, webhook)))
      expect(new Set(rotados.map(({ secreto }) => secreto)).size).toBe(10)
      const { secretos: vigentes } = await api.webhooks.obtener(webhook)
      expect(vigentes.map(({ version }) => version)).toEqual([11, 10])
    }
  })

  it.each<[string, unknown]>([
    ['a fraction', { solapamiento_horas: 1.5 }],
    ['less than nothing', { solapamiento_horas: -1 }],
    ['more than a week', { solapamiento_horas: 169 }],
    ['a text', { solapamiento_horas: '24' }],
    ['null', { solapamiento_horas: null }],
    ['an unknown property', { horas: 24 }],
    ['a list', []],
  ])('refuses %s', async (_que, cuerpo) => {
    const { api, webhook } = await nuevo()
    const error = await falla(api.webhooks.rotarSecreto(webhook, cuerpo as never))
    expect([error.status, error.codigo]).toEqual([422, 'validacion'])
    expect((await api.webhooks.obtener(webhook)).secretos).toHaveLength(1)
  })
})

describe('POST /api/v1/webhooks/{webhook}/probar', () => {
  it('sends a test whatever the state, once, and counts no failure', async () => {
    const { comercio, api, webhook, receptor } = await nuevo(undefined, { tipos: ['ubicacion.confirmada'] })
    const { datos: entrega, status } = await api.webhooks.probar(webhook).conRespuesta()
    expect(status).toBe(202)
    expect(entrega).toMatchObject({
      webhook,
      tipo: 'webhook.prueba',
      guia: null,
      estado: 'pendiente',
      causa: 'prueba',
      intentos: 0,
      proximo_intento_en: entrega.creado_en,
    })
    expect(await terminada(api, webhook, entrega.entrega)).toMatchObject({ estado: 'entregada', intentos: 1 })
    expect(receptor.recibidos[0]!.json).toEqual({
      id: entrega.evento,
      tipo: 'webhook.prueba',
      creado_en: entrega.creado_en,
      datos: { webhook: await api.webhooks.obtener(webhook) },
    })

    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    expect(await terminada(api, webhook, (await api.webhooks.probar(webhook)).entrega)).toMatchObject({
      estado: 'entregada',
    })

    // It may fail as often as it wants.
    receptor.responder = contestar(500)
    for (let n = 0; n < 5; n++) {
      expect(await terminada(api, webhook, (await api.webhooks.probar(webhook)).entrega)).toMatchObject({
        estado: 'fallida',
        intentos: 1,
        proximo_intento_en: null,
        ultimo_status: 500,
      })
    }
    receptor.responder = contestar(410)
    await terminada(api, webhook, (await api.webhooks.probar(webhook)).entrega)
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'pausado', motivo: null, fallas: null })
    adelantar(6_000)
    await entorno.quietud(comercio)
    expect(receptor.recibidos).toHaveLength(8)

    await api.webhooks.cambiar(webhook, { estado: 'activo', tipos: ['*'] })
    const { guia } = await api.guias.crear(unaGuia())
    await terminada(api, webhook, entregaDe(webhook, guia))
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'deshabilitado', motivo: 'respondio_410' })
    receptor.responder = contestar(204)
    expect(await terminada(api, webhook, (await api.webhooks.probar(webhook)).entrega)).toMatchObject({
      estado: 'entregada',
    })
    // A test that goes well brings nothing back by itself.
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'deshabilitado', motivo: 'respondio_410' })
  })

  it('arrives before a backlog', async () => {
    const lento: Receptor['responder'] = (_recibido, res) => void setTimeout(() => res.writeHead(204).end(), 40)
    const { api, webhook, receptor } = await nuevo(lento)
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    for (let n = 0; n < 3; n++) await api.guias.crearLote({ guias: Array.from({ length: 100 }, () => unaGuia()) })
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    await hasta(async () => receptor.recibidos.length > 10)
    const antes = receptor.recibidos.length
    const { evento } = await api.webhooks.probar(webhook)
    await hasta(async () => receptor.recibidos.some((uno) => uno.id === evento))
    expect(receptor.recibidos.findIndex((uno) => uno.id === evento) - antes).toBeLessThan(60)
    expect(receptor.recibidos.length).toBeLessThan(200)
    receptor.responder = contestar(204)
    await hasta(async () => receptor.recibidos.length >= 301)
  })
})

describe('failures', () => {
  it('are forgotten by a success that was under way at the same time', async () => {
    const { api, webhook, receptor } = await nuevo()
    // The first to come fails at once, the second goes well once that is known.
    receptor.responder = async (_recibido, res) => {
      if (receptor.recibidos.length === 1) return void res.writeHead(500).end()
      receptor.responder = contestar(204)
      await hasta(async () => (await api.webhooks.obtener(webhook)).fallas)
      res.writeHead(204).end()
    }
    await api.guias.crearLote({ guias: [unaGuia(), unaGuia()] })
    await hasta(async () => (await api.webhooks.entregas(webhook, { estado: 'entregada' })).datos.length === 1)
    expect((await api.webhooks.obtener(webhook)).fallas).toBeNull()
  })
})

describe('GET /api/v1/webhooks/{webhook}/entregas', () => {
  it('filters by state, type, guide and time, which add up', async () => {
    const { api, webhook, receptor } = await nuevo()
    const { guia: a } = await api.guias.crear(unaGuia())
    await terminada(api, webhook, entregaDe(webhook, a))
    adelantar(5)
    receptor.responder = contestar(500)
    const { guia: b } = await api.guias.crear(unaGuia())
    await tras(api, webhook, entregaDe(webhook, b), 1)
    adelantar(5)
    const { entrega: prueba } = await api.webhooks.probar(webhook)
    await terminada(api, webhook, prueba)
    receptor.responder = contestar(204)
    adelantar(5)
    await api.guias.cancelar(a)
    const cancelada = entregaDe(webhook, a, 2)
    await terminada(api, webhook, cancelada)
    const [deA, deB] = [entregaDe(webhook, a), entregaDe(webhook, b)]
    const de = (filtros: Parameters<Api['webhooks']['entregas']>[1]) =>
      leerCodigos('entrega', api.webhooks.entregas(webhook, filtros))
    expect(await de({})).toEqual([cancelada, prueba, deB, deA])
    expect(await de({ estado: 'entregada' })).toEqual([cancelada, deA])
    expect(await de({ estado: 'pendiente' })).toEqual([deB])
    expect(await de({ estado: 'fallida' })).toEqual([prueba])
    expect(await de({ tipo: 'guia.aceptado' })).toEqual([deB, deA])
    expect(await de({ tipo: 'webhook.prueba' })).toEqual([prueba])
    expect(await de({ tipo: 'guia.volando' })).toEqual([])
    expect(await de({ guia: a })).toEqual([cancelada, deA])
    expect(await de({ guia: `${a.slice(0, 4)}-${a.slice(4).toLowerCase()}` })).toEqual([cancelada, deA])
    expect(await de({ guia: '000000000000' })).toEqual([])
    expect(await de({ guia: a, estado: 'entregada', tipo: 'guia.cancelado' })).toEqual([cancelada])
    expect(await de({ guia: b, estado: 'entregada' })).toEqual([])
    const { datos } = await api.webhooks.entregas(webhook)
    const [, segunda, tercera] = datos as [EntregaDeWebhook, EntregaDeWebhook, EntregaDeWebhook]
    expect(await de({ creado_desde: segunda.creado_en })).toEqual([cancelada, prueba])
    expect(await de({ creado_hasta: segunda.creado_en })).toEqual([deB, deA])
    expect(await de({ creado_desde: tercera.creado_en, creado_hasta: segunda.creado_en })).toEqual([deB])
    const enGuatemala = `${new Date(new Date(tercera.creado_en).getTime() - 6 * HORA).toISOString().slice(0, -1)}-06:00`
    expect(await de({ creado_hasta: enGuatemala })).toEqual([deA])
  })

  it('pages neither double nor lose while more are made, and bind their cursor to the filters', async () => {
    const { comercio, api, webhook } = await nuevo()
    await api.guias.crearLote({ guias: Array.from({ length: 23 }, () => unaGuia()) })
    const creadas = await leerCodigos('entrega', api.webhooks.entregas(webhook))
    expect(new Set(creadas).size).toBe(23)
    const leidas: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const pagina = await api.webhooks.entregas(webhook, {
        limite: leidas.length % 2 === 0 ? 4 : 3,
        tipo: 'guia.aceptado',
        ...(cursor ? { cursor } : {}),
      })
      leidas.push(...pagina.datos.map(({ entrega }) => entrega))
      cursor = pagina.cursor_siguiente
      await api.guias.crear(unaGuia())
    }
    expect(leidas).toEqual(creadas)
    const { cursor_siguiente } = await api.webhooks.entregas(webhook, { limite: 2, tipo: 'guia.aceptado' })
    const cursor = cursor_siguiente!
    const otro = await crear(comercio, nadie())
    for (const pedir of [
      () => api.webhooks.entregas(webhook, { cursor }),
      () => api.webhooks.entregas(webhook, { cursor, tipo: 'guia.nota' }),
      () => api.webhooks.entregas(webhook, { cursor, tipo: 'guia.aceptado', estado: 'entregada' }),
      () => api.webhooks.entregas(otro.webhook, { cursor, tipo: 'guia.aceptado' }),
      () => api.webhooks.listar({ cursor }),
    ]) {
      const error = await falla(pedir())
      expect(error).toBeInstanceOf(ErrorParametro)
      expect([error.status, error.codigo]).toEqual([400, 'cursor_invalido'])
    }
    expect((await api.webhooks.entregas(webhook, { cursor, tipo: 'guia.aceptado', limite: 1 })).datos).toHaveLength(1)
  })
})

describe('GET /api/v1/webhooks/{webhook}/entregas/{entrega}', () => {
  it('tells every attempt: what was sent, what came back, how long it took; nothing secret', async () => {
    const largo = 'ñ'.repeat(9_000)
    const { api, webhook, secreto, receptor } = await nuevo((_recibido, res) => {
      res.writeHead(503, {
        'Content-Type': 'text/plain; charset=utf-8',
        'Set-Cookie': ['sesion=SECRETISIMO', 'otra=SECRETISIMO'],
        Authorization: 'Bearer SECRETISIMO',
        'WWW-Authenticate': 'Bearer SECRETISIMO',
        'X-Api-Key': 'SECRETISIMO',
        'X-Csrf-Token': 'SECRETISIMO',
        'X-Traza': 'abc',
      })
      res.end(largo)
    })
    const { guia } = await api.guias.crear(unaGuia({ external_ref: 'Ñuño «Ó» 1' }))
    const clave = entregaDe(webhook, guia)
    await tras(api, webhook, clave, 1)
    receptor.responder = contestar(200, {}, 'ok')
    adelantar(6_000)
    const entrega = await terminada(api, webhook, clave, 2)
    const { rows } = await entorno.db.pool.query('select * from webhook_intento where webhook = $1', [webhook])
    expect(JSON.stringify([entrega, rows])).not.toContain('SECRETISIMO')
    expect(JSON.stringify(entrega)).not.toContain(secreto.slice(6))
    expect(entrega).toMatchObject({
      entrega: clave,
      webhook,
      evento: `evt_${guia}_1`,
      tipo: 'guia.aceptado',
      guia,
      estado: 'entregada',
      causa: 'automatica',
      intentos: 2,
      proximo_intento_en: null,
      ultimo_status: 200,
      ultimo_error: null,
      terminado_en: expect.any(String),
    })
    expect(receptor.recibidos.map(({ cuerpo }) => cuerpo)).toEqual([entrega.cuerpo, entrega.cuerpo])
    const [bueno, malo] = entrega.historial
    expect(malo).toMatchObject({
      numero: 1,
      causa: 'automatica',
      tardio: false,
      url: receptor.url,
      ip: '127.0.0.1',
      firmado_con: [1],
      status: 503,
      error: 'http',
      detalle: expect.stringContaining('503'),
    })
    expect(malo!.respuesta!.cabeceras).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'set-cookie': '***',
      authorization: '***',
      'www-authenticate': '***',
      'x-api-key': '***',
      'x-csrf-token': '***',
      'x-traza': 'abc',
    })
    expect(malo!.respuesta).toMatchObject({ cuerpo: 'ñ'.repeat(8_192), cuerpo_truncado: true })
    expect(bueno).toMatchObject({
      numero: 2,
      status: 200,
      error: null,
      detalle: null,
      respuesta: { cuerpo: 'ok', cuerpo_truncado: false },
    })
    for (const [n, intento] of [malo!, bueno!].entries()) {
      const { cabeceras } = receptor.recibidos[n]!
      expect(intento.cabeceras).toEqual({
        'content-type': 'application/json',
        'user-agent': cabeceras['user-agent'],
        'webhook-id': cabeceras['webhook-id'],
        'webhook-timestamp': cabeceras['webhook-timestamp'],
        'webhook-signature': '***',
      })
      const { primer_byte_ms, total_ms, dns_ms, conexion_ms, tls_ms } = intento.latencia
      expect(primer_byte_ms).toBeGreaterThan(0)
      expect(total_ms).toBeGreaterThanOrEqual(primer_byte_ms!)
      expect(tls_ms).toBeNull()
      for (const fase of [dns_ms, conexion_ms]) if (fase !== null) expect(fase).toBeLessThanOrEqual(total_ms)
    }
    expect(malo!.latencia.conexion_ms).not.toBeNull()
  })

  it('shows why nothing could be sent, and connects to no address that is not public any more', async () => {
    const trampa = await nuevoReceptor()
    NOMBRES['cambia.ejemplo.com'] = ['8.8.8.8']
    const comercio = await entorno.nuevoComercio('live')
    const { port } = new URL(trampa.url)
    const { webhook } = await crear(comercio, { url: `https://cambia.ejemplo.com:${port}/avisos` })
    NOMBRES['cambia.ejemplo.com'] = ['127.0.0.1']
    const { guia } = await comercio.api.guias.crear(unaGuia())
    const entrega = await tras(comercio.api, webhook, entregaDe(webhook, guia), 1)
    expect(entrega).toMatchObject({ estado: 'pendiente', ultimo_status: null, ultimo_error: 'destino_no_permitido' })
    expect(entrega.historial).toMatchObject([
      { ip: null, status: null, respuesta: null, error: 'destino_no_permitido' },
    ])
    delete NOMBRES['cambia.ejemplo.com']
    await comercio.api.webhooks.reenviar(webhook, entregaDe(webhook, guia))
    expect((await tras(comercio.api, webhook, entregaDe(webhook, guia), 2)).ultimo_error).toBe('dns')
    expect(trampa.recibidos).toEqual([])
    await comercio.api.webhooks.eliminar(webhook)
  })
})

describe('POST /api/v1/webhooks/{webhook}/entregas/{entrega}/reenviar', () => {
  it('sends what was delivered, what failed and what waits again, with the same id and body', async () => {
    const { api, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(unaGuia())
    const clave = entregaDe(webhook, guia)
    await terminada(api, webhook, clave)
    // Delivered, and the guide has gone on since.
    await api.guias.cancelar(guia)
    await terminada(api, webhook, entregaDe(webhook, guia, 2))
    const { datos, status } = await api.webhooks.reenviar(webhook, clave).conRespuesta()
    expect(status).toBe(202)
    expect(datos).toMatchObject({ entrega: clave, estado: 'pendiente', causa: 'manual', terminado_en: null })
    expect(await terminada(api, webhook, clave, 2)).toMatchObject({
      estado: 'entregada',
      causa: 'manual',
      historial: [
        { numero: 2, causa: 'manual' },
        { numero: 1, causa: 'automatica' },
      ],
    })
    const suyos = receptor.recibidos.filter((uno) => uno.id === `evt_${guia}_1`)
    expect(suyos).toHaveLength(2)
    expect(suyos[0]!.cuerpo).toBe(suyos[1]!.cuerpo)

    // Failed: it begins anew, with the schedule of always.
    receptor.responder = contestar(500)
    const { entrega: prueba, evento } = await api.webhooks.probar(webhook)
    await terminada(api, webhook, prueba)
    await api.webhooks.reenviar(webhook, prueba)
    expect(await tras(api, webhook, prueba, 2)).toMatchObject({ estado: 'pendiente', causa: 'manual' })
    // Waiting: now.
    receptor.responder = contestar(204)
    await api.webhooks.reenviar(webhook, prueba)
    expect(await terminada(api, webhook, prueba, 3)).toMatchObject({ estado: 'entregada', causa: 'manual' })
    expect(receptor.recibidos.filter((uno) => uno.id === evento)).toHaveLength(3)
    // And paused.
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    await api.webhooks.reenviar(webhook, clave)
    expect(await terminada(api, webhook, clave, 3)).toMatchObject({ estado: 'entregada', intentos: 3 })
    const guias = await api.guias.crear(unaGuia())
    const parada = entregaDe(webhook, guias.guia)
    expect(await api.webhooks.obtenerEntrega(webhook, parada)).toMatchObject({ estado: 'pendiente', intentos: 0 })
    await api.webhooks.reenviar(webhook, parada)
    expect(await terminada(api, webhook, parada)).toMatchObject({ estado: 'entregada', intentos: 1 })
  })

  it('sends once or more, and never loses it, when asked many times at once', async () => {
    const { comercio, api, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(unaGuia())
    const clave = entregaDe(webhook, guia)
    await terminada(api, webhook, clave)
    await Promise.all(Array.from({ length: 10 }, () => api.webhooks.reenviar(webhook, clave)))
    const { intentos } = await terminada(api, webhook, clave, 2)
    await entorno.quietud(comercio)
    expect(receptor.recibidos.length).toBeGreaterThanOrEqual(intentos)
    expect(receptor.recibidos.length).toBeLessThanOrEqual(11)
    expect((await api.webhooks.obtenerEntrega(webhook, clave)).estado).toBe('entregada')
  })
  it('names a delivery in one way alone', async () => {
    const { api, webhook } = await nuevo()
    const { guia } = await api.guias.crear(unaGuia())
    await terminada(api, webhook, entregaDe(webhook, guia))
    expect(await codigoDe(api.webhooks.obtenerEntrega(webhook, entregaDe(webhook, guia).replace(/_1$/, '_01')))).toBe(
      'entrega_de_webhook_desconocida',
    )
  })

  it.each([500, 204])('sends again even while it is under way, whatever becomes of that (%i)', async (status) => {
    const retenedor = retener()
    const { api, webhook, receptor } = await nuevo(retenedor.responder)
    const { guia } = await api.guias.crear(unaGuia())
    await hasta(async () => receptor.recibidos.length === 1)
    receptor.responder = contestar(204)
    await api.webhooks.reenviar(webhook, entregaDe(webhook, guia))
    retenedor.soltar(status)
    await hasta(async () => receptor.recibidos.length === 2)
    expect(await terminada(api, webhook, entregaDe(webhook, guia))).toMatchObject({
      estado: 'entregada',
      causa: 'manual',
    })
  })
})

const recuperada = (api: Api, webhook: string, recuperacion: string) =>
  hasta(async () => {
    const leida = await api.webhooks.obtenerRecuperacion(webhook, recuperacion)
    return leida.estado !== 'en_curso' && leida
  })

describe('POST /api/v1/webhooks/{webhook}/recuperar', () => {
  it('sends what happened before the endpoint existed; the rehearsal counts the same', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const desde = new Date(ahora() - 1_000).toISOString()
    const guias: string[] = []
    for (let n = 0; n < 5; n++) guias.push((await api.guias.crear(unaGuia())).guia)
    const receptor = await nuevoReceptor()
    const { webhook } = await crear(comercio, receptor)
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toEqual({
      eventos: 5,
      entregas: 5,
      exacto: true,
    })
    await entorno.quietud(comercio)
    expect(receptor.recibidos).toEqual([])
    expect((await api.webhooks.entregas(webhook)).datos).toEqual([])
    const { datos: pedida, status, cabeceras } = await api.webhooks.recuperar(webhook, { desde }).conRespuesta()
    expect([status, cabeceras.get('location')]).toEqual([
      202,
      `/api/v1/webhooks/${webhook}/recuperaciones/${pedida.recuperacion}`,
    ])
    expect(pedida).toMatchObject({
      recuperacion: expect.stringMatching(/^rec_[0-9A-Z]{12}$/),
      webhook,
      estado: 'en_curso',
      desde,
      hasta: pedida.creado_en,
      todas: false,
      eventos: 0,
      entregas: 0,
      terminado_en: null,
    })
    expect(await recuperada(api, webhook, pedida.recuperacion)).toMatchObject({
      estado: 'terminada',
      eventos: 5,
      entregas: 5,
    })
    await hasta(async () => receptor.recibidos.length >= 5)
    expect(receptor.recibidos.map((uno) => uno.id).sort()).toEqual(guias.map((guia) => `evt_${guia}_1`).sort())
    const { datos } = await hasta(async () => {
      const pagina = await api.webhooks.entregas(webhook, { estado: 'entregada' })
      return pagina.datos.length === 5 && pagina
    })
    expect(datos.every(({ causa, intentos }) => causa === 'recuperacion' && intentos === 1)).toBe(true)

    // Once received, only with «todas».
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toMatchObject({ eventos: 5, entregas: 0 })
    const nada = await api.webhooks.recuperar(webhook, { desde })
    expect(await recuperada(api, webhook, nada.recuperacion)).toMatchObject({ eventos: 5, entregas: 0 })
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde, todas: true })).toMatchObject({
      eventos: 5,
      entregas: 5,
    })
    const todas = await api.webhooks.recuperar(webhook, { desde, todas: true })
    expect(todas.todas).toBe(true)
    expect(await recuperada(api, webhook, todas.recuperacion)).toMatchObject({ eventos: 5, entregas: 5 })
    await hasta(async () => receptor.recibidos.length >= 10)
    await entorno.quietud(comercio)
    expect(receptor.recibidos).toHaveLength(10)
    expect(new Set(receptor.recibidos.map((uno) => uno.id + uno.cuerpo)).size).toBe(5)
  })

  it('sends again what failed and leaves what waits alone', async () => {
    const { api, webhook, receptor } = await nuevo(contestar(410))
    const desde = new Date(ahora() - 1_000).toISOString()
    const { guia: fallida } = await api.guias.crear(unaGuia())
    await terminada(api, webhook, entregaDe(webhook, fallida))
    const { guia: perdida } = await api.guias.crear(unaGuia())
    expect(await codigoDe(api.webhooks.recuperar(webhook, { desde }))).toBe('webhook_inactivo')
    // What would be sent can be asked all the same.
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toMatchObject({ eventos: 2, entregas: 2 })
    receptor.responder = contestar(500)
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    const { guia: espera } = await api.guias.crear(unaGuia())
    await tras(api, webhook, entregaDe(webhook, espera), 1)
    receptor.responder = contestar(204)
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toMatchObject({ eventos: 3, entregas: 2 })
    const { recuperacion } = await api.webhooks.recuperar(webhook, { desde })
    expect(await recuperada(api, webhook, recuperacion)).toMatchObject({ eventos: 3, entregas: 2 })
    expect(await terminada(api, webhook, entregaDe(webhook, fallida), 2)).toMatchObject({
      estado: 'entregada',
      causa: 'recuperacion',
    })
    await hasta(
      async () => (await api.webhooks.entregas(webhook, { guia: perdida, estado: 'entregada' })).datos.length === 1,
    )
    expect(await api.webhooks.obtenerEntrega(webhook, entregaDe(webhook, espera))).toMatchObject({
      causa: 'automatica',
    })
  })

  it('takes exactly what lies between its bounds, of the endpoint’s types', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const a = await api.guias.crear(unaGuia())
    adelantar(5)
    const b = await api.guias.crear(sinDestino())
    adelantar(5)
    const c = await api.guias.crear(unaGuia())
    await hasta(async () => (await api.guias.obtener(b.guia)).secuencia === 2)
    adelantar(5)
    await api.guias.cancelar(a.guia)
    const de = async (guia: string, n: number) => (await api.guias.eventos(guia)).datos[n]!.registrado_en
    const [tA, tB, tC, tFin] = [await de(a.guia, 0), await de(b.guia, 0), await de(c.guia, 0), await de(a.guia, 1)]
    const { webhook } = await crear(comercio, nadie())
    const eventos = async (cual: string, desde: string, fin?: string) =>
      (await api.webhooks.ensayarRecuperacion(cual, { desde, ...(fin ? { hasta: fin } : {}) })).eventos
    const mas = (instante: string) => new Date(new Date(instante).getTime() + 1).toISOString()
    expect(await eventos(webhook, tA, mas(tA))).toBe(1)
    expect(await eventos(webhook, tA, tB)).toBe(1)
    expect(await eventos(webhook, mas(tA), tB)).toBe(0)
    expect(await eventos(webhook, tC, mas(tC))).toBe(1)
    expect(await eventos(webhook, tFin)).toBe(1)
    expect(await eventos(webhook, mas(tFin))).toBe(0)
    expect(await eventos(webhook, new Date(Date.now() - 80 * 86_400_000).toISOString())).toBe(5)
    // Of what is older than deliveries are kept, nobody knows whether it arrived.
    await expect(eventos(webhook, '1970-01-01T00:00:00Z')).rejects.toMatchObject({ status: 422 })
    // Beyond now is now.
    expect(await eventos(webhook, tA, '9999-12-31T23:59:59Z')).toBe(5)
    for (const [tipos, cuantos] of [
      [['guia.*'], 4],
      [['guia.aceptado'], 3],
      [['ubicacion.*'], 1],
      [['ubicacion.solicitada', 'guia.cancelado'], 2],
      [['guia.entregado'], 0],
      [['webhook.*'], 0],
      [['guia.*', '*'], 5],
    ] as [NonNullable<Datos['tipos']>, number][]) {
      const receptor = await nuevoReceptor()
      const suyo = await crear(comercio, receptor, { tipos })
      expect([tipos, await eventos(suyo.webhook, tA)]).toEqual([tipos, cuantos])
      const { recuperacion } = await api.webhooks.recuperar(suyo.webhook, { desde: tA })
      expect(await recuperada(api, suyo.webhook, recuperacion)).toMatchObject({ eventos: cuantos, entregas: cuantos })
      await hasta(async () => receptor.recibidos.length === cuantos)
    }
  })

  it('is cancelled when the endpoint is disabled meanwhile', async () => {
    const { api, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(unaGuia())
    await terminada(api, webhook, entregaDe(webhook, guia))
    const desde = new Date(ahora() - HORA).toISOString()
    // A job begins within half a second: it may win, but not for ever.
    const estado = await hasta(async () => {
      await api.webhooks.cambiar(webhook, { estado: 'activo' })
      receptor.responder = contestar(410)
      const [{ recuperacion }] = await Promise.all([
        api.webhooks.recuperar(webhook, { desde }),
        api.webhooks.reenviar(webhook, entregaDe(webhook, guia)),
      ])
      const leida = await recuperada(api, webhook, recuperacion)
      await hasta(async () => (await api.webhooks.obtener(webhook)).estado === 'deshabilitado')
      return leida.estado === 'cancelada' && leida
    })
    expect(estado).toMatchObject({ eventos: 0, entregas: 0, terminado_en: expect.any(String) })
    // The next one may begin.
    receptor.responder = contestar(204)
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    const { recuperacion: otra } = await api.webhooks.recuperar(webhook, { desde })
    expect(await recuperada(api, webhook, otra)).toMatchObject({ estado: 'terminada', eventos: 1, entregas: 1 })
  })

  it('refuses an endpoint that is not active, a second at once, and times that are none', async () => {
    const { api, webhook } = await nuevo()
    const desde = new Date(ahora() - HORA).toISOString()
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    expect(await codigoDe(api.webhooks.recuperar(webhook, { desde }))).toBe('webhook_inactivo')
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    const respuestas = await Promise.all(
      Array.from({ length: 4 }, () =>
        api.webhooks.recuperar(webhook, { desde }).then(
          (una) => una.recuperacion,
          ({ codigo }) => codigo,
        ),
      ),
    )
    expect(respuestas.filter((una) => una === 'recuperacion_en_curso')).toHaveLength(3)
    const [primera] = respuestas.filter((una) => una.startsWith('rec_'))
    expect(await recuperada(api, webhook, primera)).toMatchObject({ estado: 'terminada', eventos: 0, entregas: 0 })
    // When it is over there may be another.
    const { recuperacion: otra } = await api.webhooks.recuperar(webhook, { desde })
    await recuperada(api, webhook, otra)
    const futuro = new Date(ahora() + HORA).toISOString()
    for (const [cuerpo, campo] of [
      [{}, '/desde'],
      [{ desde: 'ayer' }, '/desde'],
      [{ desde: '2026-11-20' }, '/desde'],
      [{ desde: futuro }, '/desde'],
      [{ desde, hasta: desde }, '/hasta'],
      [{ desde, hasta: new Date(ahora() - 2 * HORA).toISOString() }, '/hasta'],
      [{ desde, hasta: null }, '/hasta'],
      [{ desde, todas: 'sí' }, '/todas'],
      [{ desde, tipos: ['*'] }, '/tipos'],
    ] as [object, string][]) {
      for (const pedir of [
        () => api.webhooks.recuperar(webhook, cuerpo as never),
        () => api.webhooks.ensayarRecuperacion(webhook, cuerpo as never),
      ]) {
        const error = await falla(pedir())
        expect([cuerpo, error.status, error.codigo]).toEqual([cuerpo, 422, 'validacion'])
        expect(error.errores.map((una: { campo: string }) => una.campo)).toEqual([campo])
      }
    }
  })
})

describe('types and modes', () => {
  it('each endpoint gets exactly the types it asked for', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const filtros: NonNullable<Datos['tipos']>[] = [
      ['*'],
      ['guia.*'],
      ['ubicacion.*'],
      ['webhook.*'],
      ['guia.en_ruta'],
      ['guia.en_ruta', 'ubicacion.*', 'guia.cancelado'],
      ['guia.*', 'ubicacion.solicitada'],
    ]
    const suyos = await Promise.all(
      filtros.map(async (tipos) => {
        const receptor = await nuevoReceptor()
        return { tipos, receptor, webhook: (await crear(comercio, receptor, { tipos })).webhook }
      }),
    )
    const { guia: a } = await api.guias.crear(unaGuia())
    const { guia: b } = await api.guias.crear(sinDestino())
    await hasta(async () => (await api.guias.obtener(b)).secuencia === 2)
    for (const estado of ['recolectado', 'en_ruta']) await entorno.operar('POST', `/guias/${a}/eventos`, { estado })
    await entorno.operar('POST', `/guias/${a}/eventos`, { tipo: 'guia.nota', descripcion: 'Llamar antes' })
    await api.guias.cancelar(b)
    const eventos = [...(await api.guias.eventos(a)).datos, ...(await api.guias.eventos(b)).datos]
    for (const { tipos, receptor, webhook } of suyos) {
      const quiere = (tipo: string) => tipos.some((t) => t === '*' || t === tipo || t === `${tipo.split('.')[0]}.*`)
      const esperados = eventos.filter(({ tipo }) => quiere(tipo)).map((evento) => evento.id)
      await hasta(async () => receptor.recibidos.length >= esperados.length)
      expect([tipos, receptor.recibidos.map((uno) => uno.id).sort()]).toEqual([tipos, esperados.sort()])
      expect((await api.webhooks.entregas(webhook, { limite: 100 })).datos).toHaveLength(esperados.length)
    }
  })

  it('an endpoint hears of its own mode alone', async () => {
    const { comercio, api, webhook, receptor } = await nuevo()
    const viva = new Guias({ llave: await entorno.nuevaLlave(comercio, { modo: 'live' }), baseUrl: entorno.url })
    const vivo = await crear({ api: viva }, { url: 'https://tienda.ejemplo.com/avisos' })
    await viva.webhooks.cambiar(vivo.webhook, { estado: 'pausado' })
    const { guia: deVerdad } = await viva.guias.crear(unaGuia())
    const { guia: deMentira } = await api.guias.crear(unaGuia())
    await terminada(api, webhook, entregaDe(webhook, deMentira))
    expect(await leerCodigos('entrega', viva.webhooks.entregas(vivo.webhook))).toEqual([
      entregaDe(vivo.webhook, deVerdad),
    ])
    expect(await leerCodigos('entrega', api.webhooks.entregas(webhook))).toEqual([entregaDe(webhook, deMentira)])
    expect(receptor.recibidos.map((uno) => uno.json.datos.guia.guia)).toEqual([deMentira])
    expect(await leerCodigos('webhook', viva.webhooks.listar())).toEqual([vivo.webhook])
    expect(await leerCodigos('webhook', api.webhooks.listar())).toEqual([webhook])
    const desde = new Date(ahora() - HORA).toISOString()
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde, todas: true })).toMatchObject({ eventos: 1 })
    expect(await codigoDe(api.webhooks.obtener(vivo.webhook))).toBe('webhook_desconocido')
    expect(await codigoDe(api.webhooks.obtenerEntrega(vivo.webhook, entregaDe(vivo.webhook, deVerdad)))).toBe(
      'entrega_de_webhook_desconocida',
    )
    // A cursor of one mode is none of the other's.
    await api.guias.crear(unaGuia())
    const { cursor_siguiente } = await api.webhooks.entregas(webhook, { limite: 1 })
    expect(await codigoDe(viva.webhooks.entregas(vivo.webhook, { cursor: cursor_siguiente! }))).toBe('cursor_invalido')
    await viva.webhooks.eliminar(vivo.webhook)
  })
})

describe('a recovery', () => {
  it('goes on after a restart in its middle, and loses and doubles nothing', COMPLETO, async () => {
    const comercio = await entorno.nuevoComercio()
    const desde = new Date(ahora() - 1_000).toISOString()
    const TANDAS = 32
    const guias: string[] = []
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let n = 0; n < TANDAS / 4; n++) {
          const { resultados } = await comercio.api.guias.crearLote({
            guias: Array.from({ length: 100 }, () => unaGuia()),
          })
          guias.push(...resultados.map((resultado) => ('guia' in resultado ? String(resultado.guia) : '')))
        }
      }),
    )
    const receptor = await nuevoReceptor()
    const { webhook } = await crear(comercio, receptor)
    const total = TANDAS * 100
    expect(await comercio.api.webhooks.ensayarRecuperacion(webhook, { desde })).toEqual({
      eventos: total,
      entregas: total,
      exacto: true,
    })
    const { recuperacion } = await comercio.api.webhooks.recuperar(webhook, { desde })
    const antes = await hasta(async () => {
      const leida = await comercio.api.webhooks.obtenerRecuperacion(webhook, recuperacion)
      return leida.eventos > 0 && leida
    })
    await entorno.reiniciar()
    expect(antes.estado).toBe('en_curso')
    expect(antes.eventos).toBeLessThan(total)
    const api = new Guias({ llave: comercio.llave, baseUrl: entorno.url })
    expect(await recuperada(api, webhook, recuperacion)).toMatchObject({
      estado: 'terminada',
      eventos: total,
      entregas: total,
    })
    await hasta(async () => receptor.recibidos.length >= total)
    await entorno.quietud(comercio)
    expect(new Set(receptor.recibidos.map((uno) => uno.id))).toEqual(new Set(guias.map((guia) => `evt_${guia}_1`)))
    expect(receptor.recibidos).toHaveLength(total)
    const { rows } = await entorno.db.pool.query(
      'select estado, count(*)::int as n from webhook_entrega where webhook = $1 group by estado',
      [webhook],
    )
    expect(rows).toEqual([{ estado: 'entregada', n: total }])
  })
})

describe('secrets', () => {
  it('stand neither in the log nor in the database', async () => {
    const { api, webhook } = await nuevo()
    await rotar(api, webhook)
    const formas = secretos.flatMap((secreto) => {
      const bytes = Buffer.from(secreto.slice(6), 'base64')
      return [secreto.slice(6), bytes.toString('hex'), bytes.toString('base64url')]
    })
    const { rows: tablas } = await entorno.db.pool.query<{ tabla: string }>(
      `select format('%I.%I', table_schema, table_name) as tabla from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    )
    const textos = [entorno.log.join('\n')]
    for (const { tabla } of tablas) {
      const { rows } = await entorno.db.pool.query<{ texto: string }>(
        `select string_agg(t::text, '\n') as texto from ${tabla} t`,
      )
      textos.push(rows[0]?.texto ?? '')
    }
    expect(textos.some((texto) => texto.includes('wh_'))).toBe(true)
    for (const texto of textos) {
      expect(texto).not.toContain('whsec_')
      expect(formas.filter((forma) => texto.includes(forma))).toEqual([])
    }
  })

  it('are encrypted with the present master key, and sign as ever when the old one is gone', async () => {
    const { comercio, receptor, webhook, secreto } = await nuevo()
    const nueva = Buffer.alloc(32, 9).toString('base64')
    const claves = [nueva, MASTER_KEY]
    await entorno.reiniciar({ MASTER_KEYS: claves.join() })
    await limpiarAhora(entorno, claves)
    await entorno.reiniciar({ MASTER_KEYS: nueva })
    const api = new Guias({ llave: comercio.llave, baseUrl: entorno.url })
    const { entrega } = await api.webhooks.probar(webhook)
    await terminada(api, webhook, entrega)
    expect(receptor.recibidos.map(firmas)).toEqual([[firmaDe(secreto, receptor.recibidos[0]!)]])
  })
})
