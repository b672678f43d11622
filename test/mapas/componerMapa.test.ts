import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { composeMap } from '../../server/platform/maps/composeMap.ts'
import { usarMosaicos } from './mosaicos.ts'

const PLAZA = { lat: 14.642, lng: -90.5133 }
const mosaicos = usarMosaicos()

describe('a map for a document', () => {
  it('is put together of the tiles around a point', async () => {
    const mapa = await composeMap(mosaicos.url, PLAZA)
    expect(mapa).toMatchObject({ ancho: 640, alto: 256 })
    expect(await sharp(mapa!.bytes).metadata()).toMatchObject({ format: 'jpeg', width: 640, height: 256 })
    const { channels } = await sharp(mapa!.bytes).stats()
    expect(channels.map(({ mean }) => Math.round(mean / 10))).toEqual([5, 10, 15])
    // By the formula of OpenStreetMap's wiki ("Slippy map tilenames").
    expect(mosaicos.pedidos).toContain('/a/16/16290/30073.png')
    expect(mosaicos.pedidos.length).toBeGreaterThanOrEqual(3)
    expect(mosaicos.pedidos.length).toBeLessThanOrEqual(8)
  })

  it('goes around the world, and not to its poles', async () => {
    expect(await composeMap(mosaicos.url, { lat: 0, lng: 179.9999 })).not.toBeNull()
    expect(mosaicos.pedidos.some((uno) => uno.startsWith('/a/16/0/'))).toBe(true)
    expect(await composeMap(mosaicos.url, { lat: 89, lng: 0 })).toBeNull()
  })

  it.each(['falta', 'enorme', 'texto', 'nunca'] as const)(
    'is none when its tiles are not what they should be (%s)',
    async (cual) => {
      mosaicos.como = cual
      expect(await composeMap(mosaicos.url, PLAZA)).toBeNull()
    },
  )

  it('is none when nobody is there', async () => {
    expect(await composeMap(mosaicos.muerto, PLAZA)).toBeNull()
  })
})
