import { describe, expect, it } from 'vitest'
import { contraste, contrasteConBlanco, deNoche, masOscuro } from '../../server/platform/brand/color.ts'

const COLORES = [
  '#000000',
  '#ffffff',
  '#ff0000',
  '#00ff00',
  '#0000ff',
  '#ffcc00',
  '#00ffff',
  '#777777',
  '#e2001a',
  '#f4a7b9',
]

describe('a colour', () => {
  it('has the contrast that WCAG defines', () => {
    expect(contraste('#000000', '#ffffff')).toBeCloseTo(21, 5)
    expect(contraste('#ffffff', '#000000')).toBeCloseTo(21, 5)
    expect(contraste('#777777', '#ffffff')).toBeCloseTo(4.478, 3)
    expect(contraste('#0b6b3a', '#0b6b3a')).toBe(1)
  })

  it.each(COLORES)('%s becomes one that can be read by day and at night', (color) => {
    expect(contrasteConBlanco(masOscuro(color))).toBeGreaterThanOrEqual(4.5)
    expect(contraste(deNoche(color), '#1d2421')).toBeGreaterThanOrEqual(7)
  })

  it('stays as it is where it can be read, and else changes no more than it must', () => {
    expect(masOscuro('#e2001a')).toBe('#e2001a')
    expect(deNoche('#ffcc00')).toBe('#ffcc00')
    for (const color of COLORES.filter((uno) => contrasteConBlanco(uno) < 4.5))
      expect(contrasteConBlanco(masOscuro(color))).toBeLessThan(4.7)
  })
})
