import type { Point } from './point.ts'

/** Zoom level that shows streets and their names. A map of 640 tile pixels is about 1,500 m wide. */
const ZOOM = 16
/** Width and height of a tile, in pixels of single resolution. */
export const TILE_SIDE = 256
/** Maximum latitude in degrees that has tiles (the edge of the Web Mercator square). */
const MAX_LATITUDE = 85.05
const WORLD_SIDE = TILE_SIDE * 2 ** ZOOM

/** Tile of a map, and its place from the map's upper left corner, in pixels of single resolution. */
export interface PlacedTile {
  url: string
  left: number
  top: number
}

const columnOf = (lng: number) => ((lng + 180) / 360) * WORLD_SIDE
const rowOf = (lat: number) => ((1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2) * WORLD_SIDE

/**
 * Returns the tiles of a map with the point in its centre; none if the point is beyond the maximum latitude.
 * @param url URL template of a tile: `https://…/{z}/{x}/{y}.png`, optionally with `{s}` and `{r}`
 */
export function tilesAround(url: string, point: Point, { ancho, alto }: { ancho: number; alto: number }): PlacedTile[] {
  if (Math.abs(point.lat) > MAX_LATITUDE) return []
  const left = Math.round(columnOf(point.lng) - ancho / 2)
  const top = Math.round(rowOf(point.lat) - alto / 2)
  const from = (edge: number) => Math.floor(edge / TILE_SIDE)
  const tileRange = (edge: number, length: number) =>
    Array.from({ length: from(edge + length - 1) - from(edge) + 1 }, (_, i) => from(edge) + i)
  return tileRange(top, alto).flatMap((y) =>
    tileRange(left, ancho).map((x) => ({
      url: tileUrl(url, x, y),
      left: x * TILE_SIDE - left,
      top: y * TILE_SIDE - top,
    })),
  )
}

/** Returns the URL of a tile. Columns wrap around at the 180th meridian. */
const tileUrl = (url: string, x: number, y: number) =>
  url
    .replace('{z}', String(ZOOM))
    .replace('{x}', String((x + 2 ** ZOOM) % 2 ** ZOOM))
    .replace('{y}', String(y))
    .replace('{s}', 'a')
    .replace('{r}', '@2x')
