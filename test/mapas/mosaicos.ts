import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** A server of tiles, blue unless told, that does as told; `muerto` is the address of one that is gone. */
export function useTiles() {
  const mosaicos = {
    url: '',
    muerto: '',
    como: 'bien' as 'bien' | 'nunca' | 'falta' | 'enorme' | 'texto',
    color: (_direccion: string) => '#336699',
    requests: [] as string[],
  }
  const servidor = createServer(async (req, res) => {
    mosaicos.requests.push(req.url!)
    const { como } = mosaicos
    if (como === 'nunca') return
    if (como === 'falta') return res.writeHead(404).end()
    if (como === 'enorme') return res.end(Buffer.alloc(400_000))
    if (como === 'texto') return res.end('no hay')
    const create = { width: 256, height: 256, channels: 3 as const, background: mosaicos.color(req.url!) }
    res.end(await sharp({ create }).png().toBuffer())
  })
  const escuchar = async (uno: typeof servidor) => {
    await new Promise<void>((listo) => uno.listen(0, '127.0.0.1', listo))
    return `http://127.0.0.1:${(uno.address() as AddressInfo).port}/{s}/{z}/{x}/{y}{r}.png`
  }
  beforeAll(async () => {
    mosaicos.url = await escuchar(servidor)
    const ido = createServer()
    mosaicos.muerto = await escuchar(ido)
    await new Promise((listo) => ido.close(listo))
  })
  beforeEach(() => {
    mosaicos.requests.length = 0
    mosaicos.como = 'bien'
    mosaicos.color = () => '#336699'
  })
  afterAll(() => {
    servidor.closeAllConnections()
    servidor.close()
  })
  return mosaicos
}
