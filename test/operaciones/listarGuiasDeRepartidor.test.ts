import { describe, expect, it } from 'vitest'
import { createGuiaOnRoute } from '../archivos/images.ts'
import { comercio, key, useDispatch } from '../repartidores/dispatch.ts'
import { createMobile } from '../repartidores/phone.ts'

const { environment } = useDispatch()

describe('GET /operaciones/v1/repartidores/{repartidor}/guias', () => {
  it('lists what the courier carries, the last that changed first', async () => {
    const [ownMobile, other] = [await createMobile(environment), await createMobile(environment)]
    const one = await createGuiaOnRoute(environment, comercio, ownMobile.repartidor)
    const second = await createGuiaOnRoute(environment, comercio, ownMobile.repartidor)
    const returningGuia = await createGuiaOnRoute(environment, comercio, ownMobile.repartidor)
    await createGuiaOnRoute(environment, comercio, other.repartidor)
    await ownMobile.registrar(one, { estado: 'intento_fallido', motivo: 'destinatario_ausente', idempotencia: key() })
    await environment.asOperador('POST', `/guias/${returningGuia}/eventos`, { estado: 'en_bodega' })
    const { datos } = (await environment.asOperador('GET', `/repartidores/${ownMobile.repartidor}/guias`)).body
    const caller = { repartidor: ownMobile.repartidor, nombre: expect.any(String) }
    expect(datos).toMatchObject([
      { guia: one, comercio: comercio.comercio, estado: 'intento_fallido', repartidor: caller },
      { guia: second, comercio: comercio.comercio, estado: 'en_ruta', repartidor: caller },
    ])
  })

  it('returns 404 for an unknown courier', async () => {
    const { status, body } = await environment.asOperador('GET', '/repartidores/rep_NADIE/guias')
    expect([status, body.codigo]).toEqual([404, 'repartidor_desconocido'])
  })
})
