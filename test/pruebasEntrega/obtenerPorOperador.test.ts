import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { createDeliveredGuia, createGuiaOnRoute } from '../archivos/images.ts'
import { shareEnvironment } from '../environment.ts'

const entorno = shareEnvironment()
const leer = (guia: string) => entorno.operar('GET', `/guias/${guia}/prueba-entrega`)

describe('GET /operaciones/v1/guias/{guia}/prueba-entrega', () => {
  it('shows any merchant’s proof as the merchant sees it, with links that open', async () => {
    const comercio = await entorno.nuevoComercio('live')
    const { guia, foto, firma } = await createDeliveredGuia(entorno, comercio)
    const { status, cuerpo } = await leer(guia.toLowerCase())
    const { fotos, firma: suFirma, pdf: _pdf, ...resto } = cuerpo
    const { fotos: _1, firma: _2, pdf: _3, ...delComercio } = await comercio.api.guias.pruebaEntrega(guia)
    expect([status, resto.guia, fotos[0].archivo, suFirma.archivo]).toEqual([200, guia, foto, firma])
    expect(resto.recibido_por).toEqual(delComercio.recibido_por)
    for (const { url, mime } of [...fotos, suFirma]) {
      const respuesta = await fetch(url)
      expect([respuesta.status, respuesta.headers.get('content-type')]).toEqual([200, mime])
    }
  })

  it('returns 404 without a proof, and after the delivery was undone', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await createDeliveredGuia(entorno, comercio)
    const { secuencia } = await comercio.api.guias.obtener(guia)
    await entorno.operar('POST', `/guias/${guia}/rectificar`, { razon: 'Era otra puerta', secuencia })
    for (const una of [guia, await createGuiaOnRoute(entorno, comercio)]) {
      const { status, cuerpo } = await leer(una)
      expect([status, cuerpo.codigo]).toEqual([404, 'prueba_no_disponible'])
    }
    expect((await leer(newGuideCode())).cuerpo.codigo).toBe('guia_desconocida')
  })
})
