import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_WAITING_PER_WEBHOOK } from '../../server/domain/webhooks/sending/limits.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { answerWith } from './receiver.ts'
import { type Api, apiFault, buildAvisoCode, nobody, useWebhooks, waitForAviso, waitForIntentos } from './webhooks.ts'

const { environment, openReceiver, advance, create, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())

describe('PATCH /api/v1/webhooks/{webhook}', () => {
  it('changes what it names and nothing else', async () => {
    const { api, webhook, ...created } = await nuevo(undefined, { tipos: ['guia.*'], descripcion: 'Una' })
    const { comercio: _c, receptor: _r, secreto: _s, ...before } = created
    advance(1_000)
    let previousState: object = { webhook, ...before }
    const other = await openReceiver()
    for (const cambio of [
      { descripcion: 'Otra' },
      { tipos: ['*', 'guia.nota'] },
      { url: other.url },
      { url: other.url, descripcion: 'Tercera', tipos: ['ubicacion.*'] },
      { descripcion: null },
    ] as Parameters<Api['webhooks']['cambiar']>[1][]) {
      const after = await api.webhooks.cambiar(webhook, cambio)
      expect(after).toEqual({ ...previousState, ...cambio, actualizado_en: after.actualizado_en })
      expect(after.actualizado_en > before.actualizado_en).toBe(true)
      expect(await api.webhooks.obtener(webhook)).toEqual(after)
      previousState = after
    }
  })

  it('sends what waits to the new address, and by the new types from then on', async () => {
    const { api, webhook, receptor } = await nuevo(answerWith(500))
    const { guia } = await api.guias.crear(buildGuia())
    await waitForIntentos(api, webhook, buildAvisoCode(webhook, guia), 1)
    const other = await openReceiver()
    await api.webhooks.cambiar(webhook, { url: other.url, tipos: ['guia.cancelado'] })
    advance(6_000)
    const aviso = await waitForAviso(api, webhook, buildAvisoCode(webhook, guia), 2)
    expect(aviso.historial.map(({ url }) => url)).toEqual([other.url, receptor.url])
    const { guia: second } = await api.guias.crear(buildGuia())
    await api.guias.cancelar(second)
    await waitForAviso(api, webhook, buildAvisoCode(webhook, second, 2))
    expect(other.receivedWebhooks.map(({ json }) => json.tipo)).toEqual(['guia.aceptado', 'guia.cancelado'])
    expect(receptor.receivedWebhooks).toHaveLength(1)
  })

  it('does not let a new address wait for the failures of the old one', async () => {
    const { api, webhook } = await nuevo()
    const freno = async () => {
      const { rows } = await environment.db.pool.query('select freno_vence_en from webhook where webhook = $1', [
        webhook,
      ])
      return rows[0].freno_vence_en
    }
    const vence = new Date(environment.clock().getTime() + 60_000)
    await environment.db.pool.query('update webhook set freno_vence_en = $1 where webhook = $2', [vence, webhook])
    await api.webhooks.cambiar(webhook, { descripcion: 'Otra' })
    expect(await freno()).toEqual(vence)
    await api.webhooks.cambiar(webhook, { url: (await openReceiver()).url })
    expect(await freno()).toBeNull()
  })

  it('refuses another’s address, what is not valid, and changes nothing then', async () => {
    const { comercio, api, webhook } = await nuevo(undefined, { tipos: ['guia.*'], descripcion: 'Una' })
    const other = await create(comercio, nobody())
    const before = await api.webhooks.obtener(webhook)
    const cases: [object, number, string][] = [
      [{ url: other.url, descripcion: 'X', estado: 'pausado' }, 409, 'webhook_repetido'],
      [{ url: 'https://localhost/', tipos: ['*'] }, 422, 'url_no_permitida'],
      [{ url: 'https://no-existe.ejemplo.com/', tipos: ['*'] }, 422, 'url_no_resuelve'],
      [{}, 422, 'validacion'],
      [{ estado: 'deshabilitado' }, 422, 'validacion'],
      [{ estado: 'eliminado' }, 422, 'validacion'],
      [{ estado: null }, 422, 'validacion'],
      [{ descripcion: 'X', tipos: [] }, 422, 'validacion'],
      [{ descripcion: 'X', tipos: ['guia.volando'] }, 422, 'validacion'],
      [{ descripcion: '' }, 422, 'validacion'],
      [{ descripcion: 'X', modo: 'live' }, 422, 'validacion'],
      [{ descripcion: 'X', motivo: null }, 422, 'validacion'],
      [{ id: 'wh_000000000000' }, 422, 'validacion'],
    ]
    for (const [cambio, status, codigo] of cases) {
      const error = await apiFault(api.webhooks.cambiar(webhook, cambio as never))
      expect([cambio, error.estadoHttp, error.codigo]).toEqual([cambio, status, codigo])
    }
    expect(await api.webhooks.obtener(webhook)).toEqual(before)
    // Its own address is no conflict.
    expect(await api.webhooks.cambiar(webhook, { url: before.url })).toMatchObject({ url: before.url })
  })

  it('gives one address to one of two endpoints at once', async () => {
    const { comercio, api, webhook } = await nuevo()
    const other = await create(comercio, nobody())
    const destino = nobody()
    const codigos = await Promise.all(
      [webhook, other.webhook].map((target) =>
        api.webhooks.cambiar(target, destino).then(
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
    const [a, b] = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
    advance(60_000)
    // Pausing again is no news.
    expect((await api.webhooks.cambiar(webhook, { estado: 'pausado' })).estado_en).toBe(pausado.estado_en)
    const guias: string[] = [a.guia, b.guia]
    for (let n = 0; n < 150; n++) {
      guias.push((await api.guias.crear(buildGuia())).guia)
      advance(1)
    }
    await environment.waitForQuiet(comercio)
    expect(receptor.receivedWebhooks).toEqual([])
    const aviso = await api.webhooks.obtenerAviso(webhook, buildAvisoCode(webhook, a.guia))
    expect(aviso).toMatchObject({ estado: 'pendiente', intentos: 0, historial: [], causa: 'automatica' })
    const resumedWebhook = await api.webhooks.cambiar(webhook, { estado: 'activo' })
    expect(resumedWebhook.estado_en > pausado.estado_en).toBe(true)
    await waitUntil(async () => receptor.receivedWebhooks.length >= 152)
    await environment.waitForQuiet(comercio)
    expect(receptor.receivedWebhooks).toHaveLength(152)
    // Those in the queue at a time overtake each other, and one may have to wait for a retry of its round: most keep
    // their place, which at random would be 51 away on average.
    const positions = new Map(receptor.receivedWebhooks.map(({ json }, n) => [json.datos.guia.guia, n]))
    expect(positions.size).toBe(152)
    const displacements = guias.map((guia, n) => Math.abs(positions.get(guia)! - n))
    expect(displacements.reduce((sum, displacement) => sum + displacement) / displacements.length).toBeLessThan(
      MAX_WAITING_PER_WEBHOOK / 2,
    )
  })
})
