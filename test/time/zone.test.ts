import { expect, test } from 'vitest'
import { departamentos, municipiosOf } from '../../server/domain/catalogo/catalogo.ts'
import { EXCEPTIONS, timeZoneOf } from '../../server/domain/catalogo/timeZone.ts'

const zona = (departamento: string, municipio: string, fixedOne?: string) =>
  timeZoneOf({ departamento, municipio }, fixedOne)

test.each([
  ['America/Guatemala', 'Sacatepéquez', 'Antigua Guatemala'],
  ['America/El_Salvador', 'San Salvador', 'San Salvador'],
  ['America/Tegucigalpa', 'Atlántida', 'La Ceiba'],
  ['America/Managua', 'Managua', 'Managua'],
  ['America/Costa_Rica', 'San José', 'San José'],
  ['America/Panama', 'Chiriquí', 'David'],
  ['America/Bogota', 'Antioquia', 'Medellín'],
  ['America/Mexico_City', 'Jalisco', 'Guadalajara'],
  ['America/Cancun', 'Quintana Roo', 'Cancún'],
  ['America/Tijuana', 'Baja California', 'Tijuana'],
  ['America/Hermosillo', 'Sonora', 'Hermosillo'],
  ['America/Mazatlan', 'Sinaloa', 'Culiacán'],
  ['America/Mazatlan', 'Baja California Sur', 'La Paz'],
  ['America/Ciudad_Juarez', 'Chihuahua', 'Ciudad Juárez'],
  ['America/Mexico_City', 'Chihuahua', 'Chihuahua'],
  ['America/Ojinaga', 'Chihuahua', 'Ojinaga'],
  ['America/Matamoros', 'Tamaulipas', 'Nuevo Laredo'],
  ['America/Mazatlan', 'Nayarit', 'Tepic'],
  ['America/Mexico_City', 'Nayarit', 'Bucerías'],
  ['America/Mexico_City', 'Nayarit', 'Bahía de Banderas'],
  ['America/Mexico_City', 'Nayarit', 'Nuevo Vallarta'],
  ['America/Matamoros', 'Tamaulipas', 'Guerrero'],
  ['America/Ojinaga', 'Chihuahua', 'Coyame del Sotol'],
  ['America/Ojinaga', 'Chihuahua', 'Manuel Benavides'],
  ['America/Ciudad_Juarez', 'Chihuahua', 'Puerto Palomas de Villa'],
  ['America/Mazatlan', 'Baja California', 'Guerrero Negro'],
])('%s is that of a guide to %s, %s', (zone, departamento, municipio) => {
  expect(zona(departamento, municipio)).toBe(zone)
})

test('every department and every exception of the table is in the catalogue', () => {
  const zones = departamentos().flatMap(({ codigo, pais }) =>
    municipiosOf(codigo).map(({ nombre }) => `${pais} ${zona(codigo, nombre)}`),
  )
  expect([...new Set(zones)].toSorted()).toEqual([
    'CO America/Bogota',
    'CR America/Costa_Rica',
    'GT America/Guatemala',
    'HN America/Tegucigalpa',
    ...['Cancun', 'Ciudad_Juarez', 'Hermosillo', 'Matamoros', 'Mazatlan', 'Mexico_City', 'Ojinaga', 'Tijuana'].map(
      (city) => `MX America/${city}`,
    ),
    'NI America/Managua',
    'PA America/Panama',
    'SV America/El_Salvador',
  ])
  for (const [place, zone] of EXCEPTIONS) {
    const [codigo = '', ...words] = place.split(' ')
    expect([place, municipiosOf(codigo).some(({ nombre }) => nombre === words.join(' '))]).toEqual([place, true])
    expect([place, zona(codigo, words.join(' '))]).toEqual([place, zone])
  }
})

test('is the department’s for an unknown municipality, and Guatemala’s for an unknown or ambiguous department', () => {
  expect(zona('Quintana Roo', 'La Perdida')).toBe('America/Cancun')
  expect(zona('La Perdida', 'Cancún')).toBe('America/Guatemala')
  expect(zona('La Paz', 'La Perdida')).toBe('America/Guatemala')
})

test('is TIME_ZONE wherever that is set', () => {
  expect(zona('Jalisco', 'Guadalajara', 'Europe/Madrid')).toBe('Europe/Madrid')
})
