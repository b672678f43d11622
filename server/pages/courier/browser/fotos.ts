// Reduces the size of photos before they are stored. Dozens of original photos would take too much room on a phone
// without coverage.
const MAX_SIDE_PX = 2_560
const JPEG_QUALITY = 0.85
/** Maximum size of a photo that the service accepts, in bytes. */
const MAX_FOTO_BYTES = 10 * 1024 * 1024
const ACCEPTED_TYPES = ['image/jpeg', 'image/png', 'image/webp']

/** Error for a photo that cannot be used. The message is for the courier who took the photo. */
export class UnreadableFoto extends Error {}

/**
 * Returns a photo that is small enough to wait for coverage.
 * @throws FotoIlegible if the photo cannot be made smaller and the service would not accept the original
 */
export async function shrinkFoto(original: Blob): Promise<Blob> {
  const smaller = await reencode(original).catch(() => undefined)
  if (smaller) return smaller
  if (!ACCEPTED_TYPES.includes(original.type)) {
    throw new UnreadableFoto('Este teléfono no pudo leer esa foto. Tómela otra vez con la cámara.')
  }
  if (original.size > MAX_FOTO_BYTES)
    throw new UnreadableFoto('Esa foto pesa más de 10 MB. Tómela con menos resolución.')
  return original
}

/**
 * Re-encodes a photo as JPEG: upright, at most `MAX_SIDE_PX` pixels long, and without the camera's metadata.
 * @returns undefined if the result is empty or larger than `MAX_FOTO_BYTES`
 */
async function reencode(original: Blob): Promise<Blob | undefined> {
  const bitmap = await createImageBitmap(original, { imageOrientation: 'from-image' })
  const scale = Math.min(1, MAX_SIDE_PX / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(bitmap.width * scale))
  canvas.height = Math.max(1, Math.round(bitmap.height * scale))
  const context = canvas.getContext('2d', { alpha: false })
  context?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  bitmap.close()
  const smaller = context ? await canvasToBlob(canvas, 'image/jpeg', JPEG_QUALITY) : undefined
  // Old phones run out of memory for the canvas and return an empty image.
  return smaller && smaller.size > 0 && smaller.size <= MAX_FOTO_BYTES ? smaller : undefined
}

/** Encodes a canvas as an image; undefined if the browser cannot encode it. */
export const canvasToBlob = (canvas: HTMLCanvasElement, type: string, quality?: number) =>
  new Promise<Blob | undefined>((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined), type, quality))
