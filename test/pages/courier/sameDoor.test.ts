import { describe, expect, it } from 'vitest'
import {
  afterRename,
  compareDoors,
  type Door,
  doorOf,
  isSameDestinatario,
  isSameReceiver,
  lacksRelation,
  receiverOf,
  renameInOther,
  renameReceiver,
  SAME_DOOR_M,
} from '../../../server/pages/courier/browser/sameDoor.ts'

const M = 1 / 111_195.0802
const moveNorth = (meters: number) => ({ lat: 14.7189 + meters * M, lng: -90.6442 })
const DOOR: Door = { point: moveNorth(0), direccion: 'aldea loma alta san juan', telefono: '+50231480001' }
const OTHER_DATA = { direccion: 'casa azul san juan', telefono: '+50231480002' }

describe('the door of two parcels', () => {
  it.each([
    ['misma', 0, {}],
    ['misma', 20, { telefono: OTHER_DATA.telefono }],
    ['misma', 20, { direccion: OTHER_DATA.direccion }],
    ['misma', SAME_DOOR_M - 0.01, {}],
    ['otra', SAME_DOOR_M + 0.01, {}],
    ['otra', SAME_DOOR_M + 0.4, { direccion: OTHER_DATA.direccion }],
    ['otra', 3_300, {}],
    ['otra', 0, OTHER_DATA],
    ['otra', 0, { direccion: '', telefono: OTHER_DATA.telefono }],
  ] as const)('is «%s» at %d m with %j', (comparison, meters, cambios) => {
    const other = { ...DOOR, ...cambios, point: moveNorth(meters) }
    expect([compareDoors(DOOR, other), compareDoors(other, DOOR)]).toEqual([comparison, comparison])
  })

  it('is the courier’s to tell while either place is not confirmed, if address or telephone is equal', () => {
    const guiaWithoutPlace = { ...DOOR, point: null }
    expect(compareDoors(DOOR, guiaWithoutPlace)).toBe('dudosa')
    expect(compareDoors(guiaWithoutPlace, DOOR)).toBe('dudosa')
    expect(compareDoors(guiaWithoutPlace, { ...guiaWithoutPlace, telefono: OTHER_DATA.telefono })).toBe('dudosa')
    expect(compareDoors(guiaWithoutPlace, { ...guiaWithoutPlace, ...OTHER_DATA })).toBe('otra')
  })

  it('takes neither two missing telephones nor two missing addresses for equal', () => {
    const silent = { point: moveNorth(0), direccion: '', telefono: null }
    expect(compareDoors(silent, silent)).toBe('otra')
  })

  type CarriedGuia = Parameters<typeof doorOf>[0]
  type Lugar = NonNullable<CarriedGuia['datos']>['ubicacion']
  const HEADING = {
    target: 'destinatario',
    direccion: 'ALDEA  Loma-Alta., San José',
    telefono: '+50231480001',
  } as const
  const CONFIRMADA: Lugar = { estado: 'confirmada', lat: 14.7, lng: -90.6 }
  const buildCarriedGuia = (ubicacion: Lugar, cambios: Partial<CarriedGuia> = {}): CarriedGuia => ({
    datos: { direccion: 'ALDEA  Loma-Alta.', ubicacion },
    heading: HEADING,
    steps: [{ estado: 'entregado' }],
    ...cambios,
  })

  it('has one spelling of its address, and no point unless the place is confirmed with coordinates', () => {
    expect(doorOf(buildCarriedGuia(CONFIRMADA))).toEqual({
      point: { lat: 14.7, lng: -90.6 },
      direccion: 'aldea loma alta san jose',
      telefono: '+50231480001',
    })
    expect(doorOf(buildCarriedGuia({ ...CONFIRMADA, estado: 'vencida' }))?.point).toBeNull()
    expect(doorOf(buildCarriedGuia({ ...CONFIRMADA, lat: null, lng: null }))?.point).toBeNull()
  })

  it('is none for a parcel that is unknown, goes elsewhere, or cannot be handed over now', () => {
    expect(doorOf(buildCarriedGuia(CONFIRMADA, { datos: null }))).toBeNull()
    expect(doorOf(buildCarriedGuia(CONFIRMADA, { heading: { ...HEADING, target: 'comercio' } }))).toBeNull()
    expect(doorOf(buildCarriedGuia(CONFIRMADA, { steps: [{ estado: 'en_ruta' }] }))).toBeNull()
  })
})

describe('a person who receives another parcel', () => {
  const MARIA = { nombre: 'María López', relacion: 'destinatario' }
  const other = { guia: '7K3M9QX2A1B4', nombre: null, relacion: '', wasAsked: false }
  const withChanges = (cambios: object) => ({ ...other, ...cambios })

  it('is the same person, who is nothing to another recipient until the courier says so', () => {
    expect(receiverOf(other, MARIA, false)).toEqual({ nombre: 'María López', relacion: '' })
    expect(lacksRelation(other, MARIA, false)).toBe(true)
    expect(receiverOf(withChanges({ relacion: 'familiar' }), MARIA, false)).toEqual({
      nombre: 'María López',
      relacion: 'familiar',
    })
    expect(lacksRelation(withChanges({ relacion: 'familiar' }), MARIA, false)).toBe(false)
  })

  it('is to the same recipient what the same person is to him with the first parcel', () => {
    expect(receiverOf(other, MARIA, true)).toEqual(MARIA)
    expect(lacksRelation(other, MARIA, true)).toBe(false)
    const pedro = withChanges({ nombre: 'Pedro Choc' })
    expect(receiverOf(pedro, MARIA, true)).toEqual({ nombre: 'Pedro Choc', relacion: '' })
    expect(lacksRelation(pedro, MARIA, true)).toBe(true)
  })

  it('keeps no relation that was chosen under another name', () => {
    const choice = withChanges({ relacion: 'familiar' })
    expect(renameInOther(choice, 'Pedro', MARIA.nombre)).toMatchObject({ nombre: 'Pedro', relacion: '' })
    expect(renameInOther(choice, MARIA.nombre, MARIA.nombre)).toMatchObject({ nombre: null, relacion: '' })
    const propia = withChanges({ nombre: 'Luis Pérez', relacion: 'destinatario' })
    expect(afterRename([choice, propia])).toEqual([other, propia])
    expect(isSameReceiver(withChanges({ nombre: 'María López ' }), MARIA)).toBe(true)
  })

  it('stops being the recipient with the recipient’s name, and nothing else', () => {
    expect(renameReceiver(MARIA, 'Pedro', 'María López').relacion).toBe('')
    expect(renameReceiver(MARIA, 'maria  lopez', 'María López').relacion).toBe('destinatario')
    expect(renameReceiver({ ...MARIA, relacion: 'familiar' }, 'Pedro', 'María López').relacion).toBe('familiar')
    // The guide has no name, or another spelling: the courier's own choice stays.
    expect(renameReceiver(MARIA, 'Pedro', null).relacion).toBe('destinatario')
    expect(renameReceiver({ nombre: 'Mari', relacion: 'destinatario' }, 'Mary', 'María López').relacion).toBe(
      'destinatario',
    )
  })

  it('has one recipient for two parcels only with the same name and the same telephone', () => {
    const one = { destinatario: 'María López', telefono: '+50231480001' }
    expect(isSameDestinatario(one, { ...one, destinatario: 'MARIA LÓPEZ' })).toBe(true)
    expect(isSameDestinatario(one, { ...one, telefono: '+50231480002' })).toBe(false)
    expect(isSameDestinatario(one, { ...one, destinatario: 'Luis' })).toBe(false)
    expect(isSameDestinatario({ ...one, destinatario: null }, { ...one, destinatario: null })).toBe(false)
    expect(isSameDestinatario({ ...one, telefono: null }, { ...one, telefono: null })).toBe(false)
  })
})
