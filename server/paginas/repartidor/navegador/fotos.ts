// Photos are made small before they are kept: a phone's own are too heavy to wait for coverage in dozens.
const LADO = 2_560
const CALIDAD = 0.85
/** The most that the service takes of a photo, in bytes. */
const MAXIMO = 10 * 1024 * 1024
const ADMITIDOS = ['image/jpeg', 'image/png', 'image/webp']

/** A photo that can't be read; the message is for whoever took it. */
export class FotoIlegible extends Error {}

/**
 * A photo, small enough to wait for coverage.
 * @throws FotoIlegible
 */
export async function achicarFoto(original: Blob): Promise<Blob> {
  const chica = await recodificar(original).catch(() => undefined)
  if (chica) return chica
  if (!ADMITIDOS.includes(original.type)) {
    throw new FotoIlegible('Este teléfono no pudo leer esa foto. Tómela otra vez con la cámara.')
  }
  if (original.size > MAXIMO)
    throw new FotoIlegible('Esa foto pesa más de 10 MB. Tómela otra vez con menos resolución.')
  return original
}

/** Upright, no longer than `LADO`, and without what the camera wrote into it. */
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
  // Old phones run out of memory for the canvas, and answer with an empty picture.
  return chica && chica.size > 0 && chica.size <= MAXIMO ? chica : undefined
}

export const comoBlob = (lienzo: HTMLCanvasElement, tipo: string, calidad?: number) =>
  new Promise<Blob | undefined>((resolve) => lienzo.toBlob((blob) => resolve(blob ?? undefined), tipo, calidad))
