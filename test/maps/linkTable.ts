import { describe, expect, it } from 'vitest'
import { MapLinkError } from '../../server/platform/maps/links.ts'
import { readLinkedPlace } from '../../server/platform/maps/plusCodes.ts'

/** What a link should give: 'lat,lng', 'corto', 'sin' (no coordinates), or the reason of the refusal. */
type LinkCase = [enlace: string, esperado: string | RegExp]

export function leerEnlace(enlace: string, hosts?: readonly string[]): string {
  const leido = readLinkedPlace(enlace, hosts)
  if (leido.tipo === 'coordenadas') return `${leido.coordenadas.lat},${leido.coordenadas.lng}`
  return leido.tipo === 'corto' ? 'corto' : 'sin'
}

/** A test for each link of the table. */
export function testLinkTable(titulo: string, casos: LinkCase[]) {
  describe(titulo, () => {
    it.each(casos)('%s', (enlace, expected) => {
      if (typeof expected === 'string') return expect(leerEnlace(enlace)).toBe(expected)
      expect(() => leerEnlace(enlace)).toThrow(MapLinkError)
      expect(() => leerEnlace(enlace)).toThrow(expected)
    })
  })
}

export const G = 'https://www.google.com/maps'
export const P = '14.6349,-90.5069'
