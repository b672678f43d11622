import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { nextAttempt, RETRY_WAITS, readRetryAfter } from '../../server/domain/webhooks/schedule.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../server/platform/time/units.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, hasta } from '../factories.ts'
import { cleanUpNow } from './prune.ts'
import { answerWith, type TestReceiver, useReceivers } from './receiver.ts'

const AHORA = new Date('2026-11-21T12:00:00.000Z')

describe('the schedule', () => {
  it('is the one that was decided: 11 attempts in 75.6 hours', () => {
    expect(RETRY_WAITS.map((ms) => ms / SECOND_MS)).toEqual([
      0, 5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ])
    expect(RETRY_WAITS.reduce((suma, ms) => suma + ms, 0) / HOUR_MS).toBeCloseTo(75.6, 1)
  })

  it('adds up to 20 %, never takes away, and ends after the eleventh', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), fc.double({ min: 0, max: 1, noNaN: true }), (hechos, azar) => {
        const espera = nextAttempt(hechos, AHORA, null, azar)!.getTime() - AHORA.getTime()
        expect(espera).toBeGreaterThanOrEqual(RETRY_WAITS[hechos]!)
        expect(espera).toBeLessThanOrEqual(RETRY_WAITS[hechos]! * 1.2)
      }),
    )
    expect(nextAttempt(1, AHORA, null, 0)!.getTime() - AHORA.getTime()).toBe(5_000)
    expect(nextAttempt(1, AHORA, null, 1)!.getTime() - AHORA.getTime()).toBe(6_000)
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 1_000 }), fc.string(), (hechos, pedido) => {
        expect(nextAttempt(hechos, AHORA, pedido, 0.5)).toBeUndefined()
      }),
    )
  })

  it('honours Retry-After up to 24 hours, and never waits less than without it', () => {
    const pedido = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String),
      fc.date({ noInvalidDate: true }).map((fecha) => fecha.toUTCString()),
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        pedido,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, que, azar) => {
          const espera = nextAttempt(n, AHORA, que, azar)!.getTime() - AHORA.getTime()
          expect(espera).toBeGreaterThanOrEqual(RETRY_WAITS[n]!)
          expect(espera).toBeLessThanOrEqual(Math.max(RETRY_WAITS[n]! * 1.2, DAY_MS))
        },
      ),
      { numRuns: 1_000 },
    )
    const espera = (que: string, hechos = 1) => nextAttempt(hechos, AHORA, que, 0)!.getTime() - AHORA.getTime()
    expect(espera('3600')).toBe(HOUR_MS)
    expect(espera('86400')).toBe(DAY_MS)
    expect(espera('86401')).toBe(DAY_MS)
    expect(espera('9999999999')).toBe(DAY_MS)
    expect(espera('1', 4)).toBe(1_800_000)
  })

  it.each([
    ['120', 120],
    ['0', 0],
    ['0007', 7],
    ['  60\t', 60],
    ['86401', 86_401],
    ['Sat, 21 Nov 2026 12:30:00 GMT', 1_800],
    ['Saturday, 21-Nov-26 12:30:00 GMT', 1_800],
    // The past is now.
    ['Sat, 21 Nov 2026 11:59:59 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', (Date.UTC(9999, 11, 31, 23, 59, 59) - AHORA.getTime()) / 1_000],
  ])('understands «%s»', (texto, segundos) => {
    expect(readRetryAfter(texto, AHORA)).toBe(segundos * SECOND_MS)
  })

  it('takes a huge number for 24 hours', () => {
    for (const huge of ['99999999999', '9'.repeat(40)])
      expect(nextAttempt(1, AHORA, huge, 0)!.getTime() - AHORA.getTime()).toBe(DAY_MS)
  })

  it('reads every date as GMT, wherever the server stands', () => {
    const antes = process.env.TZ
    process.env.TZ = 'America/Guatemala'
    try {
      expect(readRetryAfter('Sat Nov 21 12:30:00 2026', AHORA)).toBe(1_800_000)
      expect(readRetryAfter('Sat, 21 Nov 2026 12:30:00 GMT', AHORA)).toBe(1_800_000)
    } finally {
      if (antes === undefined) delete process.env.TZ
      else process.env.TZ = antes
    }
  })

  it.each([
    null,
    '',
    ' ',
    '-1',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '5 s',
    '5, 10',
    'mañana',
    'soon',
    'Infinity',
    'NaN',
    '2027-01-01T00:00:00Z',
    'Sat',
    'Sat, 99 Nov 2026 12:30:00 GMT',
    'Sat, 21 Nov 2026 99:30:00 GMT',
    'Sunset',
    '٣٦٠٠',
  ])('makes nothing of «%s»', (texto) => {
    expect(readRetryAfter(texto, AHORA)).toBeUndefined()
  })
})

const entorno = useEnvironment()
const nuevoReceptor = useReceivers()
beforeAll(() => entorno.freezeClock())

const ahora = () => entorno.clock().getTime()
const adelantar = (ms: number) => entorno.advance(ms)
const limpiar = () => cleanUpNow(entorno)

const crear = async (responder?: TestReceiver['responder'], comercio?: Comercio) => {
  const suyo = comercio ?? (await entorno.nuevoComercio())
  const receptor = await nuevoReceptor(responder)
  const { webhook } = await suyo.api.webhooks.crear({ url: receptor.url })
  return { comercio: suyo, api: suyo.api, receptor, webhook }
}
type Creado = Awaited<ReturnType<typeof crear>>
const entregaDe = ({ webhook }: Pick<Creado, 'webhook'>, guia: string) => `avi_${webhook.slice(3)}_${guia}_1`
const nuevaGuia = async (creado: Creado) => entregaDe(creado, (await creado.api.guias.crear(buildGuia())).guia)
/** The delivery once that many attempts are settled. */
const tras = ({ api, webhook }: Creado, aviso: string, intentos: number) =>
  hasta(async () => {
    const leida = await api.webhooks.obtenerAviso(webhook, aviso)
    return leida.intentos >= intentos && leida
  })
/** How long its next attempt waits, from the end of the last one. */
const esperaDe = ({ proximo_intento_en, historial }: Awaited<ReturnType<typeof tras>>) =>
  new Date(proximo_intento_en!).getTime() - new Date(historial[0]!.iniciado_en).getTime()
const fallarVeces = async (creado: Creado, aviso: string, veces: number) => {
  const { intentos } = await creado.api.webhooks.obtenerAviso(creado.webhook, aviso)
  for (let n = 1; n <= veces; n++) {
    await creado.api.webhooks.reenviar(creado.webhook, aviso)
    await tras(creado, aviso, intentos + n)
  }
}
describe('a delivery', () => {
  it('that always fails is attempted 11 times, each at its time, over 75.6 hours, and then no more', async () => {
    const creado = await crear(answerWith(500))
    const aviso = await nuevaGuia(creado)
    for (let n = 1; n <= 10; n++) {
      const leida = await tras(creado, aviso, n)
      expect([leida.intentos, leida.estado, leida.terminado_en]).toEqual([n, 'pendiente', null])
      const espera = esperaDe(leida)
      expect(espera).toBeGreaterThanOrEqual(RETRY_WAITS[n]!)
      expect(espera).toBeLessThanOrEqual(RETRY_WAITS[n]! * 1.2)
      // Just before.
      adelantar(espera - 1)
      await entorno.waitForQuiet()
      expect(creado.receptor.receivedWebhooks).toHaveLength(n)
      adelantar(1)
      const siguiente = await tras(creado, aviso, n + 1)
      expect(siguiente.historial[0]!.iniciado_en).toBe(leida.proximo_intento_en)
    }
    const final = await tras(creado, aviso, 11)
    expect(final).toMatchObject({
      estado: 'fallido',
      intentos: 11,
      proximo_intento_en: null,
      ultimo_estado_http: 500,
      ultimo_error: 'http',
      terminado_en: expect.any(String),
    })
    expect(final.historial.map(({ numero }) => numero)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    const instantes = final.historial.map(({ iniciado_en }) => new Date(iniciado_en).getTime())
    const total = (instantes[0]! - instantes[10]!) / HOUR_MS
    expect(total).toBeGreaterThanOrEqual(75.6)
    expect(total).toBeLessThanOrEqual(75.6 * 1.2)
    adelantar(DAY_MS)
    await entorno.waitForQuiet()
    expect(creado.receptor.receivedWebhooks).toHaveLength(11)
    expect(new Set(creado.receptor.receivedWebhooks.map(({ id, cuerpo }) => id + cuerpo)).size).toBe(1)
    // Every attempt has a time of its own.
    expect(new Set(creado.receptor.receivedWebhooks.map(({ cabeceras }) => cabeceras['webhook-timestamp'])).size).toBe(
      11,
    )
  })

  it('waits as long as its receiver asks for, within 24 hours, and no less than the schedule', async () => {
    const en = (ms: number) => new Date(ahora() + ms).toUTCString()
    const casos: [number, string, number, number][] = [
      [429, '3600', HOUR_MS, HOUR_MS],
      [503, '3600', HOUR_MS, HOUR_MS],
      [503, en(2 * HOUR_MS), 2 * HOUR_MS - SECOND_MS, 2 * HOUR_MS],
      [429, '9999999999', DAY_MS, DAY_MS],
      [503, en(30 * DAY_MS), DAY_MS, DAY_MS],
      [429, '1', 5_000, 6_000],
      [429, en(-HOUR_MS), 5_000, 6_000],
      [503, '-3600', 5_000, 6_000],
      [503, 'luego', 5_000, 6_000],
    ]
    await Promise.all(
      casos.map(async ([status, pedido, minimo, maximo]) => {
        const creado = await crear(answerWith(status, { 'Retry-After': pedido }))
        const leida = await tras(creado, await nuevaGuia(creado), 1)
        expect([pedido, leida.ultimo_estado_http, leida.estado]).toEqual([pedido, status, 'pendiente'])
        expect(esperaDe(leida), pedido).toBeGreaterThanOrEqual(minimo)
        expect(esperaDe(leida), pedido).toBeLessThanOrEqual(maximo)
      }),
    )
  })

  it('is held back by Retry-After until its time, and then goes', async () => {
    const creado = await crear(answerWith(429, { 'Retry-After': '3600' }))
    const aviso = await nuevaGuia(creado)
    const { proximo_intento_en } = await tras(creado, aviso, 1)
    creado.receptor.responder = answerWith(204)
    adelantar(new Date(proximo_intento_en!).getTime() - ahora() - 1)
    await entorno.waitForQuiet()
    expect(creado.receptor.receivedWebhooks).toHaveLength(1)
    adelantar(1)
    expect(await tras(creado, aviso, 2)).toMatchObject({ estado: 'entregado', intentos: 2 })
  })

  it('follows no redirection', async () => {
    const otro = await nuevoReceptor()
    const creado = await crear()
    for (const [n, status] of [301, 302, 303, 307, 308].entries()) {
      creado.receptor.responder = answerWith(status, { Location: otro.url })
      const leida = await tras(creado, await nuevaGuia(creado), 1)
      expect(leida).toMatchObject({ estado: 'pendiente', ultimo_estado_http: status, ultimo_error: 'redireccion' })
      expect(leida.historial[0]!.detalle).toContain('registre la dirección final')
      expect(creado.receptor.receivedWebhooks).toHaveLength(n + 1)
      // The brake would make the next one wait.
      creado.receptor.responder = answerWith(204)
      await creado.api.webhooks.cambiar(creado.webhook, { estado: 'activo' })
    }
    expect(otro.receivedWebhooks).toEqual([])
  })
})

describe('an endpoint', () => {
  it('that answers 410 is disabled at once, and the others that want to know are told', async () => {
    const comercio = await entorno.nuevoComercio()
    const vecino = await crear(undefined, comercio)
    const exacto = await nuevoReceptor()
    const ajeno = await nuevoReceptor()
    const { webhook: idExacto } = await comercio.api.webhooks.crear({
      url: exacto.url,
      tipos: ['webhook.deshabilitado'],
    })
    const { webhook: idAjeno } = await comercio.api.webhooks.crear({ url: ajeno.url, tipos: ['guia.*'] })
    const dormido = await crear(undefined, comercio)
    await comercio.api.webhooks.cambiar(dormido.webhook, { estado: 'pausado' })
    const extrano = await crear()
    const creado = await crear(answerWith(500), comercio)
    const { api, webhook, receptor } = creado
    const pendiente = await nuevaGuia(creado)
    await tras(creado, pendiente, 1)
    receptor.responder = answerWith(410)
    const aviso = await nuevaGuia(creado)
    expect(await tras(creado, aviso, 1)).toMatchObject({
      estado: 'fallido',
      intentos: 1,
      ultimo_estado_http: 410,
      ultimo_error: 'http',
      proximo_intento_en: null,
    })
    const deshabilitado = await api.webhooks.obtener(webhook)
    expect(deshabilitado).toMatchObject({ estado: 'deshabilitado', motivo: 'respondio_410', fallas: { intentos: 2 } })
    expect(new Date(deshabilitado.estado_en).getTime()).toBe(ahora())
    const avisosA = (r: TestReceiver) => r.receivedWebhooks.filter(({ json }) => json.tipo === 'webhook.deshabilitado')
    await hasta(async () => avisosA(vecino.receptor).length === 1 && exacto.receivedWebhooks.length === 1)
    // Of its address only where: paths may hold secrets of their receiver.
    const url = `${new URL(deshabilitado.url).origin}/`
    expect(avisosA(vecino.receptor)[0]!.json.datos).toEqual({ webhook: { ...deshabilitado, url } })
    expect(exacto.receivedWebhooks[0]!.json).toMatchObject({
      id: avisosA(vecino.receptor)[0]!.id,
      tipo: 'webhook.deshabilitado',
      datos: { webhook: { webhook, motivo: 'respondio_410' } },
    })
    expect((await api.webhooks.avisos(idExacto)).datos).toMatchObject([
      { tipo: 'webhook.deshabilitado', guia: null, causa: 'automatica' },
    ])
    expect((await api.webhooks.avisos(idAjeno, { tipo: 'webhook.deshabilitado' })).datos).toEqual([])
    expect((await extrano.api.webhooks.avisos(extrano.webhook)).datos).toEqual([])
    expect((await api.webhooks.avisos(webhook, { tipo: 'webhook.deshabilitado' })).datos).toEqual([])

    // What waits goes no more, and new events make no delivery; both can be recovered.
    const recibidos = receptor.receivedWebhooks.length
    adelantar(2 * HOUR_MS)
    const perdida = await nuevaGuia(creado)
    await hasta(async () => vecino.receptor.receivedWebhooks.length === 4)
    await entorno.waitForQuiet()
    await limpiar()
    expect((await api.webhooks.avisos(webhook, { estado: 'pendiente' })).datos).toEqual([])
    expect(await tras(creado, pendiente, 1)).toMatchObject({
      estado: 'fallido',
      intentos: 1,
      ultimo_error: 'webhook_deshabilitado',
      proximo_intento_en: null,
      terminado_en: expect.any(String),
    })
    await expect(api.webhooks.obtenerAviso(webhook, perdida)).rejects.toMatchObject({
      codigo: 'aviso_desconocido',
    })
    expect(receptor.receivedWebhooks).toHaveLength(recibidos)

    // The paused one hears of it when it is back.
    await api.webhooks.cambiar(dormido.webhook, { estado: 'activo' })
    await hasta(async () => avisosA(dormido.receptor).length === 1)

    receptor.responder = answerWith(204)
    expect(await api.webhooks.cambiar(webhook, { estado: 'activo' })).toMatchObject({
      estado: 'activo',
      motivo: null,
      fallas: null,
    })
    adelantar(1) // what happened in the same instant isn't before it
    await api.webhooks.recuperar(webhook, { desde: new Date(ahora() - DAY_MS).toISOString() })
    expect(await hasta(() => api.webhooks.obtenerAviso(webhook, perdida).catch(() => undefined))).toBeTruthy()
    for (const [cual, intentos] of [
      [pendiente, 2],
      [aviso, 2],
      [perdida, 1],
    ] as const) {
      expect(await tras(creado, cual, intentos)).toMatchObject({ estado: 'entregado', causa: 'recuperacion' })
    }
    expect(avisosA(vecino.receptor)).toHaveLength(1)
  })

  it('that only fails for 5 days is warned about at 50 and 90 %, then disabled, and comes back by PATCH', async () => {
    const comercio = await entorno.nuevoComercio()
    const vecino = await crear(undefined, comercio)
    const creado = await crear(answerWith(500), comercio)
    const { api, webhook } = creado
    const aviso = await nuevaGuia(creado)
    await tras(creado, aviso, 1)
    await fallarVeces(creado, aviso, 21)
    const { fallas, estado } = await api.webhooks.obtener(webhook)
    // Twenty and more, but no five days.
    expect([estado, fallas]).toEqual(['activo', expect.objectContaining({ intentos: 22, ventana: 0 })])
    expect(new Date(fallas!.se_deshabilita_en).getTime() - new Date(fallas!.primera_falla_en).getTime()).toBe(
      5 * DAY_MS,
    )
    const comienzo = new Date(fallas!.primera_falla_en).getTime()
    const lineas = () =>
      entorno.log.map((linea) => JSON.parse(linea)).filter((linea) => linea.webhook === webhook && linea.level === 40)
    /** What is settled can be read a moment before it is logged. */
    const escritas = (cuantas: number) => hasta(async () => lineas().length >= cuantas)
    const a = async (parte: number) => {
      adelantar(comienzo + parte * 5 * DAY_MS - ahora())
      // The attempt that falls due by itself ends first. It would otherwise count as the resend, whose own attempt would
      // end at the next time.
      await entorno.waitForQuiet()
      await fallarVeces(creado, aviso, 1)
      return await api.webhooks.obtener(webhook)
    }
    expect(await a(0.49)).toMatchObject({ estado: 'activo', fallas: { ventana: 0 } })
    expect(lineas()).toEqual([])
    expect(await a(0.501)).toMatchObject({ estado: 'activo', fallas: { ventana: 50 } })
    await fallarVeces(creado, aviso, 1)
    await escritas(1)
    expect(lineas().map(({ msg, ventana }) => [msg, ventana])).toEqual([['webhook keeps failing', 50]])
    expect(await a(0.901)).toMatchObject({ estado: 'activo', fallas: { ventana: 90 } })
    await escritas(2)
    expect(lineas().map(({ ventana }) => ventana)).toEqual([50, 90])
    expect((await api.webhooks.avisos(vecino.webhook, { tipo: 'webhook.deshabilitado' })).datos).toEqual([])
    const deshabilitado = await a(1.001)
    expect(deshabilitado).toMatchObject({
      estado: 'deshabilitado',
      motivo: 'fallas_continuas',
      fallas: { ventana: 90 },
    })
    expect(new Date(deshabilitado.estado_en).getTime()).toBe(ahora())
    expect(new Date(deshabilitado.fallas!.primera_falla_en).getTime()).toBe(comienzo)
    await escritas(3)
    expect(lineas().map(({ msg }) => msg)).toEqual([
      'webhook keeps failing',
      'webhook keeps failing',
      'webhook disabled',
    ])
    const posted = await hasta(async () =>
      vecino.receptor.receivedWebhooks.find(({ json }) => json.tipo === 'webhook.deshabilitado'),
    )
    // The attempt that fell due by itself disabled it, before the resend failed.
    expect(posted.json.datos.webhook).toEqual({
      ...deshabilitado,
      url: `${new URL(deshabilitado.url).origin}/`,
      fallas: { ...deshabilitado.fallas, intentos: deshabilitado.fallas!.intentos - 1 },
    })
    await entorno.waitForQuiet()
    await limpiar()
    expect((await api.webhooks.obtenerAviso(webhook, aviso)).estado).toBe('fallido')

    creado.receptor.responder = answerWith(204)
    expect(await api.webhooks.cambiar(webhook, { estado: 'activo' })).toMatchObject({
      estado: 'activo',
      motivo: null,
      fallas: null,
    })
    expect(await tras(creado, await nuevaGuia(creado), 1)).toMatchObject({ estado: 'entregado' })
  })

  it('with fewer than 20 attempts in 5 days goes on', async () => {
    const creado = await crear(answerWith(500))
    const aviso = await nuevaGuia(creado)
    await tras(creado, aviso, 1)
    // The delivery's eleven are over: nothing falls due by itself.
    await fallarVeces(creado, aviso, 10)
    expect((await creado.api.webhooks.obtenerAviso(creado.webhook, aviso)).estado).toBe('fallido')
    adelantar(6 * DAY_MS)
    for (let n = 12; n <= 19; n++) {
      await fallarVeces(creado, aviso, 1)
      expect(await creado.api.webhooks.obtener(creado.webhook)).toMatchObject({
        estado: 'activo',
        fallas: { intentos: n, ventana: 90 },
      })
    }
    await fallarVeces(creado, aviso, 1)
    expect(await creado.api.webhooks.obtener(creado.webhook)).toMatchObject({
      estado: 'deshabilitado',
      motivo: 'fallas_continuas',
      fallas: { intentos: 20 },
    })
  })

  it('starts from nothing after one success', async () => {
    const creado = await crear(answerWith(500))
    const { api, webhook, receptor } = creado
    const aviso = await nuevaGuia(creado)
    await tras(creado, aviso, 1)
    await fallarVeces(creado, aviso, 20)
    adelantar(4 * DAY_MS)
    await hasta(async () => (await api.webhooks.obtener(webhook)).fallas?.ventana === 50)
    receptor.responder = answerWith(204)
    await api.webhooks.reenviar(webhook, aviso)
    await hasta(async () => (await api.webhooks.obtenerAviso(webhook, aviso)).estado === 'entregado')
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'activo', fallas: null })
    receptor.responder = answerWith(500)
    adelantar(2 * DAY_MS)
    const otra = await nuevaGuia(creado)
    await tras(creado, otra, 1)
    await fallarVeces(creado, otra, 21)
    const { estado, fallas } = await api.webhooks.obtener(webhook)
    expect([estado, fallas!.intentos, fallas!.ventana]).toEqual(['activo', 22, 0])
    expect(new Date(fallas!.primera_falla_en).getTime()).toBe(ahora())
  })
})
