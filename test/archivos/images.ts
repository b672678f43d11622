import sharp from 'sharp'
import type { Comercio, TestEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

/** A photo as a phone takes it: turned, and with its maker, time and place written into it. */
export const createFoto = ({ ancho = 640, alto = 480, color = '#c33', noise = 0 } = {}) =>
  sharp({
    create: {
      width: ancho,
      height: alto,
      channels: 3,
      background: color,
      // What doesn't compress.
      ...(noise > 0 ? { noise: { type: 'gaussian', mean: 128, sigma: noise } } : {}),
    },
  })
    .withExif({
      IFD0: { Make: 'SECRETO-MARCA', Software: '<script>alert(1)</script>' },
      IFD2: { DateTimeOriginal: '2026:11:20 15:04:05', OffsetTimeOriginal: '-06:00' },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '14/1 38/1 5/1',
        GPSLongitudeRef: 'W',
        GPSLongitude: '90/1 30/1 25/1',
      },
    })
    .jpeg()
    .toBuffer()

/** What a finger draws: ink on nothing. */
export const createFirma = () =>
  sharp({ create: { width: 300, height: 100, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
    .composite([{ input: { create: { width: 200, height: 4, channels: 4, background: '#000000' } } }])
    .png()
    .toBuffer()

type Tipo = 'foto' | 'firma'

/** Uploads a picture of the guide. */
export async function uploadArchivo(
  environment: TestEnvironment,
  guia: string,
  { tipo = 'foto' as Tipo, bytes, mime = 'image/jpeg' }: { tipo?: Tipo; bytes?: Uint8Array; mime?: string } = {},
) {
  const contenido = bytes ?? (tipo === 'foto' ? await createFoto() : await createFirma())
  return environment.request('POST', `/operaciones/v1/guias/${guia}/archivos?tipo=${tipo}`, {
    llave: environment.llaveDeOperacion,
    raw: new Uint8Array(contenido),
    headers: { 'Content-Type': mime },
  })
}

/** A guide on its way to the recipient; that courier carries it, if it says so. */
export async function createGuiaOnRoute(
  environment: TestEnvironment,
  { api }: Pick<Comercio, 'api'>,
  repartidor?: string,
) {
  const { guia } = await api.guias.crear(buildGuia())
  for (const estado of ['recolectado', 'en_ruta'])
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado, ...(repartidor ? { repartidor } : {}) })
  return guia
}

/** A guide whose delivery failed. */
export async function createFailedGuia(environment: TestEnvironment, comercio: Pick<Comercio, 'api'>) {
  const guia = await createGuiaOnRoute(environment, comercio)
  await environment.asOperador('POST', `/guias/${guia}/eventos`, {
    estado: 'intento_fallido',
    motivo: 'destinatario_ausente',
  })
  return guia
}

/** Registers a delivery with a photo and a signature. */
export async function registerEntrega(
  environment: TestEnvironment,
  guia: string,
  moreFields: object = {},
  key?: string,
) {
  const [foto, firma] = await Promise.all([
    uploadArchivo(environment, guia),
    uploadArchivo(environment, guia, { tipo: 'firma' }),
  ])
  const entrega = {
    recibido_por: { nombre: 'María López', relacion: 'familiar' },
    fotos: [foto.body.archivo],
    firma: firma.body.archivo,
    lat: 14.7189,
    lng: -90.6442,
    precision_m: 8.5,
    ...moreFields,
  }
  const { body, status } = await environment.asOperador('POST', `/guias/${guia}/entrega`, entrega, key)
  if (status !== 201) throw new Error(`the delivery was answered ${status}: ${JSON.stringify(body)}`)
  return { guia, foto: foto.body.archivo as string, firma: firma.body.archivo as string, evento: body }
}

/** A guide delivered with a photo and a signature. */
export const createDeliveredGuia = async (environment: TestEnvironment, comercio: Pick<Comercio, 'api'>) =>
  registerEntrega(environment, await createGuiaOnRoute(environment, comercio))
