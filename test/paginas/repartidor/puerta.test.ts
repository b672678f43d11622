import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { unaFoto } from '../../archivos/imagenes.ts'
import { COMPLETO, hasta } from '../../fabricas.ts'
import { hayNavegador } from '../../navegador.ts'
import {
  abrir,
  boton,
  contexto,
  enGrupos,
  entrar,
  guiaEn,
  llenarEntrega,
  nuevoRepartidor,
  pagina,
  pruebaDe,
  revisar,
  titulo,
  usarTelefono,
} from './telefono.ts'

usarTelefono()

const enRutaCon = (repartidor: string, datos: object) => guiaEn(repartidor, ['recolectado', 'en_ruta'], datos)

describe.skipIf(!hayNavegador)('in a browser', () => {
  it(
    'hands several guides over at one door with one photo and one signature, each with its own proof',
    COMPLETO,
    async () => {
      const { codigo, repartidor } = await nuevoRepartidor()
      const aqui = { lat: 14.71889, lng: -90.64417 }
      const [una, mismoLugar, mismoTelefono, mismaDireccion, otra] = [
        await enRutaCon(repartidor, { ...aqui, destinatario: 'María', direccion: '5a avenida 12' }),
        await enRutaCon(repartidor, { ...aqui, telefono: '+50255551234', destinatario: 'Luis' }),
        await enRutaCon(repartidor, { lat: 14.75, lng: -90.7, destinatario: 'María J.' }),
        await enRutaCon(repartidor, { lat: 14.76, lng: -90.7, telefono: '+50255551235', direccion: '5A Avenida 12' }),
        await enRutaCon(repartidor, { lat: 14.77, lng: -90.7, telefono: '+50255551236', destinatario: 'Lejos' }),
      ]
      await abrir()
      await entrar(codigo)
      await pagina.getByText('Las que lleva (5)').waitFor()
      await contexto.setOffline(true)
      await llenarEntrega(una, { firmar: true })
      await pagina.getByText('También en esta puerta').waitFor()
      expect(await pagina.locator('.marcable .codigo').allTextContents()).toHaveLength(3)
      expect(await pagina.getByRole('checkbox', { name: enGrupos(otra) }).count()).toBe(0)
      for (const guia of [mismoLugar, mismoTelefono])
        await pagina.getByRole('checkbox', { name: enGrupos(guia) }).check()
      await revisar('puerta')
      await boton('Confirmar la entrega').tap()
      await titulo('Entregada: 3 guías').waitFor()
      await contexto.setOffline(false)
      const pruebas = await hasta(async () => {
        const todas = await Promise.all([una, mismoLugar, mismoTelefono].map(pruebaDe))
        return todas.every(({ status }) => status === 200) && todas.map(({ cuerpo }) => cuerpo)
      })
      for (const prueba of pruebas)
        expect(prueba).toMatchObject({ recibido_por: { nombre: 'María López' }, fotos: [{}], firma: {} })
      expect(new Set(pruebas.map(({ fotos }) => fotos[0].archivo)).size).toBe(3)
      expect(new Set(pruebas.map(({ fotos }) => fotos[0].sha256)).size).toBe(1)
      expect((await pruebaDe(mismaDireccion)).status).toBe(404)
    },
  )

  it('warns far from the confirmed place, with the distance, and the proof says so', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const [lejos, cerca] = [
      await enRutaCon(repartidor, {}),
      await enRutaCon(repartidor, { lat: 14.7315, lng: -90.6442 }),
    ]
    await abrir({ geolocation: { latitude: 14.73, longitude: -90.64417, accuracy: 9 } })
    await entrar(codigo)
    await llenarEntrega(lejos)
    await pagina.getByText('Está a 1,2 km del lugar confirmado.').waitFor()
    await boton('Confirmar la entrega').tap()
    await pagina.getByRole('dialog').getByText('Está a 1,2 km del lugar confirmado').waitFor()
    await revisar('lejos')
    await boton('Volver').tap()
    expect((await pruebaDe(lejos)).status).toBe(404)
    await boton('Confirmar la entrega').tap()
    await boton('Entregar aquí').tap()
    await titulo('Entregada').waitFor()
    const prueba = await hasta(async () => {
      const dada = await pruebaDe(lejos)
      return dada.status === 200 && dada.cuerpo
    })
    expect(prueba).toMatchObject({ distancia_m: 1_235, distancia_avisada_m: 1_235 })
    await llenarEntrega(cerca)
    await pagina.getByText('precisión de unos 9 m').waitFor()
    await boton('Confirmar la entrega').tap()
    await titulo('Entregada').waitFor()
    const otra = await hasta(async () => {
      const dada = await pruebaDe(cerca)
      return dada.status === 200 && dada.cuerpo
    })
    expect(otra).toMatchObject({ distancia_m: 167, distancia_avisada_m: null })
  })

  it('keeps when a photo was taken, though the page makes it anew', async () => {
    const { codigo, repartidor } = await nuevoRepartidor()
    const guia = await enRutaCon(repartidor, {})
    await abrir({ timezoneId: 'America/Guatemala' })
    await entrar(codigo)
    await llenarEntrega(guia)
    const con = async (IFD2: Record<string, string>) => ({
      ...{ name: 'camara.jpg', mimeType: 'image/jpeg' },
      buffer: await sharp(await unaFoto())
        .withExif({ IFD2 })
        .jpeg()
        .toBuffer(),
    })
    const entrada = pagina.locator('input[type=file]')
    await entrada.setInputFiles(await con({ DateTimeOriginal: '2026:11:20 08:00:00', OffsetTimeOriginal: '-05:00' }))
    await pagina.getByAltText('Foto 2', { exact: true }).waitFor()
    // Without a zone of its own the camera's clock is the phone's.
    await entrada.setInputFiles(await con({ DateTimeOriginal: '2026:11:20 09:30:00' }))
    await pagina.getByAltText('Foto 3', { exact: true }).waitFor()
    await boton('Confirmar la entrega').tap()
    const { fotos } = await hasta(async () => {
      const dada = await pruebaDe(guia)
      return dada.status === 200 && dada.cuerpo
    })
    expect(fotos.map(({ capturado_en }: { capturado_en: string }) => capturado_en)).toEqual([
      '2026-11-20T21:04:05.000Z',
      '2026-11-20T13:00:00.000Z',
      '2026-11-20T15:30:00.000Z',
    ])
  })
})
