import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { createFirma, createFoto } from './images.ts'

type Bytes = () => Promise<Buffer> | Buffer

const PAYLOAD = '<script>alert(1)</script><?php system(1) ?>'

const lisa = (width: number, height: number, color = '#369') =>
  sharp({ create: { width, height, channels: 3, background: color } })

const buildPngChunk = (tipo: string, datos: Buffer) => {
  const body = Buffer.concat([Buffer.from(tipo, 'latin1'), datos])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(datos.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
const FIRMA_PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const buildPngHeader = (width: number, height: number, bits: number) => {
  const datos = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, bits, 0, 0, 0, 0])
  datos.writeUInt32BE(width, 0)
  datos.writeUInt32BE(height, 4)
  return Buffer.concat([FIRMA_PNG, buildPngChunk('IHDR', datos)])
}
/** All of its pixels are there, in some 35 KB. */
const bomba = (side: number) =>
  Buffer.concat([
    buildPngHeader(side, side, 1),
    buildPngChunk('IDAT', deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8))))),
    buildPngChunk('IEND', Buffer.alloc(0)),
  ])
/** A segment right behind the first two bytes of a JPEG. */
const insertSegment = (foto: Buffer, marker: number, datos: Buffer) => {
  const segmentHeader = Buffer.from([0xff, marker, 0, 0])
  segmentHeader.writeUInt16BE(datos.length + 2, 2)
  return Buffer.concat([foto.subarray(0, 2), segmentHeader, datos, foto.subarray(2)])
}
const insertAfterHeader = (png: Buffer, datos: Buffer) => Buffer.concat([png.subarray(0, 33), datos, png.subarray(33)])
const withTail = async (image: Promise<Buffer>, queue: string) =>
  Buffer.concat([await image, Buffer.from(queue, 'latin1')])
const createFrame = (color: string) => lisa(250, 240, color).png().toBuffer()
const createOrientedJpeg = (orientation: number) => () => lisa(400, 200).withMetadata({ orientation }).jpeg().toBuffer()
/** A photo whose EXIF is there and means nothing. */
const withExif = (corrupt: (exif: Buffer) => void) => async () => {
  const foto = await createFoto()
  const from = foto.indexOf('Exif\0\0')
  corrupt(foto.subarray(from + 6, from + 6 + 120))
  return foto
}

/** A WebP whose EXIF has a date and two texts of that length; sharp leaves out a text of more than 65,535 bytes. */
const webpWithExif = (length: number) =>
  lisa(640, 480)
    .withExif({
      IFD0: { ImageDescription: 'x'.repeat(length), Artist: 'x'.repeat(length) },
      IFD2: { DateTimeOriginal: '2026:11:20 15:04:05', OffsetTimeOriginal: '-06:00' },
    })
    .webp()
    .toBuffer()

interface ExpectedImage {
  tipo?: 'foto' | 'firma'
  ancho?: number
  alto?: number
  mime?: string
  capturado_en?: string | null
  lat?: null
}

/** What is taken, and what it becomes. */
export const ACCEPTED_IMAGES: readonly [description: string, build: Bytes, expected: ExpectedImage][] = [
  ['a JPEG with a comment', async () => insertSegment(await createFoto(), 0xfe, Buffer.from(PAYLOAD)), { ancho: 640 }],
  ['a JPEG that is a ZIP, too', () => withTail(createFoto(), `PK\x03\x04${PAYLOAD}PK\x05\x06`), { ancho: 640 }],
  ['a JPEG that is a PDF, too', () => withTail(createFoto(), `%PDF-1.7\n${PAYLOAD}`), { ancho: 640 }],
  ['a JPEG that is HTML, too', () => withTail(createFoto(), `\n<html>${PAYLOAD}</html>`), { ancho: 640 }],
  [
    'a JPEG with XMP',
    async () => insertSegment(await createFoto(), 0xe1, Buffer.from(`http://ns.adobe.com/xap/1.0/\0${PAYLOAD}`)),
    { ancho: 640 },
  ],
  ['a PNG with a script behind it', () => withTail(createFirma(), PAYLOAD), { tipo: 'firma', ancho: 300, alto: 100 }],
  [
    'a PNG with a script in its text',
    async () =>
      insertAfterHeader(await createFirma(), buildPngChunk('tEXt', Buffer.from(`Comment\0${PAYLOAD}`, 'latin1'))),
    { tipo: 'firma', ancho: 300 },
  ],
  [
    'a CMYK JPEG',
    () => lisa(240, 200).toColourspace('cmyk').jpeg().toBuffer(),
    { mime: 'image/jpeg', ancho: 240, alto: 200 },
  ],
  ['a grey JPEG', () => lisa(240, 200).toColourspace('b-w').jpeg().toBuffer(), { ancho: 240 }],
  ['a PNG of 16 bits', () => lisa(240, 200).toColourspace('rgb16').png().toBuffer(), { ancho: 240 }],
  [
    'a signature of 16 bits',
    () => lisa(240, 200).toColourspace('rgb16').png().toBuffer(),
    { tipo: 'firma', ancho: 240 },
  ],
  ['a PNG with a palette', () => lisa(240, 200).png({ palette: true }).toBuffer(), { tipo: 'firma', ancho: 240 }],
  [
    'an animated WebP',
    async () =>
      sharp([await createFrame('#f00'), await createFrame('#00f')], { join: { animated: true } })
        .webp()
        .toBuffer(),
    { ancho: 250, alto: 240 },
  ],
  ...[1, 2, 3, 4].map((n): [string, Bytes, ExpectedImage] => [
    `orientation ${n}`,
    createOrientedJpeg(n),
    { ancho: 400, alto: 200 },
  ]),
  ...[5, 6, 7, 8].map((n): [string, Bytes, ExpectedImage] => [
    `orientation ${n}`,
    createOrientedJpeg(n),
    { ancho: 200, alto: 400 },
  ]),
  ['EXIF full of ones', withExif((exif) => exif.fill(0xff)), { ancho: 640, capturado_en: null, lat: null }],
  [
    'EXIF that points outside',
    withExif((exif) => exif.fill(0xff, 4, 8)),
    { ancho: 640, capturado_en: null, lat: null },
  ],
  [
    'EXIF that goes round in circles',
    withExif((exif) => exif.fill(0, 4, 8)),
    { ancho: 640, capturado_en: null, lat: null },
  ],
  ['a WebP with EXIF', () => webpWithExif(1_000), { ancho: 640, capturado_en: '2026-11-20T21:04:05.000Z' }],
  [
    'a WebP with more EXIF than a JPEG can hold',
    () => webpWithExif(40_000),
    { ancho: 640, capturado_en: null, lat: null },
  ],
  ['EXIF of noise', withExif((exif) => randomBytes(112).copy(exif, 8)), { ancho: 640 }],
]

const NI_JPEG = /no es JPEG, PNG ni WebP\. Envíe la imagen en uno de esos formatos\.$/
const ROTA = /incompleta o dañada/
const GRANDE = /pasa de 40 megapíxeles/
const HEIC = /HEIC o AVIF, que no se admiten\. Envíela como JPEG: en un iPhone, Ajustes/
const phoneImage = (brand: string) => () =>
  Buffer.concat([Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0`), randomBytes(900)])
const createTinyImage = () => sharp(Buffer.alloc(300), { raw: { width: 10, height: 10, channels: 3 } })

/** What is not, and what its sender is told. */
export const REFUSED_IMAGES: readonly [description: string, build: Bytes, detail: RegExp][] = [
  ['nothing', () => Buffer.alloc(0), /llegó vacío/],
  ['HTML', () => Buffer.from(`<!doctype html>${PAYLOAD}`), NI_JPEG],
  ['an SVG', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), NI_JPEG],
  ['a PDF', () => Buffer.from('%PDF-1.7\n1 0 obj'), NI_JPEG],
  ['a ZIP', () => Buffer.from('PK\x03\x04 and so on'), NI_JPEG],
  ['a GIF', () => createTinyImage().gif().toBuffer(), NI_JPEG],
  ['a TIFF', () => createTinyImage().tiff().toBuffer(), NI_JPEG],
  ['one byte', () => Buffer.from([0xff]), NI_JPEG],
  ...['heic', 'heix', 'mif1', 'avif'].map((brand): [string, Bytes, RegExp] => [
    `HEIC (${brand})`,
    phoneImage(brand),
    HEIC,
  ]),
  ['HTML that begins like a JPEG', () => Buffer.from(`\xff\xd8\xff${PAYLOAD}`, 'latin1'), ROTA],
  [
    'noise that begins like a JPEG',
    () => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), randomBytes(50_000)]),
    ROTA,
  ],
  ['noise that begins like a PNG', () => Buffer.concat([FIRMA_PNG, randomBytes(5_000)]), ROTA],
  ['noise that begins like a WebP', () => Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP'), randomBytes(5_000)]), ROTA],
  ['a JPEG that ends too soon', async () => (await createFoto()).subarray(0, -400), ROTA],
  ['a PNG that ends too soon', async () => (await lisa(400, 300).png().toBuffer()).subarray(0, 200), ROTA],
  [
    'a PNG without pixels',
    () => Buffer.concat([buildPngHeader(10, 10, 8), buildPngChunk('IEND', Buffer.alloc(0))]),
    ROTA,
  ],
  ['a PNG that unfolds to 17,000² pixels', () => bomba(17_000), GRANDE],
  [
    'a PNG that promises 2³² pixels',
    () => Buffer.concat([buildPngHeader(65_000, 65_000, 8), buildPngChunk('IDAT', deflateSync(Buffer.alloc(9)))]),
    GRANDE,
  ],
  [
    'a picture one pixel wide and far too high',
    () => Buffer.concat([buildPngHeader(1, 2_000_000_000, 8), randomBytes(90)]),
    /incompleta o dañada|megapíxeles/,
  ],
]
