import { open } from 'node:fs/promises'
import type { Sharp } from 'sharp'
import { Problema } from '../errores.ts'
import { cargarSharp } from './sharp.ts'

/** A picture made anew from somebody's, and what his camera had written into it. */
export interface Imagen {
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
/** Minimum of the shorter and the longer side, in pixels, as sent and as stored. */
const MINIMO = { foto: [200, 200], firma: [20, 50] } as const
/** Seconds that decoding may take. */
const PLAZO = 20
/** More EXIF than a JPEG can hold is no camera's. */
const MAXIMO_DE_EXIF = 65_535

/**
 * Decodes the file and encodes what is seen, so that nothing else of it is kept: neither metadata nor whatever else the
 * bytes might be to somebody who reads them otherwise.
 * @throws Problema 422
 */
export async function leerImagen(ruta: string, tipo: 'foto' | 'firma'): Promise<Imagen> {
  const reparo = reparoDe(await leerInicio(ruta))
  if (reparo) throw invalida(reparo)
  const sharp = await cargarSharp()
  const entrada = sharp(ruta, {
    limitInputPixels: MEGAPIXELES * 1_000_000,
    failOn: 'error',
    sequentialRead: true,
    // Of an animation only what it shows first.
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
 * Requires the minimum size of the picture as sent and as stored: shrinking the longer side may leave too little of the shorter.
 * @throws Problema 422
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
 * What phones photograph with and browsers don't show: a box `ftyp` of one of these brands (ISO/IEC 23008-12, AVIF).
 */
const HEIC = /^.{4}ftyp(heic|heix|heim|heis|hevc|hevx|mif1|msf1|avif|avis)/s

/** Why it is no picture of ours, by its first bytes, whatever it is called; undefined: it looks like one. */
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
  ...['DateTimeOriginal', 'OffsetTimeOriginal', 'GPSDateStamp', 'GPSTimeStamp'],
  ...['GPSLatitude', 'GPSLatitudeRef', 'GPSLongitude', 'GPSLongitudeRef'],
]

/** When and where, if the camera said so in a way that can mean only one thing. */
async function leerExif(exif: Buffer | undefined): Promise<Pick<Imagen, 'capturado_en' | 'lat' | 'lng'>> {
  const nada = { capturado_en: null, lat: null, lng: null }
  if (!exif || exif.length > MAXIMO_DE_EXIF) return nada
  const tiff = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif
  const { default: exifr } = await import('exifr')
  const datos = await exifr.parse(tiff, { pick: ETIQUETAS, reviveValues: false }).catch(() => undefined)
  if (!datos) return nada
  const { latitude: lat, longitude: lng } = datos
  // Zero, zero is what a camera writes that doesn't know.
  const hayLugar = enGrados(lat, 90) && enGrados(lng, 180) && (lat !== 0 || lng !== 0)
  return { capturado_en: leerInstante(datos), lat: hayLugar ? lat : null, lng: hayLugar ? lng : null }
}

const enGrados = (valor: unknown, maximo: number) =>
  typeof valor === 'number' && Number.isFinite(valor) && Math.abs(valor) <= maximo

/** The camera's local time counts with its offset; the satellites' time is UTC. Nobody guesses a zone. */
function leerInstante(datos: Readonly<Record<string, unknown>>): Date | null {
  const [, fecha, hora] = /^(\d{4}:\d\d:\d\d) (\d\d:\d\d:\d\d)$/.exec(String(datos.DateTimeOriginal)) ?? []
  const zona = String(datos.OffsetTimeOriginal)
  const desde = (dia: string, texto: string) => {
    const instante = new Date(`${dia.replaceAll(':', '-')}T${texto}`)
    // What is in no calendar, or before there were such cameras.
    return instante.getTime() > Date.UTC(1995) && instante.getTime() < Date.UTC(2200) ? instante : null
  }
  if (fecha && hora && /^[+-]\d\d:\d\d$/.test(zona)) return desde(fecha, `${hora}${zona}`)
  const { GPSDateStamp: dia, GPSTimeStamp: tiempo } = datos
  if (typeof dia !== 'string' || !/^\d{4}:\d\d:\d\d$/.test(dia) || !Array.isArray(tiempo)) return null
  return desde(dia, `${tiempo.map((n) => String(Math.trunc(Number(n))).padStart(2, '0')).join(':')}Z`)
}
