import { describe, expect, it } from 'vitest'
import { MapLinkError } from '../../server/platform/maps/links.ts'
import { readLinkedPlace } from '../../server/platform/maps/plusCodes.ts'

/** What a link should give: 'lat,lng', 'corto', 'sin' (no coordinates), or the reason of the refusal. */
type LinkCase = [enlace: string, expected: string | RegExp]

export function readLink(link: string, hosts?: readonly string[]): string {
  const linkedPlace = readLinkedPlace(link, hosts)
  if (linkedPlace.tipo === 'coordenadas') return `${linkedPlace.coordinates.lat},${linkedPlace.coordinates.lng}`
  return linkedPlace.tipo === 'corto' ? 'corto' : 'sin'
}

/** A test for each link of the table. */
export function testLinkTable(title: string, cases: LinkCase[]) {
  describe(title, () => {
    it.each(cases)('%s', (link, expected) => {
      if (typeof expected === 'string') return expect(readLink(link)).toBe(expected)
      expect(() => readLink(link)).toThrow(MapLinkError)
      expect(() => readLink(link)).toThrow(expected)
    })
  })
}

export const G = 'https://www.google.com/maps'
export const P = '14.6349,-90.5069'
