import { type AvisoDeWebhook, ErrorParametro } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia } from '../factories.ts'
import { answerWith } from './receiver.ts'
import {
  type Api,
  buildAvisoCode,
  collectCodes,
  fallaDeApi,
  nobody,
  terminada,
  useWebhooks,
  waitForIntentos,
} from './webhooks.ts'

const { environment, advance, create, nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())

describe('GET /api/v1/webhooks/{webhook}/avisos', () => {
  it('filters by state, type, guide and time, which add up', async () => {
    const { api, webhook, receptor } = await nuevo()
    const { guia: a } = await api.guias.crear(buildGuia())
    await terminada(api, webhook, buildAvisoCode(webhook, a))
    advance(5)
    receptor.responder = answerWith(500)
    const { guia: b } = await api.guias.crear(buildGuia())
    await waitForIntentos(api, webhook, buildAvisoCode(webhook, b), 1)
    advance(5)
    const { aviso: prueba } = await api.webhooks.probar(webhook)
    await terminada(api, webhook, prueba)
    receptor.responder = answerWith(204)
    advance(5)
    await api.guias.cancelar(a)
    const cancelled = buildAvisoCode(webhook, a, 2)
    await terminada(api, webhook, cancelled)
    const [deA, deB] = [buildAvisoCode(webhook, a), buildAvisoCode(webhook, b)]
    const de = (filters: Parameters<Api['webhooks']['avisos']>[1]) =>
      collectCodes('aviso', api.webhooks.avisos(webhook, filters))
    expect(await de({})).toEqual([cancelled, prueba, deB, deA])
    expect(await de({ estado: 'entregado' })).toEqual([cancelled, deA])
    expect(await de({ estado: 'pendiente' })).toEqual([deB])
    expect(await de({ estado: 'fallido' })).toEqual([prueba])
    expect(await de({ tipo: 'guia.aceptado' })).toEqual([deB, deA])
    expect(await de({ tipo: 'webhook.prueba' })).toEqual([prueba])
    expect(await de({ tipo: 'guia.volando' })).toEqual([])
    expect(await de({ guia: a })).toEqual([cancelled, deA])
    expect(await de({ guia: `${a.slice(0, 4)}-${a.slice(4).toLowerCase()}` })).toEqual([cancelled, deA])
    expect(await de({ guia: '000000000000' })).toEqual([])
    await expect(de({ guia: 'PEDIDO-1' })).rejects.toMatchObject({
      estadoHttp: 400,
      codigo: 'parametro_invalido',
      errores: [{ campo: 'guia', mensaje: expect.stringContaining('filtro external_ref, «PEDIDO-1»') }],
    })
    expect(await de({ guia: a, estado: 'entregado', tipo: 'guia.cancelado' })).toEqual([cancelled])
    expect(await de({ guia: b, estado: 'entregado' })).toEqual([])
    const { datos } = await api.webhooks.avisos(webhook)
    const [, second, third] = datos as [AvisoDeWebhook, AvisoDeWebhook, AvisoDeWebhook]
    expect(await de({ creado_desde: second.creado_en })).toEqual([cancelled, prueba])
    expect(await de({ creado_hasta: second.creado_en })).toEqual([deB, deA])
    expect(await de({ creado_desde: third.creado_en, creado_hasta: second.creado_en })).toEqual([deB])
    const enGuatemala = `${new Date(new Date(third.creado_en).getTime() - 6 * HOUR_MS).toISOString().slice(0, -1)}-06:00`
    expect(await de({ creado_hasta: enGuatemala })).toEqual([deA])
  })

  it('pages neither double nor lose while more are made, and bind their cursor to the filters', async () => {
    const { comercio, api, webhook } = await nuevo()
    await api.guias.crearLote({ guias: Array.from({ length: 23 }, () => buildGuia()) })
    const created = await collectCodes('aviso', api.webhooks.avisos(webhook))
    expect(new Set(created).size).toBe(23)
    const readItems: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await api.webhooks.avisos(webhook, {
        limite: readItems.length % 2 === 0 ? 4 : 3,
        tipo: 'guia.aceptado',
        ...(cursor ? { cursor } : {}),
      })
      readItems.push(...page.datos.map(({ aviso }) => aviso))
      cursor = page.cursor_siguiente
      await api.guias.crear(buildGuia())
    }
    expect(readItems).toEqual(created)
    const { cursor_siguiente } = await api.webhooks.avisos(webhook, { limite: 2, tipo: 'guia.aceptado' })
    const cursor = cursor_siguiente!
    const other = await create(comercio, nobody())
    for (const request of [
      () => api.webhooks.avisos(webhook, { cursor }),
      () => api.webhooks.avisos(webhook, { cursor, tipo: 'guia.nota' }),
      () => api.webhooks.avisos(webhook, { cursor, tipo: 'guia.aceptado', estado: 'entregado' }),
      () => api.webhooks.avisos(other.webhook, { cursor, tipo: 'guia.aceptado' }),
      () => api.webhooks.listar({ cursor }),
    ]) {
      const error = await fallaDeApi(request())
      expect(error).toBeInstanceOf(ErrorParametro)
      expect([error.estadoHttp, error.codigo]).toEqual([400, 'cursor_invalido'])
    }
    expect((await api.webhooks.avisos(webhook, { cursor, tipo: 'guia.aceptado', limite: 1 })).datos).toHaveLength(1)
  })
})
