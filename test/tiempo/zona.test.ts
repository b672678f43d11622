import { expect, test } from 'vitest'
import { zonaDe } from '../../server/domain/catalogo/zona.ts'

test('is that of the destination’s country; outside the catalogue, Guatemala’s; a fixed one stands over both', () => {
  const zona = (departamento: string, municipio: string, fija?: string) => zonaDe({ departamento, municipio }, fija)
  expect(zona('San Salvador', 'San Salvador')).toBe('America/El_Salvador')
  expect(zona('Jalisco', 'Guadalajara')).toBe('America/Mexico_City')
  expect(zona('Sacatepéquez', 'Antigua Guatemala')).toBe('America/Guatemala')
  expect(zona('Atlántida', 'La Perdida')).toBe('America/Guatemala')
  expect(zona('Jalisco', 'Guadalajara', 'Europe/Madrid')).toBe('Europe/Madrid')
})
