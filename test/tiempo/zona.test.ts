import { expect, test } from 'vitest'
import { departamentos, municipiosDe } from '../../server/domain/catalogo/catalogo.ts'
import { zonaDe } from '../../server/domain/catalogo/zona.ts'

test('is that of the capital of each country', () => {
  const paises = departamentos().map(({ pais, nombre }) => [
    pais,
    zonaDe({ departamento: nombre, municipio: municipiosDe(nombre)[0]!.nombre }, undefined),
  ])
  expect(Object.fromEntries(paises)).toEqual({
    GT: 'America/Guatemala',
    SV: 'America/El_Salvador',
    HN: 'America/Tegucigalpa',
    NI: 'America/Managua',
    CR: 'America/Costa_Rica',
    PA: 'America/Panama',
    CO: 'America/Bogota',
    MX: 'America/Mexico_City',
  })
})

test('is that of the destination’s country; outside the catalogue, Guatemala’s; a fixed one stands over both', () => {
  const zona = (departamento: string, municipio: string, fija?: string) => zonaDe({ departamento, municipio }, fija)
  expect(zona('San Salvador', 'San Salvador')).toBe('America/El_Salvador')
  expect(zona('Jalisco', 'Guadalajara')).toBe('America/Mexico_City')
  expect(zona('Sacatepéquez', 'Antigua Guatemala')).toBe('America/Guatemala')
  expect(zona('Atlántida', 'La Perdida')).toBe('America/Guatemala')
  expect(zona('Jalisco', 'Guadalajara', 'Europe/Madrid')).toBe('Europe/Madrid')
})
