import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { composeMap } from '../../server/platform/maps/composeMap.ts'
import { DocumentMaps } from '../../server/platform/maps/documentMaps.ts'
import { useTiles } from './tiles.ts'

const PLAZA = { lat: 14.642, lng: -90.5133 }
const mosaicos = useTiles()
const componer = (url: string, point = PLAZA) => composeMap(url, point, AbortSignal.timeout(3_000))

describe('a map for a document', () => {
  it('is put together of the tiles around a point', async () => {
    const mapa = await componer(mosaicos.url)
    expect(mapa).toMatchObject({ ancho: 1_280, alto: 512 })
    expect(await sharp(mapa!.bytes).metadata()).toMatchObject({ format: 'jpeg', width: 1_280, height: 512 })
    const { channels } = await sharp(mapa!.bytes).stats()
    expect(channels.map(({ mean }) => Math.round(mean / 10))).toEqual([5, 10, 15])
    // By the formula of OpenStreetMap's wiki ("Slippy map tilenames").
    expect(mosaicos.requests).toContain('/a/16/16290/30073@2x.png')
    expect(mosaicos.requests.length).toBeGreaterThanOrEqual(3)
    expect(mosaicos.requests.length).toBeLessThanOrEqual(8)
  })

  it('has the usual resolution where the tiles have no other', async () => {
    const mapa = await componer(mosaicos.url.replace('{r}', ''))
    expect(mapa).toMatchObject({ ancho: 640, alto: 256 })
    expect(mosaicos.requests).toContain('/a/16/16290/30073.png')
  })

  it('puts each tile at its place', async () => {
    // A tile of each colour: even columns are red, odd ones blue.
    mosaicos.color = (direccion) => (Number(direccion.split('/')[3]) % 2 === 0 ? '#cc0000' : '#0000cc')
    for (const [url, escala] of [
      [mosaicos.url, 2],
      [mosaicos.url.replace('{r}', ''), 1],
    ] as const) {
      // The point lies in the middle of an even column.
      const centro = ((16_290 + 0.5) / 2 ** 16) * 360 - 180
      const mapa = await componer(url, { lat: PLAZA.lat, lng: centro })
      const { data } = await sharp(mapa!.bytes).raw().toBuffer({ resolveWithObject: true })
      const rojoEn = (x: number) => data[(50 * 640 * escala + x * escala) * 3]! > 128
      expect([192 - 4, 192 + 4, 320, 448 - 4, 448 + 4].map(rojoEn)).toEqual([false, true, true, true, false])
    }
  })

  it('goes around the world, and not to its poles', async () => {
    expect(await componer(mosaicos.url, { lat: 0, lng: 179.9999 })).not.toBeNull()
    expect(mosaicos.requests.some((one) => one.startsWith('/a/16/0/'))).toBe(true)
    expect(await componer(mosaicos.url, { lat: 89, lng: 0 })).toBeNull()
  })

  it.each(['falta', 'enorme', 'texto', 'nunca'] as const)(
    'is none when its tiles are not what they should be (%s)',
    async (cual) => {
      mosaicos.answerMode = cual
      expect(await componer(mosaicos.url)).toBeNull()
    },
  )

  it('is none when nobody is there', async () => {
    expect(await componer(mosaicos.goneUrl)).toBeNull()
  })
})

describe('maps for many documents', () => {
  it('wait once for tiles that are too slow, and not again for ten minutes', async () => {
    let now = Date.parse('2026-11-24T12:00:00Z')
    const avisos: string[] = []
    const log = { warn: (_: object, text: string) => avisos.push(text) }
    const mapas = new DocumentMaps(mosaicos.url, { clock: () => new Date(now), log } as never)
    mosaicos.answerMode = 'nunca'
    expect(await mapas.draw(PLAZA)).toBeNull()
    const pedidos = mosaicos.requests.length
    expect([pedidos > 0, avisos]).toEqual([true, ['map tiles too slow; documents are made without maps']])
    mosaicos.answerMode = 'bien'
    for (let documento = 0; documento < 5; documento++) expect(await mapas.draw(PLAZA)).toBeNull()
    expect(mosaicos.requests.length).toBe(pedidos)
    now += 600_000
    expect(await mapas.draw(PLAZA)).not.toBeNull()
    expect([mosaicos.requests.length > pedidos, avisos.length]).toEqual([true, 1])
  })

  it('ask again at once after tiles that are missing, which delay nobody', async () => {
    const mapas = new DocumentMaps(mosaicos.url, { clock: () => new Date(), log: { warn: () => {} } } as never)
    mosaicos.answerMode = 'falta'
    expect(await mapas.draw(PLAZA)).toBeNull()
    mosaicos.answerMode = 'bien'
    expect(await mapas.draw(PLAZA)).not.toBeNull()
  })
})
