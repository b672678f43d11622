import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { Problema } from '../../../server/platform/errors.ts'
import { readImage } from '../../../server/platform/images/readImage.ts'
import { createFirma, createFoto } from '../../archivos/images.ts'
import { type FuzzTarget, requireHolds } from '../target.ts'

const folder = mkdtempSync(join(tmpdir(), 'guias-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const path = join(folder, 'imagen')

/** The same PNG with the checksums that its pieces should have: or none of what was changed would be looked at. */
function fixChecksums(input: Buffer): Buffer {
  if (input.toString('latin1', 1, 4) !== 'PNG') return input
  const fixedPng = Buffer.from(input)
  for (let i = 8; i + 12 <= fixedPng.length; ) {
    const end = i + 8 + fixedPng.readUInt32BE(i)
    if (end + 4 > fixedPng.length) break
    fixedPng.writeUInt32BE(crc32(fixedPng.subarray(i + 4, end)), end)
    i = end + 4
  }
  return fixedPng
}

const webp = () =>
  sharp({ create: { width: 200, height: 200, channels: 3, background: '#369' } })
    .webp()
    .toBuffer()

/** Whatever somebody calls a picture is refused in words for him, or becomes one that says nothing but what is seen. */
export const target: FuzzTarget = {
  seeds: await Promise.all([createFoto({ ancho: 200, alto: 200 }), createFirma(), webp()]),
  words: [
    '\x89PNG\r\n\x1a\n',
    'IHDR',
    'IDAT',
    'IEND',
    'acTL',
    'iCCP',
    'eXIf',
    'tEXt',
    'Exif\0\0',
    'MM\0*',
    'II*\0',
    'RIFF',
    'WEBP',
    'VP8 ',
    'VP8X',
    'VP8L',
    'ANIM',
    'ftypheic',
    '\xff\xd8\xff',
    '\xff\xc0',
    '\xff\xc2',
    '\xff\xd9',
    '\0\0\0\0',
    '\0\0\xff\xff',
    '\x7f\xff\xff\xff',
    '2026:11:20 15:04:05',
    '-06:00',
    '0000:00:00 00:00:00',
  ],
  async probar(input) {
    writeFileSync(path, fixChecksums(input))
    const tipo = input.length % 2 === 0 ? 'foto' : 'firma'
    const parsedImage = await readImage(path, tipo).catch((error: unknown) => {
      if (error instanceof Problema && error.codigo === 'imagen_invalida') return undefined
      throw error
    })
    if (!parsedImage) return
    const { format, width, height, exif, xmp, iptc } = await sharp(parsedImage.contenido).metadata()
    requireHolds(
      `image/${format}` === parsedImage.mime && width === parsedImage.ancho && height === parsedImage.alto,
      'it is what it says',
    )
    requireHolds(Math.max(width, height) <= 2_560, 'it is no larger than it may be')
    requireHolds(Math.min(width, height) >= (tipo === 'foto' ? 200 : 20), 'it is no smaller than it may be')
    requireHolds(exif === undefined && xmp === undefined && iptc === undefined, 'it tells nothing besides')
    const { lat, lng, capturado_en } = parsedImage
    requireHolds((lat === null) === (lng === null), 'a place has both coordinates')
    requireHolds(lat === null || (Math.abs(lat) <= 90 && Math.abs(lng!) <= 180), 'the place is on Earth')
    requireHolds(capturado_en === null || !Number.isNaN(capturado_en.getTime()), 'the instant is one')
  },
}
