import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { nextAttempt, RETRY_WAITS, readRetryAfter } from '../../server/domain/webhooks/schedule.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../server/platform/time/units.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { cleanUpNow } from './prune.ts'
import { answerWith, type TestReceiver, useReceivers } from './receiver.ts'

const AHORA = new Date('2026-11-21T12:00:00.000Z')

describe('the schedule', () => {
  it('is the one that was decided: 11 attempts in 75.6 hours', () => {
    expect(RETRY_WAITS.map((ms) => ms / SECOND_MS)).toEqual([
      0, 5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ])
    expect(RETRY_WAITS.reduce((sum, ms) => sum + ms, 0) / HOUR_MS).toBeCloseTo(75.6, 1)
  })

  it('adds up to 20 %, never takes away, and ends after the eleventh', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), fc.double({ min: 0, max: 1, noNaN: true }), (hechos, random) => {
        const wait = nextAttempt(hechos, AHORA, null, random)!.getTime() - AHORA.getTime()
        expect(wait).toBeGreaterThanOrEqual(RETRY_WAITS[hechos]!)
        expect(wait).toBeLessThanOrEqual(RETRY_WAITS[hechos]! * 1.2)
      }),
    )
    expect(nextAttempt(1, AHORA, null, 0)!.getTime() - AHORA.getTime()).toBe(5_000)
    expect(nextAttempt(1, AHORA, null, 1)!.getTime() - AHORA.getTime()).toBe(6_000)
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 1_000 }), fc.string(), (hechos, requestData) => {
        expect(nextAttempt(hechos, AHORA, requestData, 0.5)).toBeUndefined()
      }),
    )
  })

  it('honours Retry-After up to 24 hours, and never waits less than without it', () => {
    const requestData = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        requestData,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, kind, random) => {
          const wait = nextAttempt(n, AHORA, kind, random)!.getTime() - AHORA.getTime()
          expect(wait).toBeGreaterThanOrEqual(RETRY_WAITS[n]!)
          expect(wait).toBeLessThanOrEqual(Math.max(RETRY_WAITS[n]! * 1.2, DAY_MS))
        },
      ),
      { numRuns: 1_000 },
    )
    const wait = (kind: string, hechos = 1) => nextAttempt(hechos, AHORA, kind, 0)!.getTime() - AHORA.getTime()
    expect(wait('3600')).toBe(HOUR_MS)
    expect(wait('86400')).toBe(DAY_MS)
    expect(wait('86401')).toBe(DAY_MS)
    expect(wait('9999999999')).toBe(DAY_MS)
    expect(wait('1', 4)).toBe(1_800_000)
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
  ])('understands «%s»', (text, seconds) => {
    expect(readRetryAfter(text, AHORA)).toBe(seconds * SECOND_MS)
  })

  it('takes a huge number for 24 hours', () => {
    for (const huge of ['99999999999', '9'.repeat(40)])
      expect(nextAttempt(1, AHORA, huge, 0)!.getTime() - AHORA.getTime()).toBe(DAY_MS)
  })

  it('reads every date as GMT, wherever the server stands', () => {
    const before = process.env.TZ
    process.env.TZ = 'America/Guatemala'
    try {
      expect(readRetryAfter('Sat Nov 21 12:30:00 2026', AHORA)).toBe(1_800_000)
      expect(readRetryAfter('Sat, 21 Nov 2026 12:30:00 GMT', AHORA)).toBe(1_800_000)
    } finally {
      if (before === undefined) delete process.env.TZ
      else process.env.TZ = before
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
  ])('makes nothing of «%s»', (text) => {
    expect(readRetryAfter(text, AHORA)).toBeUndefined()
  })
})

const environment = useEnvironment()
const openReceiver = useReceivers()
beforeAll(() => environment.freezeClock())

const now = () => environment.clock().getTime()
const advance = (ms: number) => environment.advance(ms)
const cleanUp = () => cleanUpNow(environment)

const create = async (responder?: TestReceiver['responder'], comercio?: Comercio) => {
  const ownComercio = comercio ?? (await environment.createComercio())
  const receptor = await openReceiver(responder)
  const { webhook } = await ownComercio.api.webhooks.crear({ url: receptor.url })
  return { comercio: ownComercio, api: ownComercio.api, receptor, webhook }
}
type CreatedWebhook = Awaited<ReturnType<typeof create>>
const entregaOf = ({ webhook }: Pick<CreatedWebhook, 'webhook'>, guia: string) => `avi_${webhook.slice(3)}_${guia}_1`
const createGuia = async (created: CreatedWebhook) =>
  entregaOf(created, (await created.api.guias.crear(buildGuia())).guia)
/** The delivery once that many attempts are settled. */
const afterStep = ({ api, webhook }: CreatedWebhook, aviso: string, intentos: number) =>
  waitUntil(async () => {
    const read = await api.webhooks.obtenerAviso(webhook, aviso)
    return read.intentos >= intentos && read
  })
/** How long its next attempt waits, from the end of the last one. */
const waitOf = ({ proximo_intento_en, historial }: Awaited<ReturnType<typeof afterStep>>) =>
  new Date(proximo_intento_en!).getTime() - new Date(historial[0]!.iniciado_en).getTime()
const failTimes = async (created: CreatedWebhook, aviso: string, times: number) => {
  const { intentos } = await created.api.webhooks.obtenerAviso(created.webhook, aviso)
  for (let n = 1; n <= times; n++) {
    await created.api.webhooks.reenviar(created.webhook, aviso)
    await afterStep(created, aviso, intentos + n)
  }
}
describe('a delivery', () => {
  it('that always fails is attempted 11 times, each at its time, over 75.6 hours, and then no more', async () => {
    const created = await create(answerWith(500))
    const aviso = await createGuia(created)
    for (let n = 1; n <= 10; n++) {
      const read = await afterStep(created, aviso, n)
      expect([read.intentos, read.estado, read.terminado_en]).toEqual([n, 'pendiente', null])
      const wait = waitOf(read)
      expect(wait).toBeGreaterThanOrEqual(RETRY_WAITS[n]!)
      expect(wait).toBeLessThanOrEqual(RETRY_WAITS[n]! * 1.2)
      // Just before.
      advance(wait - 1)
      await environment.waitForQuiet()
      expect(created.receptor.receivedWebhooks).toHaveLength(n)
      advance(1)
      const next = await afterStep(created, aviso, n + 1)
      expect(next.historial[0]!.iniciado_en).toBe(read.proximo_intento_en)
    }
    const final = await afterStep(created, aviso, 11)
    expect(final).toMatchObject({
      estado: 'fallido',
      intentos: 11,
      proximo_intento_en: null,
      ultimo_estado_http: 500,
      ultimo_error: 'http',
      terminado_en: expect.any(String),
    })
    expect(final.historial.map(({ numero: number }) => number)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    const instants = final.historial.map(({ iniciado_en }) => new Date(iniciado_en).getTime())
    const total = (instants[0]! - instants[10]!) / HOUR_MS
    expect(total).toBeGreaterThanOrEqual(75.6)
    expect(total).toBeLessThanOrEqual(75.6 * 1.2)
    advance(DAY_MS)
    await environment.waitForQuiet()
    expect(created.receptor.receivedWebhooks).toHaveLength(11)
    expect(new Set(created.receptor.receivedWebhooks.map(({ id, body }) => id + body)).size).toBe(1)
    // Every attempt has a time of its own.
    expect(new Set(created.receptor.receivedWebhooks.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(11)
  })

  it('waits as long as its receiver asks for, within 24 hours, and no less than the schedule', async () => {
    const en = (ms: number) => new Date(now() + ms).toUTCString()
    const cases: [number, string, number, number][] = [
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
      cases.map(async ([status, requestData, minimum, maximo]) => {
        const created = await create(answerWith(status, { 'Retry-After': requestData }))
        const read = await afterStep(created, await createGuia(created), 1)
        expect([requestData, read.ultimo_estado_http, read.estado]).toEqual([requestData, status, 'pendiente'])
        expect(waitOf(read), requestData).toBeGreaterThanOrEqual(minimum)
        expect(waitOf(read), requestData).toBeLessThanOrEqual(maximo)
      }),
    )
  })

  it('is held back by Retry-After until its time, and then goes', async () => {
    const created = await create(answerWith(429, { 'Retry-After': '3600' }))
    const aviso = await createGuia(created)
    const { proximo_intento_en } = await afterStep(created, aviso, 1)
    created.receptor.responder = answerWith(204)
    advance(new Date(proximo_intento_en!).getTime() - now() - 1)
    await environment.waitForQuiet()
    expect(created.receptor.receivedWebhooks).toHaveLength(1)
    advance(1)
    expect(await afterStep(created, aviso, 2)).toMatchObject({ estado: 'entregado', intentos: 2 })
  })

  it('follows no redirection', async () => {
    const other = await openReceiver()
    const created = await create()
    for (const [n, status] of [301, 302, 303, 307, 308].entries()) {
      created.receptor.responder = answerWith(status, { Location: other.url })
      const read = await afterStep(created, await createGuia(created), 1)
      expect(read).toMatchObject({ estado: 'pendiente', ultimo_estado_http: status, ultimo_error: 'redireccion' })
      expect(read.historial[0]!.detalle).toContain('registre la dirección final')
      expect(created.receptor.receivedWebhooks).toHaveLength(n + 1)
      // The brake would make the next one wait.
      created.receptor.responder = answerWith(204)
      await created.api.webhooks.cambiar(created.webhook, { estado: 'activo' })
    }
    expect(other.receivedWebhooks).toEqual([])
  })
})

describe('an endpoint', () => {
  it('that answers 410 is disabled at once, and the others that want to know are told', async () => {
    const comercio = await environment.createComercio()
    const vecino = await create(undefined, comercio)
    const exacto = await openReceiver()
    const foreign = await openReceiver()
    const { webhook: idExacto } = await comercio.api.webhooks.crear({
      url: exacto.url,
      tipos: ['webhook.deshabilitado'],
    })
    const { webhook: foreignId } = await comercio.api.webhooks.crear({ url: foreign.url, tipos: ['guia.*'] })
    const pausedWebhook = await create(undefined, comercio)
    await comercio.api.webhooks.cambiar(pausedWebhook.webhook, { estado: 'pausado' })
    const foreignComercio = await create()
    const created = await create(answerWith(500), comercio)
    const { api, webhook, receptor } = created
    const pending = await createGuia(created)
    await afterStep(created, pending, 1)
    receptor.responder = answerWith(410)
    const aviso = await createGuia(created)
    expect(await afterStep(created, aviso, 1)).toMatchObject({
      estado: 'fallido',
      intentos: 1,
      ultimo_estado_http: 410,
      ultimo_error: 'http',
      proximo_intento_en: null,
    })
    const deshabilitado = await api.webhooks.obtener(webhook)
    expect(deshabilitado).toMatchObject({ estado: 'deshabilitado', motivo: 'respondio_410', fallas: { intentos: 2 } })
    expect(new Date(deshabilitado.estado_en).getTime()).toBe(now())
    const avisosA = (r: TestReceiver) => r.receivedWebhooks.filter(({ json }) => json.tipo === 'webhook.deshabilitado')
    await waitUntil(async () => avisosA(vecino.receptor).length === 1 && exacto.receivedWebhooks.length === 1)
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
    expect((await api.webhooks.avisos(foreignId, { tipo: 'webhook.deshabilitado' })).datos).toEqual([])
    expect((await foreignComercio.api.webhooks.avisos(foreignComercio.webhook)).datos).toEqual([])
    expect((await api.webhooks.avisos(webhook, { tipo: 'webhook.deshabilitado' })).datos).toEqual([])

    // What waits goes no more, and new events make no delivery; both can be recovered.
    const recibidos = receptor.receivedWebhooks.length
    advance(2 * HOUR_MS)
    const lost = await createGuia(created)
    await waitUntil(async () => vecino.receptor.receivedWebhooks.length === 4)
    await environment.waitForQuiet()
    await cleanUp()
    expect((await api.webhooks.avisos(webhook, { estado: 'pendiente' })).datos).toEqual([])
    expect(await afterStep(created, pending, 1)).toMatchObject({
      estado: 'fallido',
      intentos: 1,
      ultimo_error: 'webhook_deshabilitado',
      proximo_intento_en: null,
      terminado_en: expect.any(String),
    })
    await expect(api.webhooks.obtenerAviso(webhook, lost)).rejects.toMatchObject({
      codigo: 'aviso_desconocido',
    })
    expect(receptor.receivedWebhooks).toHaveLength(recibidos)

    // The paused one hears of it when it is back.
    await api.webhooks.cambiar(pausedWebhook.webhook, { estado: 'activo' })
    await waitUntil(async () => avisosA(pausedWebhook.receptor).length === 1)

    receptor.responder = answerWith(204)
    expect(await api.webhooks.cambiar(webhook, { estado: 'activo' })).toMatchObject({
      estado: 'activo',
      motivo: null,
      fallas: null,
    })
    advance(1) // what happened in the same instant isn't before it
    await api.webhooks.recuperar(webhook, { desde: new Date(now() - DAY_MS).toISOString() })
    expect(await waitUntil(() => api.webhooks.obtenerAviso(webhook, lost).catch(() => undefined))).toBeTruthy()
    for (const [target, intentos] of [
      [pending, 2],
      [aviso, 2],
      [lost, 1],
    ] as const) {
      expect(await afterStep(created, target, intentos)).toMatchObject({ estado: 'entregado', causa: 'recuperacion' })
    }
    expect(avisosA(vecino.receptor)).toHaveLength(1)
  })

  it('that only fails for 5 days is warned about at 50 and 90 %, then disabled, and comes back by PATCH', async () => {
    const comercio = await environment.createComercio()
    const vecino = await create(undefined, comercio)
    const created = await create(answerWith(500), comercio)
    const { api, webhook } = created
    const aviso = await createGuia(created)
    await afterStep(created, aviso, 1)
    await failTimes(created, aviso, 21)
    const { fallas: faults, estado } = await api.webhooks.obtener(webhook)
    // Twenty and more, but no five days.
    expect([estado, faults]).toEqual(['activo', expect.objectContaining({ intentos: 22, ventana: 0 })])
    expect(new Date(faults!.se_deshabilita_en).getTime() - new Date(faults!.primera_falla_en).getTime()).toBe(
      5 * DAY_MS,
    )
    const comienzo = new Date(faults!.primera_falla_en).getTime()
    const lines = () =>
      environment.log.map((line) => JSON.parse(line)).filter((line) => line.webhook === webhook && line.level === 40)
    /** What is settled can be read a moment before it is logged. */
    const waitForLines = (count: number) => waitUntil(async () => lines().length >= count)
    const a = async (part: number) => {
      advance(comienzo + part * 5 * DAY_MS - now())
      // The attempt that falls due by itself ends first. It would otherwise count as the resend, whose own attempt would
      // end at the next time.
      await environment.waitForQuiet()
      await failTimes(created, aviso, 1)
      return await api.webhooks.obtener(webhook)
    }
    expect(await a(0.49)).toMatchObject({ estado: 'activo', fallas: { ventana: 0 } })
    expect(lines()).toEqual([])
    expect(await a(0.501)).toMatchObject({ estado: 'activo', fallas: { ventana: 50 } })
    await failTimes(created, aviso, 1)
    await waitForLines(1)
    expect(lines().map(({ msg, ventana }) => [msg, ventana])).toEqual([['webhook keeps failing', 50]])
    expect(await a(0.901)).toMatchObject({ estado: 'activo', fallas: { ventana: 90 } })
    await waitForLines(2)
    expect(lines().map(({ ventana }) => ventana)).toEqual([50, 90])
    expect((await api.webhooks.avisos(vecino.webhook, { tipo: 'webhook.deshabilitado' })).datos).toEqual([])
    const deshabilitado = await a(1.001)
    expect(deshabilitado).toMatchObject({
      estado: 'deshabilitado',
      motivo: 'fallas_continuas',
      fallas: { ventana: 90 },
    })
    expect(new Date(deshabilitado.estado_en).getTime()).toBe(now())
    expect(new Date(deshabilitado.fallas!.primera_falla_en).getTime()).toBe(comienzo)
    await waitForLines(3)
    expect(lines().map(({ msg }) => msg)).toEqual([
      'webhook keeps failing',
      'webhook keeps failing',
      'webhook disabled',
    ])
    const posted = await waitUntil(async () =>
      vecino.receptor.receivedWebhooks.find(({ json }) => json.tipo === 'webhook.deshabilitado'),
    )
    // The attempt that fell due by itself disabled it, before the resend failed.
    expect(posted.json.datos.webhook).toEqual({
      ...deshabilitado,
      url: `${new URL(deshabilitado.url).origin}/`,
      fallas: { ...deshabilitado.fallas, intentos: deshabilitado.fallas!.intentos - 1 },
    })
    await environment.waitForQuiet()
    await cleanUp()
    expect((await api.webhooks.obtenerAviso(webhook, aviso)).estado).toBe('fallido')

    created.receptor.responder = answerWith(204)
    expect(await api.webhooks.cambiar(webhook, { estado: 'activo' })).toMatchObject({
      estado: 'activo',
      motivo: null,
      fallas: null,
    })
    expect(await afterStep(created, await createGuia(created), 1)).toMatchObject({ estado: 'entregado' })
  })

  it('with fewer than 20 attempts in 5 days goes on', async () => {
    const created = await create(answerWith(500))
    const aviso = await createGuia(created)
    await afterStep(created, aviso, 1)
    // The delivery's eleven are over: nothing falls due by itself.
    await failTimes(created, aviso, 10)
    expect((await created.api.webhooks.obtenerAviso(created.webhook, aviso)).estado).toBe('fallido')
    advance(6 * DAY_MS)
    for (let n = 12; n <= 19; n++) {
      await failTimes(created, aviso, 1)
      expect(await created.api.webhooks.obtener(created.webhook)).toMatchObject({
        estado: 'activo',
        fallas: { intentos: n, ventana: 90 },
      })
    }
    await failTimes(created, aviso, 1)
    expect(await created.api.webhooks.obtener(created.webhook)).toMatchObject({
      estado: 'deshabilitado',
      motivo: 'fallas_continuas',
      fallas: { intentos: 20 },
    })
  })

  it('starts from nothing after one success', async () => {
    const created = await create(answerWith(500))
    const { api, webhook, receptor } = created
    const aviso = await createGuia(created)
    await afterStep(created, aviso, 1)
    await failTimes(created, aviso, 20)
    advance(4 * DAY_MS)
    await waitUntil(async () => (await api.webhooks.obtener(webhook)).fallas?.ventana === 50)
    receptor.responder = answerWith(204)
    await api.webhooks.reenviar(webhook, aviso)
    await waitUntil(async () => (await api.webhooks.obtenerAviso(webhook, aviso)).estado === 'entregado')
    expect(await api.webhooks.obtener(webhook)).toMatchObject({ estado: 'activo', fallas: null })
    receptor.responder = answerWith(500)
    advance(2 * DAY_MS)
    const other = await createGuia(created)
    await afterStep(created, other, 1)
    await failTimes(created, other, 21)
    const { estado, fallas: faults } = await api.webhooks.obtener(webhook)
    expect([estado, faults!.intentos, faults!.ventana]).toEqual(['activo', 22, 0])
    expect(new Date(faults!.primera_falla_en).getTime()).toBe(now())
  })
})
