import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'

const environment = useEnvironment()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})
const list = (guia: string) => environment.asOperador('GET', `/guias/${guia}/pruebas-rectificadas`)

describe('GET /operaciones/v1/guias/{guia}/pruebas-rectificadas', () => {
  it('shows the proof of an undone delivery, with links that open, and no valid proof', async () => {
    const { guia, foto, firma } = await createDeliveredGuia(environment, comercio)
    expect((await list(guia)).body).toEqual({ datos: [] })
    const { body: valid } = await environment.asOperador('GET', `/guias/${guia}/prueba-entrega`)
    const { secuencia } = await comercio.api.guias.obtener(guia)
    await environment.asOperador('POST', `/guias/${guia}/rectificar`, { razon: 'Era otra puerta', secuencia })
    const { datos } = (await list(guia)).body
    expect(datos).toMatchObject([
      {
        recibido_por: valid.recibido_por,
        repartidor: valid.repartidor,
        fotos: [{ archivo: foto }],
        firma: { archivo: firma },
      },
    ])
    expect(datos[0].rectificada_en > datos[0].entregado_en).toBe(true)
    expect((await fetch(datos[0].fotos[0].url)).status).toBe(200)
  })

  it('names a guide that does not exist', async () => {
    const { status, body } = await list('7K3M9QX2A1B4')
    expect([status, body.codigo]).toEqual([404, 'guia_desconocida'])
  })
})
