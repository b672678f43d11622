import { describe, expect, it } from 'vitest'
import { enRuta, unaFoto } from '../archivos/imagenes.ts'
import { clave, comercio, movil, usarReparto } from './reparto.ts'

const { entorno, foto } = usarReparto()

describe('POST /repartidor/v1/guias/{guia}/archivos', () => {
  it('takes only pictures, of guides that exist; again is another copy', async () => {
    const guia = await enRuta(entorno, comercio, movil.repartidor)
    expect((await movil.subir('000000000000', 'foto', await unaFoto())).cuerpo.codigo).toBe('guia_desconocida')
    const mala = await movil.subir(guia, 'foto', Buffer.from('<svg onload="alert(1)"/>'))
    expect([mala.status, mala.cuerpo.codigo]).toEqual([422, 'imagen_invalida'])
    const [una, otra] = [await foto(guia), await foto(guia)]
    expect(una).not.toBe(otra)
  })

  it('is 404 for every unknown guide', async () => {
    for (const que of ['eventos', 'entrega'] as const) {
      const cuerpo =
        que === 'eventos'
          ? { estado: 'recolectado', idempotencia: clave() }
          : { recibido_por: { nombre: 'x' }, fotos: ['arch_0000000000000000'], idempotencia: clave() }
      const { status } = await movil.pedir('POST', `/guias/000000000000/${que}`, cuerpo)
      expect([que, status]).toEqual([que, 404])
    }
  })
})
