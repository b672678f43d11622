import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { componerMapa } from '../../server/mapas/componerMapa.ts'

const PLAZA = { lat: 14.642, lng: -90.5133 }
const mosaico = (background: string) => sharp({ create: { width: 256, height: 256, channels: 3, background } }).png()

describe('a map for a document', () => {
  let url: string
  let como: 'bien' | 'nunca' | 'falta' | 'enorme' | 'texto'
  const pedidos: string[] = []
  const servidor = createServer(async (req, res) => {
    pedidos.push(req.url!)
    if (como === 'nunca') return
    if (como === 'falta') return res.writeHead(404).end()
    if (como === 'enorme') return res.end(Buffer.alloc(400_000))
    if (como === 'texto') return res.end('no hay')
    res.end(await mosaico('#336699').toBuffer())
  })
  beforeAll(async () => {
    await new Promise<void>((listo) => servidor.listen(0, '127.0.0.1', listo))
    url = `http://127.0.0.1:${(servidor.address() as AddressInfo).port}/{s}/{z}/{x}/{y}{r}.png`
  })
  beforeEach(() => {
    pedidos.length = 0
  })
  afterAll(() => {
    servidor.closeAllConnections()
    servidor.close()
  })

  it('is put together of the tiles around a point', async () => {
    como = 'bien'
    const mapa = await componerMapa(url, PLAZA)
    expect(mapa).toMatchObject({ ancho: 640, alto: 256 })
    expect(await sharp(mapa!.bytes).metadata()).toMatchObject({ format: 'jpeg', width: 640, height: 256 })
    const { channels } = await sharp(mapa!.bytes).stats()
    expect(channels.map(({ mean }) => Math.round(mean / 10))).toEqual([5, 10, 15])
    // By the formula of OpenStreetMap's wiki ("Slippy map tilenames").
    expect(pedidos).toContain('/a/16/16290/30073.png')
    expect(pedidos.length).toBeGreaterThanOrEqual(3)
    expect(pedidos.length).toBeLessThanOrEqual(8)
  })

  it('goes around the world, and not to its poles', async () => {
    como = 'bien'
    expect(await componerMapa(url, { lat: 0, lng: 179.9999 })).not.toBeNull()
    expect(pedidos.some((uno) => uno.startsWith('/a/16/0/'))).toBe(true)
    expect(await componerMapa(url, { lat: 89, lng: 0 })).toBeNull()
  })

  it.each(['falta', 'enorme', 'texto', 'nunca'] as const)(
    'is none when its tiles are not what they should be (%s)',
    async (cual) => {
      como = cual
      expect(await componerMapa(url, PLAZA)).toBeNull()
    },
  )
})
