import { readFile } from 'node:fs/promises'
import type { MotivoSinFirma, PoliticaDeEvidencia } from '../../generated/contract/types/index.ts'
import { ROOT } from '../../platform/root.ts'
import { saveArchivo } from '../archivos/archivo.ts'
import { centreOf } from '../catalogo/catalogo.ts'
import type { Deps } from '../deps.ts'
import type { PruebaEvidence } from '../pruebasEntrega/prueba.ts'
import type { GuiaRow } from '../records/guiaFields.ts'

type SampleDeps = Pick<Deps, 'db' | 'store' | 'clock'>

/** Sample images in `muestras/`; each image says that it is a sample. */
const SAMPLES = {
  foto: { nombre: 'foto.jpg', mime: 'image/jpeg', ancho: 1_280, alto: 960 },
  firma: { nombre: 'firma.png', mime: 'image/png', ancho: 800, alto: 300 },
} as const

/**
 * Stores a sample image for a guide, as an upload does. If no event uses the file, the sweeper deletes it like any
 * upload.
 */
async function saveSample(
  deps: SampleDeps,
  guia: GuiaRow,
  tipo: keyof typeof SAMPLES,
  capturado_en: Date | null = null,
): Promise<string> {
  const { nombre, ...image } = SAMPLES[tipo]
  const contenido = await readFile(new URL(`server/domain/simulador/muestras/${nombre}`, ROOT))
  const datos = { ...image, contenido, tipo, capturado_en, lat: null, lng: null, autor: null, usado_en: null }
  return (await saveArchivo(deps, guia, datos)).archivo
}

/** Stores a sample photo for a guide and returns the file's code. */
export const samplePhoto = (deps: SampleDeps, guia: GuiaRow, takenAt: Date): Promise<string> =>
  saveSample(deps, guia, 'foto', takenAt)

/** Distance of a sample delivery from the guide's location, in degrees of latitude (about 11 metres). */
const NEAR_DEGREES = 0.0001

/**
 * Returns sample evidence for the delivery of a test guide, near the confirmed location. The evidence depends only on
 * what the merchant needs, and on the reason for a missing signature.
 */
export async function sampleEvidence(
  deps: SampleDeps,
  guia: GuiaRow,
  { fotos_minimas, firma, documento }: PoliticaDeEvidencia,
  takenAt: Date,
  sin_firma?: MotivoSinFirma,
): Promise<PruebaEvidence> {
  const fotos: string[] = []
  while (fotos.length < fotos_minimas) fotos.push(await samplePhoto(deps, guia, takenAt))
  return {
    recibido_por: {
      nombre: 'Persona de prueba',
      relacion: 'destinatario',
      ...(documento === 'obligatoria' ? { documento: 'PRUEBA 0000' } : {}),
    },
    fotos,
    ...(sin_firma ? { sin_firma } : firma === 'no' ? {} : { firma: await saveSample(deps, guia, 'firma') }),
    ...positionOf(guia),
  }
}

/**
 * Returns the position of a sample delivery: near the guide's location, else near the centre of its municipality. Empty
 * if the catalogue does not know the municipality.
 */
function positionOf(guia: GuiaRow): Pick<PruebaEvidence, 'lat' | 'lng' | 'precision_m'> {
  const { ubicacion_lat: lat, ubicacion_lng: lng, departamento, municipio } = guia
  const place = lat === null || lng === null ? centreOf(departamento, municipio) : { lat, lng }
  // Moves towards the equator, because a latitude cannot go beyond a pole.
  return place ? { lat: place.lat - Math.sign(place.lat) * NEAR_DEGREES, lng: place.lng, precision_m: 8 } : {}
}
