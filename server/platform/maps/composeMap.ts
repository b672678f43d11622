import type { PreparedImage } from '../images/prepareImage.ts'
import { loadSharp } from '../images/sharp.ts'
import type { Point } from './point.ts'
import { TILE_SIDE, tilesAround } from './tileGrid.ts'

const MAP_SIZE = { ancho: 640, alto: 256 }
const MAX_TILE_BYTES = 600_000

/**
 * Draws a map with the point in its centre. Returns null if a tile is missing or not an image, or if the point is beyond
 * the maximum latitude. Also returns null if the signal is aborted before all tiles are there. A template with `{r}` has
 * tiles of double resolution, which print sharply; the map then has twice the pixels.
 * @param url URL template of a tile: `https://…/{z}/{x}/{y}.png`, optionally with `{s}` and `{r}`
 */
export async function composeMap(url: string, point: Point, signal: AbortSignal): Promise<PreparedImage | null> {
  const placedTiles = tilesAround(url, point, MAP_SIZE)
  if (placedTiles.length === 0) return null
  const scale = url.includes('{r}') ? 2 : 1
  try {
    const tiles = placedTiles.map(async (tile) => ({
      input: await downloadTile(tile.url, signal),
      left: tile.left * scale,
      top: tile.top * scale,
    }))
    return await pasteTiles(await Promise.all(tiles), scale)
  } catch {
    return null
  }
}

async function downloadTile(url: string, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, { signal, headers: { 'User-Agent': 'guias/0.1 (proofs of delivery)' } })
  if (!response.ok || !response.body) throw new Error(`tile: ${response.status}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.length
    if (bytes > MAX_TILE_BYTES) throw new Error('tile: too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function pasteTiles(
  tiles: { input: Buffer; left: number; top: number }[],
  scale: number,
): Promise<PreparedImage> {
  const sharp = await loadSharp()
  const [ancho, alto, side] = [MAP_SIZE.ancho, MAP_SIZE.alto, TILE_SIDE].map((length) => length * scale) as [
    number,
    number,
    number,
  ]
  // Tiles extend beyond the edges of the map. The canvas therefore has a margin of one tile on each side, which is cut
  // off afterwards.
  const canvas = sharp({
    create: { width: ancho + 2 * side, height: alto + 2 * side, channels: 3, background: '#e8e4dc' },
  })
  const composed = await canvas
    .composite(
      await Promise.all(
        tiles.map(async ({ input, left, top }) => ({
          input: await sharp(input, { limitInputPixels: TILE_SIDE * TILE_SIDE * 16 })
            .resize(side, side)
            .toBuffer(),
          left: left + side,
          top: top + side,
        })),
      ),
    )
    .png()
    .toBuffer()
  const bytes = await sharp(composed)
    .extract({ left: side, top: side, width: ancho, height: alto })
    .jpeg({ quality: 82 })
    .toBuffer()
  return { bytes, ancho, alto }
}
