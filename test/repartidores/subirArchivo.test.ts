import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { createFoto, createGuiaOnRoute } from '../archivos/images.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'

const { environment, foto } = useDispatch()

describe('POST /repartidor/v1/guias/{guia}/archivos', () => {
  it('takes only pictures, of guides that exist; again is another copy', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    expect((await mobile.upload('000000000000', 'foto', await createFoto())).body.codigo).toBe('guia_desconocida')
    const bad = await mobile.upload(guia, 'foto', Buffer.from('<svg onload="alert(1)"/>'))
    expect([bad.status, bad.body.codigo]).toEqual([422, 'imagen_invalida'])
    const [one, other] = [await foto(guia), await foto(guia)]
    expect(one).not.toBe(other)
  })

  it('keeps when a photo was taken, as its phone says, unless the picture itself says so', async () => {
    const guia = await createGuiaOnRoute(environment, comercio, mobile.repartidor)
    const subir = async (hour: string, foto: Uint8Array) =>
      (
        await mobile.request('POST', `/guias/${guia}/archivos?tipo=foto&capturado_en=${hour}`, undefined, {
          raw: new Uint8Array(foto),
          headers: { 'Content-Type': 'image/jpeg' },
        })
      ).body
    const hour = '2026-11-21T17:42:10.000Z'
    const fotoWithoutTime = await sharp(await createFoto())
      .jpeg()
      .toBuffer()
    expect(await subir(hour, fotoWithoutTime)).toMatchObject({ capturado_en: hour })
    const IFD2 = { DateTimeOriginal: '2026:11:20 08:00:00', OffsetTimeOriginal: '-06:00' }
    const withHour = await sharp(await createFoto())
      .withExif({ IFD2 })
      .jpeg()
      .toBuffer()
    expect(await subir(hour, withHour)).toMatchObject({ capturado_en: '2026-11-20T14:00:00.000Z' })
    expect(await subir('ayer', await createFoto())).toMatchObject({ errores: [{ campo: 'capturado_en' }] })
  })

  it('is 404 for every unknown guide', async () => {
    for (const kind of ['eventos', 'entrega'] as const) {
      const body =
        kind === 'eventos'
          ? { estado: 'recolectado', idempotencia: key() }
          : { recibido_por: { nombre: 'x' }, fotos: ['arch_0000000000000000'], idempotencia: key() }
      const { status } = await mobile.request('POST', `/guias/000000000000/${kind}`, body)
      expect([kind, status]).toEqual([kind, 404])
    }
  })
})
