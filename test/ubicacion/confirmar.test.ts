import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { checkHistory, useUbicacionRequests } from './requests.ts'

// Nothing is looked up outside: short links stay as they are.
const environment = useEnvironment({ resolver: () => Promise.reject(new Error('no DNS here')) })
const { linkOf, send, read, esperar, createGuia: fresh, scanEstados, rows } = useUbicacionRequests(environment)

const MIXCO = { departamento: 'Guatemala', municipio: 'Mixco' }
const THERE = { lat: '14.6333', lng: '-90.6064', precision_m: '12', referencia: 'Portón verde', metodo: 'gps' }
const ENLACE = 'https://www.google.com/maps/place/Casa/@14.1,-90.1,17z/data=!3d14.6341!4d-90.6055'
const SHORT_LINK = 'https://maps.app.goo.gl/abc123'
const conflicto = (codigo: string) => ({ estadoHttp: 409, codigo })

describe('the merchant', () => {
  const PUNTO = { lat: 14.6333, lng: -90.6064 }

  it('confirms with coordinates, a link, a short link, or both', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const byPoint = await api.guias.confirmarUbicacion(await fresh(comercio, MIXCO), {
      ...PUNTO,
      referencia: 'Portón verde',
    })
    expect(byPoint.ubicacion).toMatchObject({
      ...PUNTO,
      estado: 'confirmada',
      origen: 'comercio',
      maps_url: null,
      precision_m: null,
      referencia: 'Portón verde',
      confirmado_en: byPoint.actualizado_en,
      solicitud: { numero: 1, estado: 'enviado' },
    })
    const byLink = await api.guias.confirmarUbicacion(await fresh(comercio, MIXCO), { maps_url: ENLACE })
    expect(byLink.ubicacion).toMatchObject({ origen: 'comercio', lat: 14.6341, lng: -90.6055, maps_url: ENLACE })
    const shortLinkResult = await api.guias.confirmarUbicacion(await fresh(comercio, MIXCO), { maps_url: SHORT_LINK })
    expect(shortLinkResult).toMatchObject({
      advertencias: [{ codigo: 'enlace_sin_coordenadas', campo: '/ubicacion/maps_url' }],
      ubicacion: { estado: 'confirmada', lat: null, lng: null, maps_url: SHORT_LINK },
    })
    const byAmbos = await api.guias.confirmarUbicacion(await fresh(comercio, MIXCO), {
      ...PUNTO,
      maps_url: SHORT_LINK,
    })
    expect(byAmbos).toMatchObject({ advertencias: [], ubicacion: { ...PUNTO } })
    expect((await rows(byAmbos.guia)).enlace_corto).toEqual([])
    const { ubicacion } = await read(comercio, byAmbos.guia)
    expect(ubicacion).toEqual(byAmbos.ubicacion)
  })

  it('says the same again without an event, even when it is too late to say something else', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    for (const place of [PUNTO, { maps_url: ENLACE }, { maps_url: SHORT_LINK }, { ...PUNTO, referencia: 'Portón' }]) {
      const guia = await fresh(comercio, MIXCO)
      const first = await api.guias.confirmarUbicacion(guia, place)
      const all = await Promise.all(Array.from({ length: 5 }, () => api.guias.confirmarUbicacion(guia, place)))
      for (const other of all) expect(other).toEqual(first)
      expect((await read(comercio, guia)).secuencia).toBe(3)
      await scanEstados(guia, 'recolectado', 'en_ruta')
      expect((await api.guias.confirmarUbicacion(guia, place)).secuencia).toBe(5)
    }
    // Another word for it is another word.
    const guia = await fresh(comercio, MIXCO)
    await api.guias.confirmarUbicacion(guia, PUNTO)
    expect((await api.guias.confirmarUbicacion(guia, { ...PUNTO, referencia: 'Casa 3' })).secuencia).toBe(4)
  })

  it('corrects until the courier leaves, and again after a failed attempt', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const { guia } = await api.guias.crear(buildGuia())
    let lat = 14.7
    const corregir = () => {
      lat = Math.round((lat + 0.001) * 1000) / 1000
      return api.guias.confirmarUbicacion(guia, { lat, lng: -90.6 })
    }
    const cerrada = async (estado: string) => {
      const before = await rows(guia)
      await expect(corregir()).rejects.toMatchObject({ ...conflicto('ubicacion_cerrada'), problema: { estado } })
      expect(await rows(guia)).toEqual(before)
    }
    expect((await corregir()).ubicacion).toMatchObject({ lat, origen: 'comercio' })
    for (const estado of ['recolectado', 'en_bodega', 'en_transito']) {
      await scanEstados(guia, estado)
      expect((await corregir()).ubicacion.lat).toBe(lat)
    }
    await scanEstados(guia, 'en_ruta')
    await cerrada('en_ruta')
    await scanEstados(guia, 'intento_fallido')
    expect((await corregir()).ubicacion.lat).toBe(lat)
    await scanEstados(guia, 'en_ruta')
    await cerrada('en_ruta')
    await scanEstados(guia, 'entregado')
    await cerrada('entregado')
    checkHistory(await read(comercio, guia), 'confirmada')
    for (const [last, ...route] of [
      ['en_devolucion', 'recolectado'],
      ['devuelto', 'recolectado', 'en_devolucion'],
    ]) {
      const { guia: other } = await api.guias.crear(buildGuia())
      await scanEstados(other, ...route, last!)
      await expect(api.guias.confirmarUbicacion(other, { lat: 14, lng: -90 })).rejects.toMatchObject(
        conflicto('ubicacion_cerrada'),
      )
    }
    const cancelled = await fresh(comercio)
    await api.guias.cancelar(cancelled)
    await expect(api.guias.confirmarUbicacion(cancelled, PUNTO)).rejects.toMatchObject(conflicto('ubicacion_cerrada'))
  })

  it('is told what is wrong with a place', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio)
    const before = await rows(guia)
    const { llave } = comercio
    for (const [body, field] of [
      [{}, ''],
      [{ lat: 14 }, ''],
      [{ lat: 14, lng: 181 }, '/lng'],
      [{ lat: '14', lng: -90 }, '/lat'],
      [{ maps_url: 'https://evil.example/x' }, '/maps_url'],
      [{ maps_url: 'http://maps.google.com/?q=1,1' }, '/maps_url'],
      [{ ...PUNTO, maps_url: 'https://evil.example/x' }, '/maps_url'],
      [{ ...PUNTO, referencia: '' }, '/referencia'],
      [{ ...PUNTO, referencia: 'x'.repeat(201) }, '/referencia'],
      [{ ...PUNTO, precision_m: 3 }, '/precision_m'],
    ] as const) {
      const response = await environment.request('POST', `/api/v1/guias/${guia}/ubicacion`, { llave, body })
      expect([body, response.status, response.body.codigo]).toEqual([body, 422, 'validacion'])
      if (field) expect(response.body.errores.map((one: { campo: string }) => one.campo)).toContain(field)
    }
    expect((await environment.request('POST', `/api/v1/guias/${guia}/ubicacion`, { llave })).status).toBeOneOf([
      400, 415, 422,
    ])
    expect(await rows(guia)).toEqual(before)
  })

  it('has no say in others’ guides, nor with a key that only reads', async () => {
    const comercio = await environment.createComercio()
    const other = await environment.createComercio()
    const guia = await fresh(comercio)
    const before = await rows(guia)
    const alive = await environment.createLlave(comercio, { modo: 'live' })
    const readOnlyLlave = await environment.createLlave(comercio, { alcances: ['guias:leer'] })
    for (const [llave, status] of [
      [other.llave, 404],
      [alive, 404],
      [readOnlyLlave, 403],
    ] as const) {
      for (const [operacion, body] of [['ubicacion', PUNTO], ['reenviar-solicitud']] as const) {
        const response = await environment.request('POST', `/api/v1/guias/${guia}/${operacion}`, { llave, body })
        expect([operacion, response.status]).toEqual([operacion, status])
      }
    }
    await expect(other.api.guias.confirmarUbicacion('000000000000', PUNTO)).rejects.toMatchObject({ estadoHttp: 404 })
    expect(await rows(guia)).toEqual(before)
  })

  it('sees nobody leave for a place that isn’t confirmed', async () => {
    const comercio = await environment.createComercio()
    const guia = await fresh(comercio)
    await scanEstados(guia, 'recolectado')
    const leave = () => environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta' })
    expect(await leave()).toMatchObject({ status: 409, body: { codigo: 'ubicacion_sin_confirmar' } })
    environment.advance(73 * HOUR_MS)
    await esperar(comercio, guia, ({ ubicacion }) => ubicacion.estado === 'vencida')
    expect(await leave()).toMatchObject({ status: 409, body: { codigo: 'ubicacion_sin_confirmar' } })
    await comercio.api.guias.confirmarUbicacion(guia, PUNTO)
    expect((await leave()).status).toBe(201)
    // Who leaves all the same, for a reason, may still be told.
    const forcedOne = await fresh(comercio)
    await scanEstados(forcedOne, 'recolectado')
    const forzar = { estado: 'en_ruta', forzar: { razon: 'El repartidor conoce la casa' } }
    expect((await environment.asOperador('POST', `/guias/${forcedOne}/eventos`, forzar)).status).toBe(201)
    expect((await send(await linkOf(forcedOne), THERE)).status).toBe(303)
    await expect(comercio.api.guias.confirmarUbicacion(forcedOne, PUNTO)).rejects.toMatchObject(
      conflicto('ubicacion_cerrada'),
    )
    checkHistory(await read(comercio, forcedOne))
  })
})
