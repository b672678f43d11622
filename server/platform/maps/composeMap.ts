import type { PreparedImage } from '../images/prepareImage.ts'
import { loadSharp } from '../images/sharp.ts'
import type { Point } from './point.ts'

/** Zoom level that shows streets and their names. The map is about 1,500 m wide. */
const ZOOM = 16
const LADO = 256
const MEDIDA = { ancho: 640, alto: 256 }
/** Maximum latitude in degrees that has tiles (the edge of the Web Mercator square). */
const LATITUD_MAXIMA = 85.05
/** Time limit in milliseconds for all tiles together. A document does not wait longer for its map. */
const PLAZO = 3_000
const BYTES_POR_MOSAICO = 300_000

/**
 * Draws a map with the point in its centre. Returns null if a tile is missing, late or not an image, or if the point is
 * beyond the maximum latitude.
 * @param url URL template of a tile: `https://…/{z}/{x}/{y}.png`, optionally with `{s}` and `{r}`
 */
export async function composeMap(url: string, punto: Point): Promise<PreparedImage | null> {
  if (Math.abs(punto.lat) > LATITUD_MAXIMA) return null
  const izquierda = Math.round(columna(punto.lng) - MEDIDA.ancho / 2)
  const arriba = Math.round(fila(punto.lat) - MEDIDA.alto / 2)
  const senal = AbortSignal.timeout(PLAZO)
  try {
    const mosaicos = mosaicosDe(izquierda, arriba).map(async ({ x, y }) => ({
      input: await bajar(direccionDe(url, x, y), senal),
      left: x * LADO - izquierda,
      top: y * LADO - arriba,
    }))
    return await pegar(await Promise.all(mosaicos))
  } catch {
    return null
  }
}

const MUNDO = LADO * 2 ** ZOOM
const columna = (lng: number) => ((lng + 180) / 360) * MUNDO
const fila = (lat: number) => ((1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2) * MUNDO

function mosaicosDe(izquierda: number, arriba: number) {
  const desde = (borde: number) => Math.floor(borde / LADO)
  const rango = (borde: number, largo: number) =>
    Array.from({ length: desde(borde + largo - 1) - desde(borde) + 1 }, (_, i) => desde(borde) + i)
  return rango(arriba, MEDIDA.alto).flatMap((y) => rango(izquierda, MEDIDA.ancho).map((x) => ({ x, y })))
}

/** Returns the URL of a tile. Columns wrap around at the 180th meridian. */
const direccionDe = (url: string, x: number, y: number) =>
  url
    .replace('{z}', String(ZOOM))
    .replace('{x}', String((x + 2 ** ZOOM) % 2 ** ZOOM))
    .replace('{y}', String(y))
    .replace('{s}', 'a')
    .replace('{r}', '')

async function bajar(url: string, signal: AbortSignal): Promise<Buffer> {
  const respuesta = await fetch(url, { signal, headers: { 'User-Agent': 'guias/0.1 (proofs of delivery)' } })
  if (!respuesta.ok || !respuesta.body) throw new Error(`tile: ${respuesta.status}`)
  const trozos: Uint8Array[] = []
  let bytes = 0
  for await (const trozo of respuesta.body) {
    bytes += trozo.length
    if (bytes > BYTES_POR_MOSAICO) throw new Error('tile: too large')
    trozos.push(trozo)
  }
  return Buffer.concat(trozos)
}

async function pegar(mosaicos: { input: Buffer; left: number; top: number }[]): Promise<PreparedImage> {
  const sharp = await loadSharp()
  const { ancho, alto } = MEDIDA
  // Tiles extend beyond the edges of the map. The canvas therefore has a margin of one tile on each side, which is cut
  // off afterwards.
  const lienzo = sharp({
    create: { width: ancho + 2 * LADO, height: alto + 2 * LADO, channels: 3, background: '#e8e4dc' },
  })
  const pegados = await lienzo
    .composite(
      await Promise.all(
        mosaicos.map(async ({ input, left, top }) => ({
          input: await sharp(input, { limitInputPixels: LADO * LADO * 4 })
            .resize(LADO, LADO)
            .toBuffer(),
          left: left + LADO,
          top: top + LADO,
        })),
      ),
    )
    .png()
    .toBuffer()
  const bytes = await sharp(pegados)
    .extract({ left: LADO, top: LADO, width: ancho, height: alto })
    .jpeg({ quality: 82 })
    .toBuffer()
  return { bytes, ancho, alto }
}
