import { loadSharp } from './sharp.ts'

/**
 * Image in the form that a PDF embeds: an upright, opaque sRGB JPEG without metadata. The metadata of a photo may
 * reveal where its owner lives.
 */
export interface PreparedImage {
  bytes: Uint8Array
  ancho: number
  alto: number
}

/** Maximum number of pixels of the original. The contract accepts phone photos of at most 40 megapixels. */
const MAX_PIXELS = 50_000_000

/**
 * Re-encodes an image so that its longer side has at most `side` pixels. Returns undefined if the image cannot be read.
 * A proof of delivery is made even if one of its photos is broken.
 */
export async function prepareImage(
  original: Buffer,
  side: number,
  quality: number,
): Promise<PreparedImage | undefined> {
  const sharp = await loadSharp()
  try {
    const { data, info } = await sharp(original, {
      limitInputPixels: MAX_PIXELS,
      failOn: 'error',
      sequentialRead: true,
    })
      .autoOrient()
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .jpeg({ quality, chromaSubsampling: quality > 85 ? '4:4:4' : '4:2:0' })
      .toBuffer({ resolveWithObject: true })
    return { bytes: data, ancho: info.width, alto: info.height }
  } catch {
    return undefined
  }
}

/** Returns the largest size at which an image fits into a box, with at most `maxScale` points per pixel. */
export function fitInside(
  { ancho, alto }: Omit<PreparedImage, 'bytes'>,
  box: { ancho: number; alto: number },
  maxScale = 1,
) {
  const scale = Math.min(box.ancho / ancho, box.alto / alto, maxScale)
  return { ancho: ancho * scale, alto: alto * scale }
}
