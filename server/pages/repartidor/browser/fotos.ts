// Reduces the size of photos before they are stored. Dozens of original photos would take too much room on a phone
// without coverage.
const LADO = 2_560
const CALIDAD = 0.85
/** Maximum size of a photo that the service accepts, in bytes. */
const MAXIMO = 10 * 1024 * 1024
const ADMITIDOS = ['image/jpeg', 'image/png', 'image/webp']

/** Error for a photo that cannot be used. The message is for the courier who took the photo. */
export class FotoIlegible extends Error {}

/**
 * Returns a photo that is small enough to wait for coverage.
 * @throws FotoIlegible if the photo cannot be made smaller and the service would not accept the original
 */
export async function achicarFoto(original: Blob): Promise<Blob> {
  const chica = await recodificar(original).catch(() => undefined)
  if (chica) return chica
  if (!ADMITIDOS.includes(original.type)) {
    throw new FotoIlegible('Este teléfono no pudo leer esa foto. Tómela otra vez con la cámara.')
  }
  if (original.size > MAXIMO) throw new FotoIlegible('Esa foto pesa más de 10 MB. Tómela con menos resolución.')
  return original
}

/**
 * Re-encodes a photo as JPEG: upright, at most `LADO` pixels long, and without the camera's metadata.
 * @returns undefined if the result is empty or larger than `MAXIMO`
 */
async function recodificar(original: Blob): Promise<Blob | undefined> {
  const mapa = await createImageBitmap(original, { imageOrientation: 'from-image' })
  const escala = Math.min(1, LADO / Math.max(mapa.width, mapa.height))
  const lienzo = document.createElement('canvas')
  lienzo.width = Math.max(1, Math.round(mapa.width * escala))
  lienzo.height = Math.max(1, Math.round(mapa.height * escala))
  const trazo = lienzo.getContext('2d', { alpha: false })
  trazo?.drawImage(mapa, 0, 0, lienzo.width, lienzo.height)
  mapa.close()
  const chica = trazo ? await comoBlob(lienzo, 'image/jpeg', CALIDAD) : undefined
  // Old phones run out of memory for the canvas and return an empty image.
  return chica && chica.size > 0 && chica.size <= MAXIMO ? chica : undefined
}

/** Encodes a canvas as an image; undefined if the browser cannot encode it. */
export const comoBlob = (lienzo: HTMLCanvasElement, tipo: string, calidad?: number) =>
  new Promise<Blob | undefined>((resolve) => lienzo.toBlob((blob) => resolve(blob ?? undefined), tipo, calidad))
