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

const MEGAPIXELES = 40
const LADO = { foto: 2_560, firma: 1_600 }
/** Minimum length in pixels of the shorter and the longer side, both as sent and as stored. */
const MINIMO = { foto: [200, 200], firma: [20, 50] } as const
/** Time limit of decoding, in seconds. */
const PLAZO = 20
/** Maximum size of EXIF data in bytes. A JPEG cannot hold more, so no camera writes more. */
const MAXIMO_DE_EXIF = 65_535

/**
 * Decodes a file and encodes only its pixels. The result contains no metadata, and no other content that another
 * program could find in the file's bytes.
 * @throws Problema 422 if the file is not a valid picture
 */
export async function readImage(ruta: string, tipo: 'foto' | 'firma'): Promise<ImageInfo> {
  const reparo = reparoDe(await leerInicio(ruta))
  if (reparo) throw invalida(reparo)
  const sharp = await loadSharp()
  const entrada = sharp(ruta, {
    limitInputPixels: MEGAPIXELES * 1_000_000,
    failOn: 'error',
    sequentialRead: true,
    // An animation is reduced to its first frame.
    pages: 1,
  })
  try {
    const { exif, width, height } = await entrada.metadata()
    exigirTamano(tipo, width, height)
    const hecha = entrada
      .timeout({ seconds: PLAZO })
      .autoOrient()
      .resize({ width: LADO[tipo], height: LADO[tipo], fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
    const { data, info } = await codificar(hecha, tipo).toBuffer({ resolveWithObject: true })
    const mime = tipo === 'foto' ? 'image/jpeg' : 'image/png'
    return { mime, ancho: info.width, alto: info.height, contenido: data, ...(await leerExif(exif)) }
  } catch (cause) {
    if (cause instanceof Problema) throw cause
    const { message = '' } = cause as Error
    if (/pixel limit/.test(message)) throw invalida(`La imagen pasa de ${MEGAPIXELES} megapíxeles.`, cause)
    throw invalida('La imagen está incompleta o dañada. Envíela otra vez.', cause)
  }
}

/**
 * Requires the minimum size of a picture, as sent and as stored. Shrinking the longer side may make the shorter side
 * too small.
 * @throws Problema 422 if the picture is too small
 */
function exigirTamano(tipo: 'foto' | 'firma', ancho: number, alto: number): void {
  const [corto, largo] = MINIMO[tipo]
  const basta = (lados: readonly number[]) => Math.min(...lados) >= corto && Math.max(...lados) >= largo
  const escala = Math.min(1, LADO[tipo] / Math.max(ancho, alto))
  const guardado = [ancho, alto].map((lado) => Math.round(lado * escala))
  if (basta([ancho, alto]) && basta(guardado)) return
  const mide = `${tipo === 'foto' ? 'La foto' : 'La firma'} mide ${ancho} × ${alto} píxeles`
  const falta = `hacen falta al menos ${largo} × ${corto}`
  if (!basta([ancho, alto])) throw invalida(`${mide} y ${falta}.`)
  throw invalida(
    `${mide} y es demasiado alargada: se guardaría de ${guardado.join(' × ')} y ${falta}. Recórtela o tómela otra vez.`,
  )
}

const invalida = (detail: string, cause?: unknown) => new Problema('imagen_invalida', detail, { cause })

const codificar = (imagen: Sharp, tipo: 'foto' | 'firma') =>
  tipo === 'foto' ? imagen.jpeg({ quality: 82 }) : imagen.png({ compressionLevel: 9 })

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
function reparoDe(inicio: string): string | undefined {
  if (inicio.startsWith('\xff\xd8\xff') || inicio.startsWith(PNG) || /^RIFF.{4}WEBP$/s.test(inicio)) return undefined
  if (inicio === '') return 'El archivo llegó vacío. Envíe los bytes de la imagen como cuerpo de la solicitud.'
  if (HEIC.test(inicio))
    return 'El archivo es HEIC o AVIF, que no se admiten. Envíela como JPEG: en un iPhone, Ajustes › Cámara › Formatos › Más compatible.'
  return 'El archivo no es JPEG, PNG ni WebP. Envíe la imagen en uno de esos formatos.'
}

async function leerInicio(ruta: string): Promise<string> {
  const archivo = await open(ruta)
  try {
    const { buffer, bytesRead } = await archivo.read(Buffer.alloc(12), 0, 12, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await archivo.close()
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
async function leerExif(exif: Buffer | undefined): Promise<Pick<ImageInfo, 'capturado_en' | 'lat' | 'lng'>> {
  const nada = { capturado_en: null, lat: null, lng: null }
  if (!exif || exif.length > MAXIMO_DE_EXIF) return nada
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif
  const { default: exifr } = await import('exifr')
  const datos = await exifr.parse(tiff, { pick: ETIQUETAS, reviveValues: false }).catch(() => undefined)
  if (!datos) return nada
  const { latitude: lat, longitude: lng, GPSLatitude, GPSLatitudeRef, GPSLongitude, GPSLongitudeRef } = datos
  // Without both hemispheres the place may lie on another continent. A camera that does not know its position writes
  // 0, 0.
  const hayLugar =
    /^[NS]$/.test(GPSLatitudeRef) &&
    /^[EW]$/.test(GPSLongitudeRef) &&
    esSexagesimal(GPSLatitude) &&
    esSexagesimal(GPSLongitude) &&
    enGrados(lat, 90) &&
    enGrados(lng, 180) &&
    (lat !== 0 || lng !== 0)
  return { capturado_en: leerInstante(datos), lat: hayLugar ? lat : null, lng: hayLugar ? lng : null }
}

/** Reports whether the value is degrees, minutes and seconds. A rational with denominator 0 is no number. */
const esSexagesimal = (valor: unknown) =>
  Array.isArray(valor) &&
  valor.length === 3 &&
  valor.every((parte, i) => Number.isFinite(parte) && parte >= 0 && (i === 0 || parte < 60))

const enGrados = (valor: unknown, maximo: number) =>
  typeof valor === 'number' && Number.isFinite(valor) && Math.abs(valor) <= maximo

/**
 * Reads the time of capture. The camera's local time counts only together with its UTC offset; the GPS time is UTC. The
 * time zone is never guessed.
 */
function leerInstante(datos: Readonly<Record<string, unknown>>): Date | null {
  const [, fecha, hora] = /^(\d{4}:\d\d:\d\d) (\d\d:\d\d:\d\d)$/.exec(String(datos.DateTimeOriginal)) ?? []
  const zona = String(datos.OffsetTimeOriginal)
  const desde = (dia: string, texto: string) => {
    const instante = new Date(`${dia.replaceAll(':', '-')}T${texto}`)
    // Rejects dates that do not exist, dates before 1995, when no such cameras existed, and dates after 2199.
    return instante.getTime() > Date.UTC(1995) && instante.getTime() < Date.UTC(2200) ? instante : null
  }
  if (fecha && hora && /^[+-]\d\d:\d\d$/.test(zona)) return desde(fecha, `${hora}${zona}`)
  const { GPSDateStamp: dia, GPSTimeStamp: tiempo } = datos
  if (typeof dia !== 'string' || !/^\d{4}:\d\d:\d\d$/.test(dia) || !Array.isArray(tiempo)) return null
  return desde(dia, `${tiempo.map((n) => String(Math.trunc(Number(n))).padStart(2, '0')).join(':')}Z`)
}
