import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ErrorApi, type Estado, type Guia, type GuiaParaCrear, type Guias, verificarWebhook } from '@guias/sdk'
import { ServicioDePruebas } from '@guias/sdk/pruebas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { REINTENTOS } from '../../server/generated/contract/vocabulary.ts'
import { useEnvironment } from '../environment.ts'
import { findSchemaFaults } from '../witness.ts'

const environment = useEnvironment()

/** A service as the scenario sees it. */
interface ServiceSide {
  api: Guias
  /** Waits until the service has done what it does by itself. */
  waitUntilQuiet(): Promise<unknown>
  passTime(horas: number): Promise<unknown>
  /** Address that takes webhooks, which are kept here. */
  url: string
  recibidos: { body: string; headers: Record<string, string> }[]
  /** Status that the receiver answers. */
  receiverAnswer: { status: number }
}

const GUIA_REQUEST: GuiaParaCrear = {
  telefono: '3148 1676',
  departamento: 'Guatemala',
  municipio: 'San Juan Sacatepéquez',
  external_ref: 'CON-LUGAR',
  lat: 14.71889,
  lng: -90.64417,
  recogida: { nombre: 'Bodega', lat: 14.58, lng: -90.54 },
}
const { lat: _lat, lng: _lng, ...GUIA_WITHOUT_PLACE } = { ...GUIA_REQUEST, external_ref: 'SIN-LUGAR' }

/**
 * Runs a day of a merchant, and returns all answers, refusals included. One function, because each step uses guides of
 * earlier ones.
 */
async function runScenario({ api, waitUntilQuiet, passTime, url, recibidos, receiverAnswer }: ServiceSide) {
  const responses: [label: string, response: unknown][] = []
  const anotar = async <T>(kind: string, promise: PromiseLike<T>): Promise<T> => {
    const response = await Promise.resolve(promise).catch((error) => {
      if (error instanceof ErrorApi) return error.problema as never
      throw error
    })
    await waitUntilQuiet()
    responses.push([kind, structuredClone(response)])
    return response
  }
  const { secreto } = await anotar('webhook', api.webhooks.crear({ url, tipos: ['guia.*', 'ubicacion.*'] }))
  const { guia } = await anotar('crear', api.guias.crear(GUIA_REQUEST as never))
  await anotar(
    'crear, otra vez',
    api.guias
      .crear(GUIA_REQUEST as never)
      .conRespuesta()
      .then(({ repetida }) => repetida),
  )
  await anotar('crear, otros datos', api.guias.crear({ ...GUIA_REQUEST, destinatario: 'Ana' } as never))
  await anotar('crear, nada', api.guias.crear({ telefono: '1' } as never))
  const { external_ref: _, ...guiaWithoutReferencia } = GUIA_REQUEST
  const withKey = (datos: object) => api.guias.crear(datos as never, { claveDeIdempotencia: 'caja-1' }).conRespuesta()
  await anotar(
    'crear, con clave',
    withKey(guiaWithoutReferencia).then(({ estadoHttp, repetida }) => [estadoHttp, repetida]),
  )
  await anotar(
    'crear, con clave, otra vez',
    withKey(guiaWithoutReferencia).then(({ estadoHttp, repetida }) => [estadoHttp, repetida]),
  )
  const resultWithOther = withKey({ ...guiaWithoutReferencia, destinatario: 'Ana' }).catch(({ estadoHttp, codigo }) => [
    estadoHttp,
    codigo,
  ])
  await anotar('crear, con la clave de otra cosa', resultWithOther)
  const { guia: caseWithout } = await anotar(
    'crear, sin lugar',
    api.guias.crear({ ...GUIA_WITHOUT_PLACE, metadatos: { a: 'b' } } as never),
  )
  await anotar(
    'lote',
    api.guias.crearLote({ guias: [GUIA_REQUEST, { ...GUIA_REQUEST, external_ref: 'OTRA' }, {} as never] }),
  )
  await anotar('pedida', api.guias.obtener(caseWithout))
  await anotar('a ruta sin lugar', api.simulador.avanzar(caseWithout, { estado: 'recolectado' }))
  await anotar('lista', api.guias.listar({ external_ref: 'SIN-LUGAR' }))
  await anotar('desconocida', api.guias.obtener('7K3M9QX2A1B4'))
  for (const estado of ['recolectado', 'entregado', 'en_ruta'] as const)
    await anotar(estado, api.simulador.avanzar(guia, { estado }))
  await anotar('tarde', api.guias.cancelar(guia))
  await anotar('falla', api.simulador.avanzar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente' }))
  for (const estado of ['en_ruta', 'entregado'] as const) await anotar(estado, api.simulador.avanzar(guia, { estado }))
  const [other] = (await api.guias.listar({ external_ref: 'OTRA' })).datos
  await anotar('cancelar', api.guias.cancelar(other!.guia))
  await anotar('cancelar, otra vez', api.guias.cancelar(other!.guia))
  await anotar('crear, cancelada', api.guias.crear({ ...GUIA_REQUEST, external_ref: 'OTRA' } as never))
  const { guia: third } = await api.guias.crear({ ...GUIA_WITHOUT_PLACE, external_ref: 'TERCERA' } as never)
  await waitUntilQuiet()
  await anotar(
    'vence',
    passTime(73).then(() => api.guias.obtener(third)),
  )
  const { guia: fourth } = await api.guias.crear({ ...GUIA_WITHOUT_PLACE, external_ref: 'CUARTA' } as never)
  await waitUntilQuiet()
  receiverAnswer.status = 500
  await anotar('confirma', api.simulador.confirmarUbicacion(fourth, { lat: 14.6, lng: -90.5 }))
  receiverAnswer.status = 204
  const { guia: fifthGuia } = await api.guias.crear({ ...GUIA_WITHOUT_PLACE, external_ref: 'QUINTA' } as never)
  await waitUntilQuiet()
  await anotar('no contesta', api.simulador.confirmarUbicacion(fifthGuia, { resultado: 'vencida' }))
  await anotar(
    'dice el comercio',
    api.guias.confirmarUbicacion(fifthGuia, { lat: 14.6, lng: -90.5, referencia: 'Portón' }),
  )
  await passTime(1)
  await waitUntilQuiet()
  for (const target of [guia, caseWithout, other!.guia, third, fourth, fifthGuia])
    await anotar('historial', api.guias.eventos(target, { limite: 100 }))
  const all = await api.eventos.listar().primeros(100)
  responses.push([
    'flujo',
    all.map(({ external_ref, secuencia, tipo }) => [external_ref, secuencia, tipo].join()).sort(),
  ])
  await anotar('webhooks', api.webhooks.listar())
  for (const { body, headers } of recibidos)
    await verificarWebhook(body, headers, secreto, { toleranciaSegundos: Number.POSITIVE_INFINITY })
  const avisos = new Map(recibidos.map(({ body }) => [JSON.parse(body).id as string, JSON.parse(body)]))
  const key = ({ datos: { evento } }: { datos: { evento: { external_ref: string; secuencia: number } } }) =>
    `${evento.external_ref} ${evento.secuencia}`
  responses.push(['avisos', [...avisos.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1))])
  return responses
}

/** What the double does not know: words of the service, and what a catalogue of places says. */
const UNCOMPARED_FIELDS = [
  'mensaje',
  'titulo',
  'documentacion',
  'id_solicitud',
  'url_rastreo',
  'url',
  'secreto',
  'distancia_km',
  'zona_horaria',
  'cursor_siguiente',
]

/** Replaces codes by their order, and instants by one text. */
function normalizar(responses: unknown): unknown {
  const codigos = new Map<string, string>()
  const nameCodigos = (text: string) =>
    text
      .replace(/(?<![0-9A-Za-z])(wh_)?[0-9A-HJKMNP-TV-Z]{12}(?![0-9A-Za-z])/g, (one) => {
        if (!codigos.has(one)) codigos.set(one, `código ${codigos.size}`)
        return codigos.get(one)!
      })
      .replace(/^\d{4}-\d\d-\d\d(T.*Z)?$/, 'hora')
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one) => walk(one))
    if (typeof value === 'string') return nameCodigos(value)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !UNCOMPARED_FIELDS.includes(key))
        .map(([key, one]) => [key, walk(one)]),
    )
  }
  return walk(responses)
}

const recibidos: ServiceSide['recibidos'] = []
const receiverAnswer = { status: 204 }
const receptor = createServer(async (req, res) => {
  let body = ''
  for await (const chunk of req) body += chunk
  recibidos.push({ body, headers: req.headers as Record<string, string> })
  res.writeHead(receiverAnswer.status).end()
})
beforeAll(() => new Promise<void>((listo) => receptor.listen(0, '127.0.0.1', listo)))
afterAll(() => {
  receptor.closeAllConnections()
  receptor.close()
})

function createDouble(): ServiceSide & { service: ServicioDePruebas } {
  const received: ServiceSide['recibidos'] = []
  const receiverReply = { status: 204 }
  const service = new ServicioDePruebas({
    recibir: async (solicitud) => {
      received.push({ body: await solicitud.text(), headers: Object.fromEntries(solicitud.headers) })
      return new Response(null, { status: receiverReply.status })
    },
  })
  return {
    service,
    api: service.cliente(),
    waitUntilQuiet: async () => {},
    passTime: (horas) => service.avanzar({ horas }),
    url: 'http://127.0.0.1:4000/guias',
    recibidos: received,
    receiverAnswer: receiverReply,
  }
}

describe('@guias/sdk/pruebas', () => {
  it('answers a merchant’s day as the service does', async () => {
    const comercio = await environment.createComercio()
    const real: ServiceSide = {
      api: comercio.api,
      waitUntilQuiet: () => environment.waitForQuiet(),
      async passTime(horas) {
        environment.advance(horas * 3_600_000)
        await environment.waitForQuiet()
      },
      url: `http://127.0.0.1:${(receptor.address() as AddressInfo).port}/guias`,
      recibidos,
      receiverAnswer,
    }
    const [realSteps, doubleSteps] = [await runScenario(real), await runScenario(createDouble())]
    const [expectedSteps, actualSteps] = [normalizar(realSteps), normalizar(doubleSteps)] as [
      [string, unknown][],
      [string, unknown][],
    ]
    for (const [i, expected] of expectedSteps.entries())
      expect.soft(actualSteps[i], `step ${expected[0]}`).toEqual(expected)
  })

  it('has the contract’s transitions, and its waits between two attempts', async () => {
    const { 'x-transiciones': rules } = readDocument().components.schemas.Estado as {
      'x-transiciones': { transiciones: Record<Estado, Estado[]> }
    }
    const { TRANSITIONS: TRANSICIONES } = await import('../../sdk/pruebas/guias.ts')
    expect(TRANSICIONES).toEqual(rules.transiciones)
    const { RETRY_DELAYS_SECONDS: ESPERAS } = await import('../../sdk/pruebas/deliveries.ts')
    expect(ESPERAS).toEqual(REINTENTOS.esperas_s)
  })

  it('answers guides and pages that the contract declares', async () => {
    const { api } = createDouble()
    const guia = await api.guias.crear({ ...GUIA_WITHOUT_PLACE, metadatos: { a: 'b' } } as never)
    const responses: [string, unknown][] = [
      ['Guia', guia],
      ['GuiaConEventos', await api.guias.obtener(guia.guia)],
      ['PaginaDeGuias', await api.guias.listar()],
      ['PaginaDelFlujo', await api.eventos.listar()],
      ['LoteCreado', await api.guias.crearLote({ guias: [GUIA_WITHOUT_PLACE] })],
      ['WebhookConSecreto', await api.webhooks.crear({ url: 'http://127.0.0.1:4000/' })],
    ]
    for (const [name, response] of responses)
      expect([name, findSchemaFaults(`#/components/schemas/${name}`, response)]).toEqual([name, undefined])
  })

  it('says what it does not know, and how to try it', async () => {
    const error = await createDouble()
      .api.cuenta.obtener()
      .catch((causa) => causa)
    expect([error.codigo, error.message]).toEqual(['ruta_desconocida', expect.stringContaining('guia_test_')])
  })

  it('repeats failed webhooks at the times of the service, also while a receiver calls it', async () => {
    const { api, service, receiverAnswer: receiverStatus } = createDouble()
    await api.webhooks.crear({ url: 'https://tienda.ejemplo.com/', tipos: ['guia.aceptado'] })
    receiverStatus.status = 500
    await api.guias.crear(GUIA_REQUEST as never)
    const intentos = async (seconds: number) => {
      await service.avanzar({ segundos: seconds })
      return service.envios[0]!.intentos
    }
    expect([await intentos(0), await intentos(4), await intentos(1), await intentos(59), await intentos(1)]).toEqual([
      1, 1, 2, 2, 3,
    ])
    receiverStatus.status = 204
    await service.avanzar({ dias: 1 })
    expect(service.envios).toMatchObject([{ intentos: 4, estados: [500, 500, 500, 204], entregado: true }])

    // A webhook that is deleted gets nothing more, and the others keep their times.
    const { webhook } = await api.webhooks.crear({ url: 'https://tienda.ejemplo.com/', tipos: ['guia.cancelado'] })
    await api.webhooks.crear({ url: 'https://tienda.ejemplo.com/otro', tipos: ['guia.cancelado'] })
    receiverStatus.status = 500
    await api.guias.cancelar(service.envios[0]!.evento.split('_')[1]!)
    await api.webhooks.eliminar(webhook)
    await service.avanzar({ minutos: 10 })
    expect(service.envios.slice(1).map(({ intentos }) => intentos)).toEqual([1, 4])

    const seen: string[] = []
    const other: ServicioDePruebas = new ServicioDePruebas({
      async recibir(solicitud) {
        const { tipo, datos } = (await solicitud.json()) as { tipo: string; datos: { guia: Guia } }
        seen.push(tipo)
        if (tipo === 'guia.aceptado') await other.cliente().guias.cancelar(datos.guia.guia)
        return new Response()
      },
    })
    await other.cliente().webhooks.crear({ url: 'https://tienda.ejemplo.com/' })
    await other.cliente().guias.crear(GUIA_REQUEST as never)
    expect(seen).toEqual(['guia.aceptado', 'guia.cancelado'])
  })
})
