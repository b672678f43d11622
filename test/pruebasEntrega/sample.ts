import { createHash } from 'node:crypto'
import sharp from 'sharp'
import type { Archivo, PruebaData } from '../../server/domain/pruebasEntrega/pdfContent.ts'
import { prepareImage } from '../../server/platform/images/prepareImage.ts'

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

export const createSampleImage = (width: number, height: number, background = '#7fa6c9') =>
  sharp({ create: { width, height, channels: 3, background } })
    .jpeg()
    .toBuffer()

/** A file as a proof shows it. */
export const file = async (nombre: string, bytes: Buffer): Promise<Archivo> => ({
  nombre,
  image: await prepareImage(bytes, 1_400, 78),
  sha256: sha256(bytes),
  capturado_en: '2026-11-14T21:03:00.000Z',
})

export const fotoBytes = await createSampleImage(800, 600)
export const foto = await file('foto-1.jpg', fotoBytes)
export const firma = await file(
  'firma.png',
  await sharp(await createSampleImage(300, 100, '#223'))
    .png()
    .toBuffer(),
)

/** What the document of an ordinary proof says. */
export const datos = (cambios: Partial<PruebaData> = {}): PruebaData => ({
  brand: { nombre: 'Envíos del Altiplano', color: '#0b6b3a', logo: null },
  comercio: 'Zapatería El Caminante, S. A.',
  modo: 'live',
  guia: '7K3M9QX2A1B4',
  external_ref: 'PEDIDO-2026-00005',
  estado: 'Entregado',
  entregado_en: '2026-11-14T21:04:22.000Z',
  registrado_en: '2026-11-14T21:05:10.000Z',
  zona: 'America/Guatemala',
  verificationUrl: 'https://guias.example.gt/verificar/7K3M9QX2A1B4?f=Zm9v',
  recogida: { nombre: 'Bodega Zona 12', lat: 14.583611, lng: -90.548611 },
  destinatario: {
    nombre: 'María José Ajú',
    telefono: '+50231481676',
    departamento: 'Sacatepéquez',
    municipio: 'Antigua Guatemala',
    direccion: '5a avenida norte 12, casa 3',
  },
  contenido: '2 pares de zapatos',
  repartidor: { repartidor: 'rep_4T8WQ2ZK7NHB', nombre: 'Carlos Méndez' },
  receiver: { nombre: 'Ana Lucía Xicay Ñandú', documento: 'DPI 2456 78901 0101', relacion: 'Hija' },
  posicion: { lat: 14.558912, lng: -90.733211, precision_m: 8, distancia_m: 1234, distancia_avisada_m: 1230 },
  locationMap: null,
  historial: [
    buildMilestone('2026-11-12T15:12:00.000Z', 'Envío registrado'),
    buildMilestone('2026-11-14T21:04:22.000Z', 'Entregado'),
  ],
  fotos: [foto],
  firma,
  sin_firma: null,
  pagina_anterior: null,
  ...cambios,
})

export function buildMilestone(ocurrido_en: string, descripcion: string) {
  return { ocurrido_en, descripcion, lugar: null, lat: 14.6349, lng: -90.5069 }
}
