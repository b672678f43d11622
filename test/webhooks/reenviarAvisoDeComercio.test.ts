import { describe, expect, it } from 'vitest'
import type { Comercio } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { buildAvisoCode, terminada, useWebhooks } from './webhooks.ts'

const { environment, nuevo } = useWebhooks()
const reenviar = ({ comercio }: Comercio, webhook: string, aviso: string, clave?: string) =>
  environment.operar('POST', `/comercios/${comercio}/webhooks/${webhook}/avisos/${aviso}/reenviar`, undefined, clave)

describe('POST /operaciones/v1/comercios/{comercio}/webhooks/{webhook}/avisos/{aviso}/reenviar', () => {
  it('sends the same event once more, and once for a key', async () => {
    const { api, comercio, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(buildGuia())
    const aviso = buildAvisoCode(webhook, guia)
    await terminada(api, webhook, aviso)
    const { status, cuerpo } = await reenviar(comercio, webhook, aviso, 'otra-vez')
    expect([status, cuerpo]).toMatchObject([202, { aviso, estado: 'pendiente', causa: 'manual' }])
    await terminada(api, webhook, aviso, 2)
    const repetida = await reenviar(comercio, webhook, aviso, 'otra-vez')
    expect([repetida.status, repetida.cabeceras.get('idempotent-replayed')]).toEqual([202, 'true'])
    expect(repetida.cuerpo).toMatchObject({ aviso, estado: 'entregado', intentos: 2 })
    const cuerpos = receptor.receivedWebhooks.filter(({ id }) => id === `evt_${guia}_1`).map((uno) => uno.cuerpo)
    expect([cuerpos.length, new Set(cuerpos).size]).toEqual([2, 1])
    const { datos } = (await environment.request('GET', '/api/v1/bitacora', { llave: comercio.llave })).cuerpo
    expect(datos.map(({ accion }: { accion: string }) => accion)).toContain('reenviarAvisoDeComercio')
    const segunda = buildAvisoCode(webhook, (await api.guias.crear(buildGuia())).guia)
    const otra = await reenviar(comercio, webhook, segunda, 'otra-vez')
    expect([otra.status, otra.cuerpo.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
  })

  it('returns 404 for another merchant’s delivery', async () => {
    const [uno, otro] = [await nuevo(), await nuevo()]
    const { guia } = await uno.api.guias.crear(buildGuia())
    expect((await reenviar(otro.comercio, uno.webhook, buildAvisoCode(uno.webhook, guia))).status).toBe(404)
    expect((await reenviar(uno.comercio, uno.webhook, buildAvisoCode(uno.webhook, guia, 9))).status).toBe(404)
  })
})
