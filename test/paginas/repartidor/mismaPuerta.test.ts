import { describe, expect, it } from 'vitest'
import {
  compararPuertas,
  faltaRelacion,
  mismoDestinatario,
  type Puerta,
  puertaDe,
  recibeDe,
  recibeElMismo,
  renombrar,
  renombrarEnOtra,
  trasRenombrar,
  UNA_PUERTA_M,
} from '../../../server/pages/repartidor/browser/puerta.ts'

const M = 1 / 111_195.0802
const alNorte = (metros: number) => ({ lat: 14.7189 + metros * M, lng: -90.6442 })
const PUERTA: Puerta = { punto: alNorte(0), direccion: 'aldea loma alta san juan', telefono: '+50231480001' }
const OTRA = { direccion: 'casa azul san juan', telefono: '+50231480002' }

describe('the door of two parcels', () => {
  it.each([
    ['misma', 0, {}],
    ['misma', 20, { telefono: OTRA.telefono }],
    ['misma', 20, { direccion: OTRA.direccion }],
    ['misma', UNA_PUERTA_M - 0.01, {}],
    ['otra', UNA_PUERTA_M + 0.01, {}],
    ['otra', UNA_PUERTA_M + 0.4, { direccion: OTRA.direccion }],
    ['otra', 3_300, {}],
    ['otra', 0, OTRA],
    ['otra', 0, { direccion: '', telefono: OTRA.telefono }],
  ] as const)('is «%s» at %d m with %j', (comparacion, metros, cambios) => {
    const otra = { ...PUERTA, ...cambios, punto: alNorte(metros) }
    expect([compararPuertas(PUERTA, otra), compararPuertas(otra, PUERTA)]).toEqual([comparacion, comparacion])
  })

  it('is the courier’s to tell while either place is not confirmed, if address or telephone is equal', () => {
    const sinLugar = { ...PUERTA, punto: null }
    expect(compararPuertas(PUERTA, sinLugar)).toBe('dudosa')
    expect(compararPuertas(sinLugar, PUERTA)).toBe('dudosa')
    expect(compararPuertas(sinLugar, { ...sinLugar, telefono: OTRA.telefono })).toBe('dudosa')
    expect(compararPuertas(sinLugar, { ...sinLugar, ...OTRA })).toBe('otra')
  })

  it('takes neither two missing telephones nor two missing addresses for equal', () => {
    const callada = { punto: alNorte(0), direccion: '', telefono: null }
    expect(compararPuertas(callada, callada)).toBe('otra')
  })

  type Llevado = Parameters<typeof puertaDe>[0]
  type Lugar = NonNullable<Llevado['datos']>['ubicacion']
  const RUMBO = { hacia: 'destinatario', direccion: 'ALDEA  Loma-Alta., San José', telefono: '+50231480001' } as const
  const CONFIRMADA: Lugar = { estado: 'confirmada', lat: 14.7, lng: -90.6 }
  const llevado = (ubicacion: Lugar, cambios: Partial<Llevado> = {}): Llevado => ({
    datos: { direccion: 'ALDEA  Loma-Alta.', ubicacion },
    rumbo: RUMBO,
    pasos: [{ estado: 'entregado' }],
    ...cambios,
  })

  it('has one spelling of its address, and no point unless the place is confirmed with coordinates', () => {
    expect(puertaDe(llevado(CONFIRMADA))).toEqual({
      punto: { lat: 14.7, lng: -90.6 },
      direccion: 'aldea loma alta san jose',
      telefono: '+50231480001',
    })
    expect(puertaDe(llevado({ ...CONFIRMADA, estado: 'vencida' }))?.punto).toBeNull()
    expect(puertaDe(llevado({ ...CONFIRMADA, lat: null, lng: null }))?.punto).toBeNull()
  })

  it('is none for a parcel that is unknown, goes elsewhere, or cannot be handed over now', () => {
    expect(puertaDe(llevado(CONFIRMADA, { datos: null }))).toBeNull()
    expect(puertaDe(llevado(CONFIRMADA, { rumbo: { ...RUMBO, hacia: 'comercio' } }))).toBeNull()
    expect(puertaDe(llevado(CONFIRMADA, { pasos: [{ estado: 'en_ruta' }] }))).toBeNull()
  })
})

describe('who receives another parcel', () => {
  const MARIA = { nombre: 'María López', relacion: 'destinatario' }
  const otra = { guia: '7K3M9QX2A1B4', nombre: null, relacion: '', preguntada: false }
  const con = (cambios: object) => ({ ...otra, ...cambios })

  it('is the same person, who is nothing to another recipient until the courier says so', () => {
    expect(recibeDe(otra, MARIA, false)).toEqual({ nombre: 'María López', relacion: '' })
    expect(faltaRelacion(otra, MARIA, false)).toBe(true)
    expect(recibeDe(con({ relacion: 'familiar' }), MARIA, false)).toEqual({
      nombre: 'María López',
      relacion: 'familiar',
    })
    expect(faltaRelacion(con({ relacion: 'familiar' }), MARIA, false)).toBe(false)
  })

  it('is to the same recipient what the same person is to him with the first parcel', () => {
    expect(recibeDe(otra, MARIA, true)).toEqual(MARIA)
    expect(faltaRelacion(otra, MARIA, true)).toBe(false)
    const pedro = con({ nombre: 'Pedro Choc' })
    expect(recibeDe(pedro, MARIA, true)).toEqual({ nombre: 'Pedro Choc', relacion: '' })
    expect(faltaRelacion(pedro, MARIA, true)).toBe(true)
  })

  it('keeps no relation that was chosen under another name', () => {
    const elegida = con({ relacion: 'familiar' })
    expect(renombrarEnOtra(elegida, 'Pedro', MARIA.nombre)).toMatchObject({ nombre: 'Pedro', relacion: '' })
    expect(renombrarEnOtra(elegida, MARIA.nombre, MARIA.nombre)).toMatchObject({ nombre: null, relacion: '' })
    const propia = con({ nombre: 'Luis Pérez', relacion: 'destinatario' })
    expect(trasRenombrar([elegida, propia])).toEqual([otra, propia])
    expect(recibeElMismo(con({ nombre: 'María López ' }), MARIA)).toBe(true)
  })

  it('stops being the recipient with the recipient’s name, and nothing else', () => {
    expect(renombrar(MARIA, 'Pedro', 'María López').relacion).toBe('')
    expect(renombrar(MARIA, 'maria  lopez', 'María López').relacion).toBe('destinatario')
    expect(renombrar({ ...MARIA, relacion: 'familiar' }, 'Pedro', 'María López').relacion).toBe('familiar')
    // The guide has no name, or another spelling: the courier's own choice stays.
    expect(renombrar(MARIA, 'Pedro', null).relacion).toBe('destinatario')
    expect(renombrar({ nombre: 'Mari', relacion: 'destinatario' }, 'Mary', 'María López').relacion).toBe('destinatario')
  })

  it('has one recipient for two parcels only with the same name and the same telephone', () => {
    const una = { destinatario: 'María López', telefono: '+50231480001' }
    expect(mismoDestinatario(una, { ...una, destinatario: 'MARIA LÓPEZ' })).toBe(true)
    expect(mismoDestinatario(una, { ...una, telefono: '+50231480002' })).toBe(false)
    expect(mismoDestinatario(una, { ...una, destinatario: 'Luis' })).toBe(false)
    expect(mismoDestinatario({ ...una, destinatario: null }, { ...una, destinatario: null })).toBe(false)
    expect(mismoDestinatario({ ...una, telefono: null }, { ...una, telefono: null })).toBe(false)
  })
})
