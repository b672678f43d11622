import { beforeAll, describe, expect, it } from 'vitest'
import { createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createMobile, type Mobile } from './phone.ts'

const entorno = useEnvironment({}, () => ({ COURIER_REACH: 'cualquiera' }))
let comercio: Comercio
let yo: Mobile
let otro: Mobile
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  yo = await createMobile(entorno)
  otro = await createMobile(entorno)
})

describe('COURIER_REACH=cualquiera', () => {
  it('lets every courier see and finish every guide, also those of other couriers', async () => {
    for (const custodio of [undefined, otro.repartidor]) {
      const guia = await createGuiaOnRoute(entorno, comercio, custodio)
      const vista = (await yo.request('GET', `/guias/${guia}`)).cuerpo
      expect(vista).toMatchObject({ custodia: 'propia', telefono: '+50231481676', intentos: 0 })
      expect(vista.siguientes).toHaveLength(5)
      const fotos = [(await yo.upload(guia, 'foto', await createFoto())).cuerpo.archivo]
      const entrega = { recibido_por: { nombre: 'María López' }, fotos, idempotencia: guia }
      expect((await yo.deliver(guia, entrega)).status).toBe(201)
    }
  })

  it('still lists to each what he carries', async () => {
    const guia = await createGuiaOnRoute(entorno, comercio, otro.repartidor)
    expect((await yo.request('GET', '/guias')).cuerpo.datos).toEqual([])
    expect((await otro.request('GET', '/guias')).cuerpo.datos).toMatchObject([{ guia }])
  })
})
