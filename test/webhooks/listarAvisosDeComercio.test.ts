import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { buildAvisoCode, nadie } from './webhooks.ts'

const entorno = shareEnvironment()

const listar = (comercio: string, webhook: string, consulta = '') =>
  entorno.operar('GET', `/comercios/${comercio}/webhooks/${webhook}/avisos${consulta}`)

describe('GET /operaciones/v1/comercios/{comercio}/webhooks/{webhook}/avisos', () => {
  it('lists the deliveries of an endpoint in pages, also by guide', async () => {
    const { api, comercio } = await entorno.nuevoComercio()
    const { webhook } = await api.webhooks.crear(nadie())
    const [una, otra] = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
    const primera = (await listar(comercio, webhook, '?limite=1')).cuerpo
    expect(primera.datos).toMatchObject([{ aviso: buildAvisoCode(webhook, otra.guia), webhook, guia: otra.guia }])
    const segunda = (await listar(comercio, webhook, `?limite=1&cursor=${primera.cursor_siguiente}`)).cuerpo
    expect(segunda.datos).toMatchObject([{ guia: una.guia }])
    expect((await listar(comercio, webhook, `?guia=${una.guia}`)).cuerpo.datos).toHaveLength(1)
    expect((await listar(comercio, webhook, '?estado=entregado')).cuerpo.datos).toEqual([])
  })

  it('returns 404 for an unknown merchant, and for another merchant’s endpoint', async () => {
    const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
    const { webhook } = await uno.api.webhooks.crear(nadie())
    const codigo = async (comercio: string) => {
      const { status, cuerpo } = await listar(comercio, webhook)
      return [status, cuerpo.codigo]
    }
    expect(await codigo('com_NADIE')).toEqual([404, 'comercio_desconocido'])
    expect(await codigo(otro.comercio)).toEqual([404, 'webhook_desconocido'])
  })
})
