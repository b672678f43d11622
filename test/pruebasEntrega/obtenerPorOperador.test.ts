import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { createDeliveredGuia, createGuiaOnRoute } from '../archivos/images.ts'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()
const read = (guia: string) => environment.asOperador('GET', `/guias/${guia}/prueba-entrega`)

describe('GET /operaciones/v1/guias/{guia}/prueba-entrega', () => {
  it('shows any merchant’s proof as the merchant sees it, with links that open', async () => {
    const comercio = await environment.createComercio('live')
    const { guia, foto, firma } = await createDeliveredGuia(environment, comercio)
    const { status, body } = await read(guia.toLowerCase())
    const { fotos, firma: ownFirma, pdf: _pdf, ...rest } = body
    const { fotos: _1, firma: _2, pdf: _3, ...confirmedByComercio } = await comercio.api.guias.pruebaEntrega(guia)
    expect([status, rest.guia, fotos[0].archivo, ownFirma.archivo]).toEqual([200, guia, foto, firma])
    expect(rest.recibido_por).toEqual(confirmedByComercio.recibido_por)
    for (const { url, mime } of [...fotos, ownFirma]) {
      const response = await fetch(url)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, mime])
    }
  })

  it('returns 404 without a proof, and after the delivery was undone', async () => {
    const comercio = await environment.createComercio()
    const { guia } = await createDeliveredGuia(environment, comercio)
    const { secuencia } = await comercio.api.guias.obtener(guia)
    await environment.asOperador('POST', `/guias/${guia}/rectificar`, { razon: 'Era otra puerta', secuencia })
    for (const one of [guia, await createGuiaOnRoute(environment, comercio)]) {
      const { status, body } = await read(one)
      expect([status, body.codigo]).toEqual([404, 'prueba_no_disponible'])
    }
    expect((await read(newGuideCode())).body.codigo).toBe('guia_desconocida')
  })
})
