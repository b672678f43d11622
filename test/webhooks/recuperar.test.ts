import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia, buildGuiaWithoutDestino, waitUntil } from '../factories.ts'
import { withOpenTransaction } from '../postgres.ts'
import { answerWith } from './receiver.ts'
import {
  apiFault,
  buildAvisoCode,
  nobody,
  readFailureCode,
  useWebhooks,
  type WebhookCreationData,
  waitForAviso,
  waitForIntentos,
  waitForRecovery,
  waitUntilVisible,
} from './webhooks.ts'

const { environment, openReceiver, now, advance, create, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())
/** What happens in the same instant isn't before it. */
const advanceInstant = () => advance(1)

describe('POST /api/v1/webhooks/{webhook}/recuperar', () => {
  it('sends what happened before the endpoint existed; the rehearsal counts the same', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const desde = new Date(now() - 1_000).toISOString()
    const guias: string[] = []
    for (let n = 0; n < 5; n++) guias.push((await api.guias.crear(buildGuia())).guia)
    advanceInstant()
    const receptor = await openReceiver()
    const { webhook } = await create(comercio, receptor)
    await waitUntilVisible(api, webhook, desde, 5)
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toEqual({
      eventos: 5,
      avisos: 5,
      exacto: true,
    })
    await environment.waitForQuiet(comercio)
    expect(receptor.receivedWebhooks).toEqual([])
    expect((await api.webhooks.avisos(webhook)).datos).toEqual([])
    const {
      datos: sentRequest,
      estadoHttp: status,
      cabeceras: headers,
    } = await api.webhooks.recuperar(webhook, { desde }).conRespuesta()
    expect([status, headers.get('location')]).toEqual([
      202,
      `/api/v1/webhooks/${webhook}/recuperaciones/${sentRequest.recuperacion}`,
    ])
    expect(sentRequest).toMatchObject({
      recuperacion: expect.stringMatching(/^rec_[0-9A-Z]{12}$/),
      webhook,
      estado: 'en_curso',
      desde,
      hasta: sentRequest.creado_en,
      todas: false,
      eventos: 0,
      avisos: 0,
      terminado_en: null,
    })
    expect(await waitForRecovery(api, webhook, sentRequest.recuperacion)).toMatchObject({
      estado: 'terminada',
      eventos: 5,
      avisos: 5,
    })
    await waitUntil(async () => receptor.receivedWebhooks.length >= 5)
    expect(receptor.receivedWebhooks.map((one) => one.id).sort()).toEqual(guias.map((guia) => `evt_${guia}_1`).sort())
    const { datos } = await waitUntil(async () => {
      const page = await api.webhooks.avisos(webhook, { estado: 'entregado' })
      return page.datos.length === 5 && page
    })
    expect(datos.every(({ causa, intentos }) => causa === 'recuperacion' && intentos === 1)).toBe(true)

    // Once received, only with «todas».
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toMatchObject({ eventos: 5, avisos: 0 })
    const nothing = await api.webhooks.recuperar(webhook, { desde })
    expect(await waitForRecovery(api, webhook, nothing.recuperacion)).toMatchObject({ eventos: 5, avisos: 0 })
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde, todas: true })).toMatchObject({
      eventos: 5,
      avisos: 5,
    })
    const all = await api.webhooks.recuperar(webhook, { desde, todas: true })
    expect(all.todas).toBe(true)
    expect(await waitForRecovery(api, webhook, all.recuperacion)).toMatchObject({ eventos: 5, avisos: 5 })
    await waitUntil(async () => receptor.receivedWebhooks.length >= 10)
    await environment.waitForQuiet(comercio)
    expect(receptor.receivedWebhooks).toHaveLength(10)
    expect(new Set(receptor.receivedWebhooks.map((one) => one.id + one.body)).size).toBe(5)
  })

  it('sends again what failed and leaves what waits alone', async () => {
    const { api, webhook, receptor } = await nuevo(answerWith(410))
    const desde = new Date(now() - 1_000).toISOString()
    const { guia: fallida } = await api.guias.crear(buildGuia())
    await waitForAviso(api, webhook, buildAvisoCode(webhook, fallida))
    const { guia: lost } = await api.guias.crear(buildGuia())
    advanceInstant()
    expect(await readFailureCode(api.webhooks.recuperar(webhook, { desde }))).toBe('webhook_inactivo')
    // What would be sent can be asked all the same.
    await waitUntilVisible(api, webhook, desde, 2)
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toMatchObject({ eventos: 2, avisos: 2 })
    receptor.responder = answerWith(500)
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    const { guia: wait } = await api.guias.crear(buildGuia())
    await waitForIntentos(api, webhook, buildAvisoCode(webhook, wait), 1)
    advanceInstant()
    receptor.responder = answerWith(204)
    await waitUntilVisible(api, webhook, desde, 3)
    expect(await api.webhooks.ensayarRecuperacion(webhook, { desde })).toMatchObject({ eventos: 3, avisos: 2 })
    const { recuperacion } = await api.webhooks.recuperar(webhook, { desde })
    expect(await waitForRecovery(api, webhook, recuperacion)).toMatchObject({ eventos: 3, avisos: 2 })
    expect(await waitForAviso(api, webhook, buildAvisoCode(webhook, fallida), 2)).toMatchObject({
      estado: 'entregado',
      causa: 'recuperacion',
    })
    await waitUntil(
      async () => (await api.webhooks.avisos(webhook, { guia: lost, estado: 'entregado' })).datos.length === 1,
    )
    expect(await api.webhooks.obtenerAviso(webhook, buildAvisoCode(webhook, wait))).toMatchObject({
      causa: 'automatica',
    })
  })

  it('takes exactly what lies between its bounds, of the endpoint’s types', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const a = await api.guias.crear(buildGuia())
    advance(5)
    const b = await api.guias.crear(buildGuiaWithoutDestino())
    await waitUntil(async () => (await api.guias.obtener(b.guia)).secuencia === 2)
    advance(5)
    const c = await api.guias.crear(buildGuia())
    advance(5)
    await api.guias.cancelar(a.guia)
    advance(5)
    const de = async (guia: string, n: number) => (await api.guias.eventos(guia)).datos[n]!.registrado_en
    const [tA, tB, tC, tFin] = [await de(a.guia, 0), await de(b.guia, 0), await de(c.guia, 0), await de(a.guia, 1)]
    const { webhook } = await create(comercio, nobody())
    await waitUntilVisible(api, webhook, tA, 5)
    const eventos = async (target: string, desde: string, end?: string) =>
      (await api.webhooks.ensayarRecuperacion(target, { desde, ...(end ? { hasta: end } : {}) })).eventos
    const more = (instant: string) => new Date(new Date(instant).getTime() + 1).toISOString()
    expect(await eventos(webhook, tA, more(tA))).toBe(1)
    expect(await eventos(webhook, tA, tB)).toBe(1)
    expect(await eventos(webhook, more(tA), tB)).toBe(0)
    expect(await eventos(webhook, tC, more(tC))).toBe(1)
    expect(await eventos(webhook, tFin)).toBe(1)
    expect(await eventos(webhook, more(tFin))).toBe(0)
    expect(await eventos(webhook, new Date(Date.now() - 80 * 86_400_000).toISOString())).toBe(5)
    // Of what is older than deliveries are kept, nobody knows whether it arrived.
    await expect(eventos(webhook, '1970-01-01T00:00:00Z')).rejects.toMatchObject({ estadoHttp: 422 })
    // Beyond now is now.
    expect(await eventos(webhook, tA, '9999-12-31T23:59:59Z')).toBe(5)
    for (const [tipos, count] of [
      [['guia.*'], 4],
      [['guia.aceptado'], 3],
      [['ubicacion.*'], 1],
      [['ubicacion.solicitada', 'guia.cancelado'], 2],
      [['guia.entregado'], 0],
      [['webhook.*'], 0],
      [['guia.*', '*'], 5],
    ] as [NonNullable<WebhookCreationData['tipos']>, number][]) {
      const receptor = await openReceiver()
      const ownWebhook = await create(comercio, receptor, { tipos })
      expect([tipos, await eventos(ownWebhook.webhook, tA)]).toEqual([tipos, count])
      const { recuperacion } = await api.webhooks.recuperar(ownWebhook.webhook, { desde: tA })
      expect(await waitForRecovery(api, ownWebhook.webhook, recuperacion)).toMatchObject({
        eventos: count,
        avisos: count,
      })
      await waitUntil(async () => receptor.receivedWebhooks.length === count)
    }
  })

  it('ends at the present when its end lies ahead', async () => {
    const { api, webhook } = await nuevo()
    const [from, future] = [-HOUR_MS, HOUR_MS].map((ms) => new Date(now() + ms).toISOString())
    const { hasta, creado_en: createdAt } = await api.webhooks.recuperar(webhook, { desde: from!, hasta: future! })
    expect(hasta).toBe(createdAt)
  })

  it('refuses an endpoint that is not active, a second at once, and times that are none', async () => {
    const { api, webhook } = await nuevo()
    const desde = new Date(now() - HOUR_MS).toISOString()
    await api.webhooks.cambiar(webhook, { estado: 'pausado' })
    expect(await readFailureCode(api.webhooks.recuperar(webhook, { desde }))).toBe('webhook_inactivo')
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    // None ends before all were asked for.
    const responses = await withOpenTransaction(() =>
      Promise.all(
        Array.from({ length: 4 }, () =>
          api.webhooks.recuperar(webhook, { desde }).then(
            (one) => one.recuperacion,
            ({ codigo }) => codigo,
          ),
        ),
      ),
    )
    const [first, ...remainder] = responses.toSorted((a) => (a.startsWith('rec_') ? -1 : 1))
    expect(remainder).toEqual(Array.from({ length: 3 }, () => 'recuperacion_en_curso'))
    expect(await waitForRecovery(api, webhook, first)).toMatchObject({ estado: 'terminada', eventos: 0, avisos: 0 })
    // When it is over there may be another.
    const { recuperacion: other } = await api.webhooks.recuperar(webhook, { desde })
    await waitForRecovery(api, webhook, other)
    const future = new Date(now() + HOUR_MS).toISOString()
    for (const [body, field] of [
      [{}, '/desde'],
      [{ desde: 'ayer' }, '/desde'],
      [{ desde: '2026-11-20' }, '/desde'],
      [{ desde: future }, '/desde'],
      [{ desde, hasta: desde }, '/hasta'],
      [{ desde, hasta: new Date(now() - 2 * HOUR_MS).toISOString() }, '/hasta'],
      [{ desde, todas: 'sí' }, '/todas'],
      [{ desde, tipos: ['*'] }, '/tipos'],
    ] as [object, string][]) {
      for (const request of [
        () => api.webhooks.recuperar(webhook, body as never),
        () => api.webhooks.ensayarRecuperacion(webhook, body as never),
      ]) {
        const error = await apiFault(request())
        expect([body, error.estadoHttp, error.codigo]).toEqual([body, 422, 'validacion'])
        expect(error.errores.map((one: { campo: string }) => one.campo)).toEqual([field])
      }
    }
  })
})
