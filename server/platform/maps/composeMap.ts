import type { PreparedImage } from '../images/prepareImage.ts'
import { loadSharp } from '../images/sharp.ts'
import type { Point } from './point.ts'

/** Zoom level that shows streets and their names. The map is about 1,500 m wide. */
const ZOOM = 16
const TILE_SIDE = 256
const MAP_SIZE = { ancho: 640, alto: 256 }
/** Maximum latitude in degrees that has tiles (the edge of the Web Mercator square). */
const MAX_LATITUDE = 85.05
const MAX_TILE_BYTES = 600_000

/**
 * Draws a map with the point in its centre. Returns null if a tile is missing or not an image, or if the point is beyond
 * the maximum latitude. Also returns null if the signal is aborted before all tiles are there. A template with `{r}` has
 * tiles of double resolution, which print sharply; the map then has twice the pixels.
 * @param url URL template of a tile: `https://…/{z}/{x}/{y}.png`, optionally with `{s}` and `{r}`
 */
export async function composeMap(url: string, point: Point, signal: AbortSignal): Promise<PreparedImage | null> {
  if (Math.abs(point.lat) > MAX_LATITUDE) return null
  const left = Math.round(columnOf(point.lng) - MAP_SIZE.ancho / 2)
  const top = Math.round(rowOf(point.lat) - MAP_SIZE.alto / 2)
  const scale = url.includes('{r}') ? 2 : 1
  try {
    const tiles = tilesOf(left, top).map(async ({ x, y }) => ({
      input: await downloadTile(tileUrl(url, x, y), signal),
      left: (x * TILE_SIDE - left) * scale,
      top: (y * TILE_SIDE - top) * scale,
    }))
    return await pasteTiles(await Promise.all(tiles), scale)
  } catch {
    return null
  }
}

const WORLD_SIDE = TILE_SIDE * 2 ** ZOOM
const columnOf = (lng: number) => ((lng + 180) / 360) * WORLD_SIDE
const rowOf = (lat: number) => ((1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2) * WORLD_SIDE

function tilesOf(left: number, top: number) {
  const from = (edge: number) => Math.floor(edge / TILE_SIDE)
  const tileRange = (edge: number, length: number) =>
    Array.from({ length: from(edge + length - 1) - from(edge) + 1 }, (_, i) => from(edge) + i)
  return tileRange(top, MAP_SIZE.alto).flatMap((y) => tileRange(left, MAP_SIZE.ancho).map((x) => ({ x, y })))
}

/** Returns the URL of a tile. Columns wrap around at the 180th meridian. */
const tileUrl = (url: string, x: number, y: number) =>
  url
    .replace('{z}', String(ZOOM))
    .replace('{x}', String((x + 2 ** ZOOM) % 2 ** ZOOM))
    .replace('{y}', String(y))
    .replace('{s}', 'a')
    .replace('{r}', '@2x')

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
