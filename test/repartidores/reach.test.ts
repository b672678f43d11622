import { beforeAll, describe, expect, it } from 'vitest'
import { createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createMobile, type Mobile } from './phone.ts'

const environment = useEnvironment({}, () => ({ COURIER_REACH: 'cualquiera' }))
let comercio: Comercio
let ownMobile: Mobile
let other: Mobile
beforeAll(async () => {
  comercio = await environment.createComercio()
  ownMobile = await createMobile(environment)
  other = await createMobile(environment)
})

describe('COURIER_REACH=cualquiera', () => {
  it('lets every courier see and finish every guide, also those of other couriers', async () => {
    for (const custodio of [undefined, other.repartidor]) {
      const guia = await createGuiaOnRoute(environment, comercio, custodio)
      const view = (await ownMobile.request('GET', `/guias/${guia}`)).body
      expect(view).toMatchObject({ custodia: 'propia', telefono: '+50231481676', intentos: 0 })
      expect(view.siguientes).toHaveLength(5)
      const fotos = [(await ownMobile.upload(guia, 'foto', await createFoto())).body.archivo]
      const entrega = { recibido_por: { nombre: 'María López' }, fotos, idempotencia: guia }
      expect((await ownMobile.deliver(guia, entrega)).status).toBe(201)
    }
  })

  it('still lists to each what he carries', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, other.repartidor)
    expect((await ownMobile.request('GET', '/guias')).body.datos).toEqual([])
    expect((await other.request('GET', '/guias')).body.datos).toMatchObject([{ guia }])
  })
})
