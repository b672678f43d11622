import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { composeMap } from '../../server/platform/maps/composeMap.ts'
import { DocumentMaps } from '../../server/platform/maps/documentMaps.ts'
import { useTiles } from './tiles.ts'

const PLAZA = { lat: 14.642, lng: -90.5133 }
const tiles = useTiles()
const compose = (url: string, point = PLAZA) => composeMap(url, point, AbortSignal.timeout(3_000))

describe('a map for a document', () => {
  it('is put together of the tiles around a point', async () => {
    const mapa = await compose(tiles.url)
    expect(mapa).toMatchObject({ ancho: 1_280, alto: 512 })
    expect(await sharp(mapa!.bytes).metadata()).toMatchObject({ format: 'jpeg', width: 1_280, height: 512 })
    const { channels } = await sharp(mapa!.bytes).stats()
    expect(channels.map(({ mean }) => Math.round(mean / 10))).toEqual([5, 10, 15])
    // By the formula of OpenStreetMap's wiki ("Slippy map tilenames").
    expect(tiles.requests).toContain('/a/16/16290/30073@2x.png')
    expect(tiles.requests.length).toBeGreaterThanOrEqual(3)
    expect(tiles.requests.length).toBeLessThanOrEqual(8)
  })

  it('has the usual resolution where the tiles have no other', async () => {
    const mapa = await compose(tiles.url.replace('{r}', ''))
    expect(mapa).toMatchObject({ ancho: 640, alto: 256 })
    expect(tiles.requests).toContain('/a/16/16290/30073.png')
  })

  it('puts each tile at its place', async () => {
    // A tile of each colour: even columns are red, odd ones blue.
    tiles.color = (direccion) => (Number(direccion.split('/')[3]) % 2 === 0 ? '#cc0000' : '#0000cc')
    for (const [url, scale] of [
      [tiles.url, 2],
      [tiles.url.replace('{r}', ''), 1],
    ] as const) {
      // The point lies in the middle of an even column.
      const centre = ((16_290 + 0.5) / 2 ** 16) * 360 - 180
      const mapa = await compose(url, { lat: PLAZA.lat, lng: centre })
      const { data } = await sharp(mapa!.bytes).raw().toBuffer({ resolveWithObject: true })
      const isRedAt = (x: number) => data[(50 * 640 * scale + x * scale) * 3]! > 128
      expect([192 - 4, 192 + 4, 320, 448 - 4, 448 + 4].map(isRedAt)).toEqual([false, true, true, true, false])
    }
  })

  it('goes around the world, and not to its poles', async () => {
    expect(await compose(tiles.url, { lat: 0, lng: 179.9999 })).not.toBeNull()
    expect(tiles.requests.some((one) => one.startsWith('/a/16/0/'))).toBe(true)
    expect(await compose(tiles.url, { lat: 89, lng: 0 })).toBeNull()
  })

  it.each(['falta', 'enorme', 'texto', 'nunca'] as const)(
    'is none when its tiles are not what they should be (%s)',
    async (target) => {
      tiles.answerMode = target
      expect(await compose(tiles.url)).toBeNull()
    },
  )

  it('is none when nobody is there', async () => {
    expect(await compose(tiles.goneUrl)).toBeNull()
  })
})

describe('maps for many documents', () => {
  it('wait once for tiles that are too slow, and not again for ten minutes', async () => {
    let now = Date.parse('2026-11-24T12:00:00Z')
    const avisos: string[] = []
    const log = { warn: (_: object, text: string) => avisos.push(text) }
    const mapas = new DocumentMaps(tiles.url, { clock: () => new Date(now), log } as never)
    tiles.answerMode = 'nunca'
    expect(await mapas.draw(PLAZA)).toBeNull()
    const requests = tiles.requests.length
    expect([requests > 0, avisos]).toEqual([true, ['map tiles too slow; documents are made without maps']])
    tiles.answerMode = 'bien'
    for (let documento = 0; documento < 5; documento++) expect(await mapas.draw(PLAZA)).toBeNull()
    expect(tiles.requests.length).toBe(requests)
    now += 600_000
    expect(await mapas.draw(PLAZA)).not.toBeNull()
    expect([tiles.requests.length > requests, avisos.length]).toEqual([true, 1])
  })

  it('ask again at once after tiles that are missing, which delay nobody', async () => {
    const mapas = new DocumentMaps(tiles.url, { clock: () => new Date(), log: { warn: () => {} } } as never)
    tiles.answerMode = 'falta'
    expect(await mapas.draw(PLAZA)).toBeNull()
    tiles.answerMode = 'bien'
    expect(await mapas.draw(PLAZA)).not.toBeNull()
  })
})
