import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { DocumentBrand } from '../../platform/brand/brand.ts'
import type { Drawing } from '../../platform/brand/logo.ts'
import { fitInside } from '../../platform/images/prepareImage.ts'
import { loadSharp } from '../../platform/images/sharp.ts'
import { QUIET_ZONE_128 } from '../../platform/pdf/barcodes.ts'
import {
  box,
  CODE_128_TEXT,
  code128,
  createPrinterTypography,
  dotsOf,
  modulesOf128,
  modulesOfQr,
  picture,
  qrCode,
  type Resolution,
} from '../../platform/zpl/zpl.ts'
import { drawLabel, type EtiquetaData, LABEL_SHEET, type LabelCanvas, LOGO_BOX } from './label.ts'

/** Width of a bar module in points: 0.5 mm, four dots at 203 dpi and six at 300. */
const MODULE_POINTS = (0.5 / 25.4) * 72
/** Modules of the quiet zone on each side of a QR code. */
const QUIET_ZONE_QR = 4
/** Grey level, from 0 to 255, below which a pixel of the logo is printed. */
const DARK_LEVEL = 150

/**
 * Draws labels for label printers until the signal is aborted: one of 10 × 15 cm after the other, in one file of ZPL II.
 * The file is ASCII, and the same data gives the same bytes.
 * @throws the signal's reason if the signal is aborted
 */
export async function renderZpl(
  brand: DocumentBrand,
  etiquetas: EtiquetaData[],
  ppp: Resolution,
  signal?: AbortSignal,
): Promise<Buffer> {
  const dots = dotsOf(ppp)
  const written: string[] = []
  let fields: string[] = []
  const canvas = await createPrinterCanvas(brand, ppp, (field) => fields.push(field))
  for (const etiqueta of etiquetas) {
    // The texts are UTF-8 (`^CI28`). A printer keeps the origin and the inversion of earlier labels, so they are reset.
    fields = ['^XA^CI28', `^PW${dots(LABEL_SHEET.ancho)}^LL${dots(LABEL_SHEET.alto)}^LH0,0^PON^FWN^LRN`]
    drawLabel(canvas, etiqueta)
    written.push(...fields, '^XZ')
    // Drawing a label is synchronous, so an abort is only noticed between two labels.
    await yieldTurn()
    signal?.throwIfAborted()
  }
  return Buffer.from(`${written.join('\n')}\n`, 'ascii')
}

async function createPrinterCanvas(
  brand: DocumentBrand,
  ppp: Resolution,
  writeField: (field: string) => void,
): Promise<LabelCanvas> {
  const dots = dotsOf(ppp)
  const logo = brand.logo?.black ?? null
  const bits = logo && (await rasterize(logo, dots))
  return {
    typography: createPrinterTypography(ppp, writeField),
    brand: { nombre: brand.nombre, logo },
    fill: (x, y, width, height) => writeField(box(dots(x), dots(y), dots(width), Math.max(1, dots(height)))),
    logo: (x, y) => void (bits && writeField(picture(dots(x), dots(y), bits.ancho, bits.rows))),
    backdrop() {},
    bars(text) {
      const modules = modulesOf128(text)
      const moduleDots = Math.min(
        dots(MODULE_POINTS),
        Math.floor(dots(LABEL_SHEET.ancho) / (modules + 2 * QUIET_ZONE_128)),
      )
      // A scanner needs two dots.
      if (moduleDots < 2 || !CODE_128_TEXT.test(text)) return undefined
      const x = Math.round((dots(LABEL_SHEET.ancho) - modules * moduleDots) / 2)
      return (y, height) => writeField(code128(x, dots(y), moduleDots, dots(height), text))
    },
    qr(text) {
      const modules = modulesOfQr(text)
      if (modules === undefined) return undefined
      return (x, y, side) => {
        const moduleDots = Math.floor(dots(side) / (modules + 2 * QUIET_ZONE_QR))
        const margin = Math.round((dots(side) - modules * moduleDots) / 2)
        writeField(qrCode(dots(x) + margin, dots(y) + margin, moduleDots, text))
      }
    },
  }
}

/** Draws a logo in the printer's dots: one bit each, in rows of whole bytes, as large as its place on the label. */
async function rasterize(logo: Drawing, dots: (points: number) => number) {
  const logoSize = fitInside(logo, LOGO_BOX)
  const [ancho, height] = [dots(logoSize.ancho), dots(logoSize.alto)]
  const sharp = await loadSharp()
  const greys = await sharp(logo.png)
    .resize(ancho, height, { fit: 'fill' })
    .flatten({ background: '#FFFFFF' })
    .toColourspace('b-w')
    .raw()
    .toBuffer()
  const bytesPerRow = Math.ceil(ancho / 8)
  const rows = new Uint8Array(bytesPerRow * height)
  for (const [i, grey] of greys.entries()) {
    const column = i % ancho
    if (grey < DARK_LEVEL) rows[Math.floor(i / ancho) * bytesPerRow + (column >> 3)]! |= 0x80 >> (column & 7)
  }
  return { ancho, rows }
}
