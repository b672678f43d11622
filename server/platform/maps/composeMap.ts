import type { PreparedImage } from '../images/prepareImage.ts'
import { loadSharp } from '../images/sharp.ts'
import type { Point } from './point.ts'

/** Zoom level that shows streets and their names. The map is about 1,500 m wide. */
const ZOOM = 16
const LADO = 256
const MEDIDA = { ancho: 640, alto: 256 }
/** Maximum latitude in degrees that has tiles (the edge of the Web Mercator square). */
const LATITUD_MAXIMA = 85.05
const BYTES_POR_MOSAICO = 600_000

/**
 * Draws a map with the point in its centre. Returns null if a tile is missing or not an image, or if the point is beyond
 * the maximum latitude. Also returns null if the signal is aborted before all tiles are there. A template with `{r}` has
 * tiles of double resolution, which print sharply; the map then has twice the pixels.
 * @param url URL template of a tile: `https://…/{z}/{x}/{y}.png`, optionally with `{s}` and `{r}`
 */
export async function composeMap(url: string, punto: Point, senal: AbortSignal): Promise<PreparedImage | null> {
  if (Math.abs(punto.lat) > LATITUD_MAXIMA) return null
  const izquierda = Math.round(columna(punto.lng) - MEDIDA.ancho / 2)
  const arriba = Math.round(fila(punto.lat) - MEDIDA.alto / 2)
  const escala = url.includes('{r}') ? 2 : 1
  try {
    const mosaicos = mosaicosDe(izquierda, arriba).map(async ({ x, y }) => ({
      input: await bajar(direccionDe(url, x, y), senal),
      left: (x * LADO - izquierda) * escala,
      top: (y * LADO - arriba) * escala,
    }))
    return await pegar(await Promise.all(mosaicos), escala)
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
    .replace('{r}', '@2x')

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

async function pegar(mosaicos: { input: Buffer; left: number; top: number }[], escala: number): Promise<PreparedImage> {
  const sharp = await loadSharp()
  const [ancho, alto, lado] = [MEDIDA.ancho, MEDIDA.alto, LADO].map((uno) => uno * escala) as [number, number, number]
  // Tiles extend beyond the edges of the map. The canvas therefore has a margin of one tile on each side, which is cut
  // off afterwards.
  const lienzo = sharp({
    create: { width: ancho + 2 * lado, height: alto + 2 * lado, channels: 3, background: '#e8e4dc' },
  })
  const pegados = await lienzo
    .composite(
      await Promise.all(
        mosaicos.map(async ({ input, left, top }) => ({
          input: await sharp(input, { limitInputPixels: LADO * LADO * 16 })
            .resize(lado, lado)
            .toBuffer(),
          left: left + lado,
          top: top + lado,
        })),
      ),
    )
    .png()
    .toBuffer()
  const bytes = await sharp(pegados)
    .extract({ left: lado, top: lado, width: ancho, height: alto })
    .jpeg({ quality: 82 })
    .toBuffer()
  return { bytes, ancho, alto }
}
