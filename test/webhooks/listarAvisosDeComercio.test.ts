import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { buildAvisoCode, nobody } from './webhooks.ts'

const environment = shareEnvironment()

const listar = (comercio: string, webhook: string, query = '') =>
  environment.asOperador('GET', `/comercios/${comercio}/webhooks/${webhook}/avisos${query}`)

describe('GET /operaciones/v1/comercios/{comercio}/webhooks/{webhook}/avisos', () => {
  it('lists the deliveries of an endpoint in pages, also by guide', async () => {
    const { api, comercio } = await environment.createComercio()
    const { webhook } = await api.webhooks.crear(nobody())
    const [one, other] = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
    const first = (await listar(comercio, webhook, '?limite=1')).body
    expect(first.datos).toMatchObject([{ aviso: buildAvisoCode(webhook, other.guia), webhook, guia: other.guia }])
    const second = (await listar(comercio, webhook, `?limite=1&cursor=${first.cursor_siguiente}`)).body
    expect(second.datos).toMatchObject([{ guia: one.guia }])
    expect((await listar(comercio, webhook, `?guia=${one.guia}`)).body.datos).toHaveLength(1)
    expect((await listar(comercio, webhook, '?estado=entregado')).body.datos).toEqual([])
  })

  it('returns 404 for an unknown merchant, and for another merchant’s endpoint', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    const { webhook } = await one.api.webhooks.crear(nobody())
    const codigo = async (comercio: string) => {
      const { status, body } = await listar(comercio, webhook)
      return [status, body.codigo]
    }
    expect(await codigo('com_NADIE')).toEqual([404, 'comercio_desconocido'])
    expect(await codigo(other.comercio)).toEqual([404, 'webhook_desconocido'])
  })
})
