import { beforeAll, describe, expect, it } from 'vitest'
import { enRuta, unaFoto } from '../archivos/imagenes.ts'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { type Movil, nuevoMovil } from './movil.ts'

const entorno = usarEntorno({}, () => ({ COURIER_REACH: 'cualquiera' }))
let comercio: Comercio
let yo: Movil
let otro: Movil
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  yo = await nuevoMovil(entorno)
  otro = await nuevoMovil(entorno)
})

describe('COURIER_REACH=cualquiera', () => {
  it('lets every courier see and finish every guide, whoever carries it', async () => {
    for (const custodio of [undefined, otro.repartidor]) {
      const guia = await enRuta(entorno, comercio, custodio)
      const vista = (await yo.pedir('GET', `/guias/${guia}`)).cuerpo
      expect(vista).toMatchObject({ custodia: 'propia', telefono: '+50231481676', intentos: 0 })
      expect(vista.siguientes).toHaveLength(5)
      const fotos = [(await yo.subir(guia, 'foto', await unaFoto())).cuerpo.archivo]
      const entrega = { recibido_por: { nombre: 'María López' }, fotos, idempotencia: guia }
      expect((await yo.entregar(guia, entrega)).status).toBe(201)
    }
  })

  it('still lists to each what he carries', async () => {
    const guia = await enRuta(entorno, comercio, otro.repartidor)
    expect((await yo.pedir('GET', '/guias')).cuerpo.datos).toEqual([])
    expect((await otro.pedir('GET', '/guias')).cuerpo.datos).toMatchObject([{ guia }])
  })
})
