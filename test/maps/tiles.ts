import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** A server of tiles, blue unless told, that does as told; `goneUrl` is the address of one that is gone. */
export function useTiles() {
  const tiles = {
    url: '',
    goneUrl: '',
    answerMode: 'bien' as 'bien' | 'nunca' | 'falta' | 'enorme' | 'texto',
    color: (_direccion: string) => '#336699',
    requests: [] as string[],
  }
  const server = createServer(async (req, res) => {
    tiles.requests.push(req.url!)
    const { answerMode } = tiles
    if (answerMode === 'nunca') return
    if (answerMode === 'falta') return res.writeHead(404).end()
    if (answerMode === 'enorme') return res.end(Buffer.alloc(400_000))
    if (answerMode === 'texto') return res.end('no hay')
    const create = { width: 256, height: 256, channels: 3 as const, background: tiles.color(req.url!) }
    res.end(await sharp({ create }).png().toBuffer())
  })
  const listen = async (tileServer: typeof server) => {
    await new Promise<void>((listo) => tileServer.listen(0, '127.0.0.1', listo))
    return `http://127.0.0.1:${(tileServer.address() as AddressInfo).port}/{s}/{z}/{x}/{y}{r}.png`
  }
  beforeAll(async () => {
    tiles.url = await listen(server)
    const goneServer = createServer()
    tiles.goneUrl = await listen(goneServer)
    await new Promise((listo) => goneServer.close(listo))
  })
  beforeEach(() => {
    tiles.requests.length = 0
    tiles.answerMode = 'bien'
    tiles.color = () => '#336699'
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return tiles
}
