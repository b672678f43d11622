import { open } from 'node:fs/promises'
import type { Sharp } from 'sharp'
import { Problema } from '../errors.ts'
import { loadSharp } from './sharp.ts'

/** Re-encoded picture, with the time and place of capture from the EXIF data of the original. */
export interface ImageInfo {
  mime: 'image/jpeg' | 'image/png'
  ancho: number
  alto: number
  contenido: Buffer
  capturado_en: Date | null
  lat: number | null
  lng: number | null
}

const MAX_MEGAPIXELS = 40
const MAX_SIDE = { foto: 2_560, firma: 1_600 }
/** Minimum length in pixels of the shorter and the longer side, both as sent and as stored. */
const MIN_SIDES = { foto: [200, 200], firma: [20, 50] } as const
/** Time limit of decoding, in seconds. */
const DECODE_TIMEOUT_S = 20
/** Maximum size of EXIF data in bytes. A JPEG cannot hold more, so no camera writes more. */
const MAX_EXIF_BYTES = 65_535

/**
 * Decodes a file and encodes only its pixels. The result contains no metadata, and no other content that another
 * program could find in the file's bytes.
 * @throws Problema 422 if the file is not a valid picture
 */
export async function readImage(path: string, type: 'foto' | 'firma'): Promise<ImageInfo> {
  const objection = objectionTo(await readHead(path))
  if (objection) throw invalidImage(objection)
  const sharp = await loadSharp()
  const input = sharp(path, {
    limitInputPixels: MAX_MEGAPIXELS * 1_000_000,
    failOn: 'error',
    sequentialRead: true,
    // An animation is reduced to its first frame.
    pages: 1,
  })
  try {
    const { exif, width, height } = await input.metadata()
    requireSize(type, width, height)
    const output = input
      .timeout({ seconds: DECODE_TIMEOUT_S })
      .autoOrient()
      .resize({ width: MAX_SIDE[type], height: MAX_SIDE[type], fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
    const { data, info } = await encode(output, type).toBuffer({ resolveWithObject: true })
    const mime = type === 'foto' ? 'image/jpeg' : 'image/png'
    return { mime, ancho: info.width, alto: info.height, contenido: data, ...(await readExif(exif)) }
  } catch (cause) {
    if (cause instanceof Problema) throw cause
    const { message = '' } = cause as Error
    if (/pixel limit/.test(message)) throw invalidImage(`La imagen pasa de ${MAX_MEGAPIXELS} megapíxeles.`, cause)
    throw invalidImage('La imagen está incompleta o dañada. Envíela otra vez.', cause)
  }
}

/**
 * Requires the minimum size of a picture, as sent and as stored. Shrinking the longer side may make the shorter side
 * too small.
 * @throws Problema 422 if the picture is too small
 */
function requireSize(type: 'foto' | 'firma', width: number, height: number): void {
  const [shortSide, length] = MIN_SIDES[type]
  const isLargeEnough = (sides: readonly number[]) => Math.min(...sides) >= shortSide && Math.max(...sides) >= length
  const scale = Math.min(1, MAX_SIDE[type] / Math.max(width, height))
  const guardado = [width, height].map((side) => Math.round(side * scale))
  if (isLargeEnough([width, height]) && isLargeEnough(guardado)) return
  const measuredText = `${type === 'foto' ? 'La foto' : 'La firma'} mide ${width} × ${height} píxeles`
  const requiredText = `hacen falta al menos ${length} × ${shortSide}`
  if (!isLargeEnough([width, height])) throw invalidImage(`${measuredText} y ${requiredText}.`)
  throw invalidImage(
    `${measuredText} y es demasiado alargada: se guardaría de ${guardado.join(' × ')} y ${requiredText}. Recórtela o tómela otra vez.`,
  )
}

const invalidImage = (detail: string, cause?: unknown) => new Problema('imagen_invalida', detail, { cause })

const encode = (image: Sharp, type: 'foto' | 'firma') =>
  type === 'foto' ? image.jpeg({ quality: 82 }) : image.png({ compressionLevel: 9 })

const PNG = '\x89PNG\r\n\x1a\n'

/**
 * First bytes of a HEIC or AVIF file, formats that phones write and browsers do not show: a `ftyp` box with one of
 * these brands (ISO/IEC 23008-12, AVIF).
 */
const HEIC = /^.{4}ftyp(heic|heix|heim|heis|hevc|hevx|mif1|msf1|avif|avis)/s

/**
 * Checks the format of a picture by the first bytes of the file, not by its name.
 * @returns the reason, in Spanish, why the format is not accepted; undefined if it is
 */
function objectionTo(head: string): string | undefined {
  if (head.startsWith('\xff\xd8\xff') || head.startsWith(PNG) || /^RIFF.{4}WEBP$/s.test(head)) return undefined
  if (head === '') return 'El archivo llegó vacío. Envíe los bytes de la imagen como cuerpo de la solicitud.'
  if (HEIC.test(head))
    return 'El archivo es HEIC o AVIF, que no se admiten. Envíela como JPEG: en un iPhone, Ajustes › Cámara › Formatos › Más compatible.'
  return 'El archivo no es JPEG, PNG ni WebP. Envíe la imagen en uno de esos formatos.'
}

async function readHead(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(12), 0, 12, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

const ETIQUETAS = [
  'DateTimeOriginal',
  'OffsetTimeOriginal',
  'GPSDateStamp',
  'GPSTimeStamp',
  'GPSLatitude',
  'GPSLatitudeRef',
  'GPSLongitude',
  'GPSLongitudeRef',
]

/** Reads the time and place of capture from EXIF data, each only if the data is unambiguous. */
async function readExif(exif: Buffer | undefined): Promise<Pick<ImageInfo, 'capturado_en' | 'lat' | 'lng'>> {
  const noExif = { capturado_en: null, lat: null, lng: null }
  if (!exif || exif.length > MAX_EXIF_BYTES) return noExif
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif
  const { default: exifr } = await import('exifr')
  const datos = await exifr.parse(tiff, { pick: ETIQUETAS, reviveValues: false }).catch(() => undefined)
  if (!datos) return noExif
  const { latitude: lat, longitude: lng, GPSLatitude, GPSLatitudeRef, GPSLongitude, GPSLongitudeRef } = datos
  // Without both hemispheres the place may lie on another continent. A camera that does not know its position writes
  // 0, 0.
  const hasPlace =
    /^[NS]$/.test(GPSLatitudeRef) &&
    /^[EW]$/.test(GPSLongitudeRef) &&
    isSexagesimal(GPSLatitude) &&
    isSexagesimal(GPSLongitude) &&
    inDegrees(lat, 90) &&
    inDegrees(lng, 180) &&
    (lat !== 0 || lng !== 0)
  return { capturado_en: readInstant(datos), lat: hasPlace ? lat : null, lng: hasPlace ? lng : null }
}

/** Reports whether the value is degrees, minutes and seconds. A rational with denominator 0 is no number. */
const isSexagesimal = (value: unknown) =>
  Array.isArray(value) &&
  value.length === 3 &&
  value.every((part, i) => Number.isFinite(part) && part >= 0 && (i === 0 || part < 60))

const inDegrees = (value: unknown, maximum: number) =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= maximum

/**
 * Reads the time of capture. The camera's local time counts only together with its UTC offset; the GPS time is UTC. The
 * time zone is never guessed.
 */
function readInstant(datos: Readonly<Record<string, unknown>>): Date | null {
  const [, date, hour] = /^(\d{4}:\d\d:\d\d) (\d\d:\d\d:\d\d)$/.exec(String(datos.DateTimeOriginal)) ?? []
  const zone = String(datos.OffsetTimeOriginal)
  const from = (day: string, text: string) => {
    const instant = new Date(`${day.replaceAll(':', '-')}T${text}`)
    // Rejects dates that do not exist, dates before 1995, when no such cameras existed, and dates after 2199.
    return instant.getTime() > Date.UTC(1995) && instant.getTime() < Date.UTC(2200) ? instant : null
  }
  if (date && hour && /^[+-]\d\d:\d\d$/.test(zone)) return from(date, `${hour}${zone}`)
  const { GPSDateStamp: day, GPSTimeStamp: gpsTime } = datos
  if (typeof day !== 'string' || !/^\d{4}:\d\d:\d\d$/.test(day) || !Array.isArray(gpsTime)) return null
  return from(day, `${gpsTime.map((n) => String(Math.trunc(Number(n))).padStart(2, '0')).join(':')}Z`)
}
