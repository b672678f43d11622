import { describe, expect, it } from 'vitest'
import type { Comercio } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { buildAvisoCode, useWebhooks, waitForAviso } from './webhooks.ts'

const { environment, createEndpoint: nuevo } = useWebhooks()
const reenviar = ({ comercio }: Comercio, webhook: string, aviso: string, key?: string) =>
  environment.asOperador('POST', `/comercios/${comercio}/webhooks/${webhook}/avisos/${aviso}/reenviar`, undefined, key)

describe('POST /operaciones/v1/comercios/{comercio}/webhooks/{webhook}/avisos/{aviso}/reenviar', () => {
  it('sends the same event once more, and once for a key', async () => {
    const { api, comercio, webhook, receptor } = await nuevo()
    const { guia } = await api.guias.crear(buildGuia())
    const aviso = buildAvisoCode(webhook, guia)
    await waitForAviso(api, webhook, aviso)
    const { status, body } = await reenviar(comercio, webhook, aviso, 'otra-vez')
    expect([status, body]).toMatchObject([202, { aviso, estado: 'pendiente', causa: 'manual' }])
    await waitForAviso(api, webhook, aviso, 2)
    const repeated = await reenviar(comercio, webhook, aviso, 'otra-vez')
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
    expect(repeated.body).toMatchObject({ aviso, estado: 'entregado', intentos: 2 })
    const cuerpos = receptor.receivedWebhooks.filter(({ id }) => id === `evt_${guia}_1`).map((one) => one.body)
    expect([cuerpos.length, new Set(cuerpos).size]).toEqual([2, 1])
    const { datos } = (await environment.request('GET', '/api/v1/bitacora', { llave: comercio.llave })).body
    expect(datos.map(({ accion }: { accion: string }) => accion)).toContain('reenviarAvisoDeComercio')
    const second = buildAvisoCode(webhook, (await api.guias.crear(buildGuia())).guia)
    const other = await reenviar(comercio, webhook, second, 'otra-vez')
    expect([other.status, other.body.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
  })

  it('returns 404 for another merchant’s delivery', async () => {
    const [one, other] = [await nuevo(), await nuevo()]
    const { guia } = await one.api.guias.crear(buildGuia())
    expect((await reenviar(other.comercio, one.webhook, buildAvisoCode(one.webhook, guia))).status).toBe(404)
    expect((await reenviar(one.comercio, one.webhook, buildAvisoCode(one.webhook, guia, 9))).status).toBe(404)
  })
})
