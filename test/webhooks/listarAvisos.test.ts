import { type AvisoDeWebhook, ErrorParametro } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia } from '../factories.ts'
import { answerWith } from './receiver.ts'
import {
  type Api,
  apiFault,
  buildAvisoCode,
  collectCodes,
  nobody,
  useWebhooks,
  waitForAviso,
  waitForIntentos,
} from './webhooks.ts'

const { environment, advance, create, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())

describe('GET /api/v1/webhooks/{webhook}/avisos', () => {
  it('filters by state, type, guide and time, which add up', async () => {
    const { api, webhook, receptor } = await nuevo()
    const { guia: a } = await api.guias.crear(buildGuia())
    await waitForAviso(api, webhook, buildAvisoCode(webhook, a))
    advance(5)
    receptor.responder = answerWith(500)
    const { guia: b } = await api.guias.crear(buildGuia())
    await waitForIntentos(api, webhook, buildAvisoCode(webhook, b), 1)
    advance(5)
    const { aviso: prueba } = await api.webhooks.probar(webhook)
    await waitForAviso(api, webhook, prueba)
    receptor.responder = answerWith(204)
    advance(5)
    await api.guias.cancelar(a)
    const cancelled = buildAvisoCode(webhook, a, 2)
    await waitForAviso(api, webhook, cancelled)
    const [ofA, ofB] = [buildAvisoCode(webhook, a), buildAvisoCode(webhook, b)]
    const codesOf = (filters: Parameters<Api['webhooks']['avisos']>[1]) =>
      collectCodes('aviso', api.webhooks.avisos(webhook, filters))
    expect(await codesOf({})).toEqual([cancelled, prueba, ofB, ofA])
    expect(await codesOf({ estado: 'entregado' })).toEqual([cancelled, ofA])
    expect(await codesOf({ estado: 'pendiente' })).toEqual([ofB])
    expect(await codesOf({ estado: 'fallido' })).toEqual([prueba])
    expect(await codesOf({ tipo: 'guia.aceptado' })).toEqual([ofB, ofA])
    expect(await codesOf({ tipo: 'webhook.prueba' })).toEqual([prueba])
    expect(await codesOf({ tipo: 'guia.volando' })).toEqual([])
    expect(await codesOf({ guia: a })).toEqual([cancelled, ofA])
    expect(await codesOf({ guia: `${a.slice(0, 4)}-${a.slice(4).toLowerCase()}` })).toEqual([cancelled, ofA])
    expect(await codesOf({ guia: '000000000000' })).toEqual([])
    await expect(codesOf({ guia: 'PEDIDO-1' })).rejects.toMatchObject({
      estadoHttp: 400,
      codigo: 'parametro_invalido',
      errores: [{ campo: 'guia', mensaje: expect.stringContaining('filtro external_ref, «PEDIDO-1»') }],
    })
    expect(await codesOf({ guia: a, estado: 'entregado', tipo: 'guia.cancelado' })).toEqual([cancelled])
    expect(await codesOf({ guia: b, estado: 'entregado' })).toEqual([])
    const { datos } = await api.webhooks.avisos(webhook)
    const [, second, third] = datos as [AvisoDeWebhook, AvisoDeWebhook, AvisoDeWebhook]
    expect(await codesOf({ creado_desde: second.creado_en })).toEqual([cancelled, prueba])
    expect(await codesOf({ creado_hasta: second.creado_en })).toEqual([ofB, ofA])
    expect(await codesOf({ creado_desde: third.creado_en, creado_hasta: second.creado_en })).toEqual([ofB])
    const inGuatemala = `${new Date(new Date(third.creado_en).getTime() - 6 * HOUR_MS).toISOString().slice(0, -1)}-06:00`
    expect(await codesOf({ creado_hasta: inGuatemala })).toEqual([ofA])
  })

  it('pages neither double nor lose while more are made, and bind their cursor to the filters', async () => {
    const { comercio, api, webhook } = await nuevo()
    await api.guias.crearLote({ guias: Array.from({ length: 23 }, () => buildGuia()) })
    const created = await collectCodes('aviso', api.webhooks.avisos(webhook))
    expect(new Set(created).size).toBe(23)
    const listed: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await api.webhooks.avisos(webhook, {
        limite: listed.length % 2 === 0 ? 4 : 3,
        tipo: 'guia.aceptado',
        ...(cursor ? { cursor } : {}),
      })
      listed.push(...page.datos.map(({ aviso }) => aviso))
      cursor = page.cursor_siguiente
      await api.guias.crear(buildGuia())
    }
    expect(listed).toEqual(created)
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
      const error = await apiFault(request())
      expect(error).toBeInstanceOf(ErrorParametro)
      expect([error.estadoHttp, error.codigo]).toEqual([400, 'cursor_invalido'])
    }
    expect((await api.webhooks.avisos(webhook, { cursor, tipo: 'guia.aceptado', limite: 1 })).datos).toHaveLength(1)
  })
})
