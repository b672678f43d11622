import { describe, expect, it } from 'vitest'
import { departamentos, municipiosOf } from '../../server/domain/catalogo/catalogo.ts'
import { findSuspicion } from '../../server/domain/records/suspectPlaces.ts'
import { findExchanged, isInRegion } from '../../server/platform/maps/exchanged.ts'
import { distanceKm } from '../../server/platform/maps/point.ts'

const MIXCO = { lat: 14.63077, lng: -90.60711 }

describe('an implausible place', () => {
  it.each([
    ['Guatemala', { lat: 0, lng: 0 }, 'coordenadas_en_cero', null],
    ['Nadie sabe', { lat: 0, lng: 0.001 }, 'coordenadas_en_cero', null],
    ['Guatemala', { lat: 14.63077, lng: 90.60711 }, 'coordenadas_sin_signo', MIXCO],
    ['Guatemala', { lat: -14.63077, lng: -90.60711 }, 'coordenadas_sin_signo', MIXCO],
    ['Guatemala', { lat: -14.63077, lng: 90.60711 }, 'coordenadas_sin_signo', MIXCO],
    ['Soyapango', { lat: 13.71, lng: 89.14 }, 'coordenadas_sin_signo', { lat: 13.71, lng: -89.14 }],
    ['San Salvador', { lat: -89.14, lng: 13.71 }, 'coordenadas_invertidas', { lat: 13.71, lng: -89.14 }],
    ['San Salvador', { lat: 89.14, lng: 13.71 }, 'coordenadas_invertidas', { lat: 13.71, lng: -89.14 }],
    ['Sacatepéquez', { lat: -89.6, lng: 14.6 }, 'coordenadas_invertidas', { lat: 14.6, lng: -89.6 }],
    ['Sacatepéquez', { lat: 14.6, lng: 89.6 }, 'coordenadas_sin_signo', { lat: 14.6, lng: -89.6 }],
    ['Guatemala', { lat: 16.93, lng: -89.89 }, 'fuera_del_departamento', null],
    ['Guatemala', { lat: 40.4, lng: -3.7 }, 'fuera_del_departamento', null],
    ['Guatemala', { lat: 14.63, lng: 0 }, 'fuera_del_departamento', null],
  ])('%s at %o is %s', (departamento, point, codigo, correctedPoint) =>
    expect(findSuspicion(departamento, point)).toMatchObject({ codigo, corrected: correctedPoint }),
  )

  it('says how far it is from the department', () => {
    expect(findSuspicion('Guatemala', { lat: 14.63077, lng: 90.60711 })!.km).toBeCloseTo(16_741, -2)
    expect(findSuspicion('Nadie sabe', { lat: 14.63077, lng: 90.60711 })!.km).toBeNull()
  })

  it('is none in an unknown department, where no correction brings it near any', () => {
    for (const point of [MIXCO, { lat: 40.4, lng: -3.7 }, { lat: 52.5, lng: 13.4 }])
      expect(findSuspicion('Nadie sabe', point)).toBeUndefined()
  })

  it('is none of the catalogue’s own, nor what lies deep in a large department', () => {
    for (const { codigo } of departamentos())
      for (const { lat, lng } of municipiosOf(codigo))
        expect(findSuspicion(codigo, { lat, lng }), codigo).toBeUndefined()
    // Uaxactún and El Mirador, Petén, in municipalities whose centres are 54 and 95 km off.
    for (const point of [
      { lat: 17.393, lng: -89.634 },
      { lat: 17.755, lng: -89.92 },
    ])
      expect(findSuspicion('Petén', point)).toBeUndefined()
  })

  it('is found wherever a sign is lost or the two are swapped, of each municipality', () => {
    for (const { codigo } of departamentos())
      for (const { nombre, lat, lng } of municipiosOf(codigo)) {
        // South of the equator and near it, the other sign is another place of the same country.
        if (Math.abs(lat) < 3) continue
        const caseWithoutSign = findSuspicion(codigo, { lat, lng: -lng })
        expect(caseWithoutSign, nombre).toMatchObject({ codigo: 'coordenadas_sin_signo', corrected: { lat, lng } })
        if (Math.abs(lng) > 90) {
          expect(findExchanged({ lat: lng, lng: lat }), nombre).toEqual({ lat, lng })
          continue
        }
        const reversedOrder = findSuspicion(codigo, { lat: lng, lng: lat })!
        expect(reversedOrder.codigo, nombre).toBe('coordenadas_invertidas')
        expect(distanceKm(reversedOrder.corrected!, { lat, lng }), nombre).toBe(0)
      }
  })

  it('has bounds of its region around every municipality', () => {
    for (const { codigo } of departamentos())
      for (const municipio of municipiosOf(codigo)) expect(isInRegion(municipio), municipio.nombre).toBe(true)
  })
})
