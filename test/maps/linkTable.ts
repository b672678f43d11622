import { describe, expect, it } from 'vitest'
import { MapLinkError } from '../../server/platform/maps/links.ts'
import { readLinkedPlace } from '../../server/platform/maps/plusCodes.ts'

/** What a link should give: 'lat,lng', 'corto', 'sin' (no coordinates), or the reason of the refusal. */
type LinkCase = [enlace: string, expected: string | RegExp]

export function readLink(enlace: string, hosts?: readonly string[]): string {
  const linkedPlace = readLinkedPlace(enlace, hosts)
  if (linkedPlace.tipo === 'coordenadas') return `${linkedPlace.coordenadas.lat},${linkedPlace.coordenadas.lng}`
  return linkedPlace.tipo === 'corto' ? 'corto' : 'sin'
}

/** A test for each link of the table. */
export function testLinkTable(titulo: string, cases: LinkCase[]) {
  describe(titulo, () => {
    it.each(cases)('%s', (enlace, expected) => {
      if (typeof expected === 'string') return expect(readLink(enlace)).toBe(expected)
      expect(() => readLink(enlace)).toThrow(MapLinkError)
      expect(() => readLink(enlace)).toThrow(expected)
    })
  })
}

export const G = 'https://www.google.com/maps'
export const P = '14.6349,-90.5069'
