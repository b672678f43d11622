import { describe, expect, it } from 'vitest'
import { contrast, contrastWithWhite, darker, forDarkMode } from '../../server/platform/brand/color.ts'

const COLORS = [
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
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5)
    expect(contrast('#ffffff', '#000000')).toBeCloseTo(21, 5)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.478, 3)
    expect(contrast('#0b6b3a', '#0b6b3a')).toBe(1)
  })

  it.each(COLORS)('%s becomes one that can be read by day and at night', (color) => {
    expect(contrastWithWhite(darker(color))).toBeGreaterThanOrEqual(4.5)
    expect(contrast(forDarkMode(color), '#1d2421')).toBeGreaterThanOrEqual(7)
  })

  it('stays as it is where it can be read, and else changes no more than it must', () => {
    expect(darker('#e2001a')).toBe('#e2001a')
    expect(forDarkMode('#ffcc00')).toBe('#ffcc00')
    for (const color of COLORS.filter((one) => contrastWithWhite(one) < 4.5))
      expect(contrastWithWhite(darker(color))).toBeLessThan(4.7)
  })
})
