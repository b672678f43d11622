import { type EntregaDeWebhook, ErrorParametro } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { HORA } from '../duraciones.ts'
import { unaGuia } from '../fabricas.ts'
import { contestarCon } from './receptor.ts'
import {
  type Api,
  entregaDe,
  fallaDeApi,
  nadie,
  reunirCodigos,
  terminada,
  trasIntentos,
  usarWebhooks,
} from './webhooks.ts'

const { entorno, adelantar, crear, nuevo } = usarWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => entorno.detenerReloj())

describe('GET /api/v1/webhooks/{webhook}/entregas', () => {
  it('filters by state, type, guide and time, which add up', async () => {
    const { api, webhook, receptor } = await nuevo()
    const { guia: a } = await api.guias.crear(unaGuia())
    await terminada(api, webhook, entregaDe(webhook, a))
    adelantar(5)
    receptor.responder = contestarCon(500)
    const { guia: b } = await api.guias.crear(unaGuia())
    await trasIntentos(api, webhook, entregaDe(webhook, b), 1)
    adelantar(5)
    const { entrega: prueba } = await api.webhooks.probar(webhook)
    await terminada(api, webhook, prueba)
    receptor.responder = contestarCon(204)
    adelantar(5)
    await api.guias.cancelar(a)
    const cancelada = entregaDe(webhook, a, 2)
    await terminada(api, webhook, cancelada)
    const [deA, deB] = [entregaDe(webhook, a), entregaDe(webhook, b)]
    const de = (filtros: Parameters<Api['webhooks']['entregas']>[1]) =>
      reunirCodigos('entrega', api.webhooks.entregas(webhook, filtros))
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
    const creadas = await reunirCodigos('entrega', api.webhooks.entregas(webhook))
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
      const error = await fallaDeApi(pedir())
      expect(error).toBeInstanceOf(ErrorParametro)
      expect([error.status, error.codigo]).toEqual([400, 'cursor_invalido'])
    }
    expect((await api.webhooks.entregas(webhook, { cursor, tipo: 'guia.aceptado', limite: 1 })).datos).toHaveLength(1)
  })
})
