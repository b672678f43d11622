import { setImmediate as ceder } from 'node:timers/promises'
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
import { type DatosDeEtiqueta, drawLabel, HOJA, type LabelCanvas, LOGO_BOX } from './label.ts'

/** Width of a bar module in points: 0.5 mm, four dots at 203 dpi and six at 300. */
const MODULO = (0.5 / 25.4) * 72
/** Modules of the quiet zone on each side of a QR code. */
const QUIET_ZONE_QR = 4
/** Grey level, from 0 to 255, below which a pixel of the logo is printed. */
const OSCURO = 150

/**
 * Draws labels for label printers until the signal is aborted: one of 10 × 15 cm after the other, in one file of ZPL II.
 * The file is ASCII, and the same data gives the same bytes.
 * @throws the signal's reason if the signal is aborted
 */
export async function renderZpl(
  marca: DocumentBrand,
  etiquetas: DatosDeEtiqueta[],
  ppp: Resolution,
  senal?: AbortSignal,
): Promise<Buffer> {
  const dots = dotsOf(ppp)
  const escritas: string[] = []
  let campos: string[] = []
  const lienzo = await createPrinterCanvas(marca, ppp, (campo) => campos.push(campo))
  for (const etiqueta of etiquetas) {
    // The texts are UTF-8 (`^CI28`). A printer keeps the origin and the inversion of earlier labels, so they are reset.
    campos = ['^XA^CI28', `^PW${dots(HOJA.ancho)}^LL${dots(HOJA.alto)}^LH0,0^PON^FWN^LRN`]
    drawLabel(lienzo, etiqueta)
    escritas.push(...campos, '^XZ')
    // Drawing a label is synchronous, so an abort is only noticed between two labels.
    await ceder()
    senal?.throwIfAborted()
  }
  return Buffer.from(`${escritas.join('\n')}\n`, 'ascii')
}

async function createPrinterCanvas(
  marca: DocumentBrand,
  ppp: Resolution,
  escribir: (campo: string) => void,
): Promise<LabelCanvas> {
  const dots = dotsOf(ppp)
  const logo = marca.logo?.negro ?? null
  const bits = logo && (await rasterize(logo, dots))
  return {
    tipografia: createPrinterTypography(ppp, escribir),
    marca: { nombre: marca.nombre, logo },
    fill: (x, y, ancho, alto) => escribir(box(dots(x), dots(y), dots(ancho), Math.max(1, dots(alto)))),
    clear() {},
    logo: (x, y) => void (bits && escribir(picture(dots(x), dots(y), bits.ancho, bits.filas))),
    backdrop() {},
    bars(texto) {
      const modulos = modulesOf128(texto)
      const modulo = Math.min(dots(MODULO), Math.floor(dots(HOJA.ancho) / (modulos + 2 * QUIET_ZONE_128)))
      // A scanner needs two dots.
      if (modulo < 2 || !CODE_128_TEXT.test(texto)) return undefined
      const x = Math.round((dots(HOJA.ancho) - modulos * modulo) / 2)
      return (y, alto) => escribir(code128(x, dots(y), modulo, dots(alto), texto))
    },
    qr(texto) {
      const modulos = modulesOfQr(texto)
      if (modulos === undefined) return undefined
      return (x, y, lado) => {
        const modulo = Math.floor(dots(lado) / (modulos + 2 * QUIET_ZONE_QR))
        const borde = Math.round((dots(lado) - modulos * modulo) / 2)
        escribir(qrCode(dots(x) + borde, dots(y) + borde, modulo, texto))
      }
    },
  }
}

/** Draws a logo in the printer's dots: one bit each, in rows of whole bytes, as large as its place on the label. */
async function rasterize(logo: Drawing, dots: (puntos: number) => number) {
  const medida = fitInside(logo, LOGO_BOX)
  const [ancho, alto] = [dots(medida.ancho), dots(medida.alto)]
  const sharp = await loadSharp()
  const grises = await sharp(logo.png)
    .resize(ancho, alto, { fit: 'fill' })
    .flatten({ background: '#FFFFFF' })
    .toColourspace('b-w')
    .raw()
    .toBuffer()
  const porFila = Math.ceil(ancho / 8)
  const filas = new Uint8Array(porFila * alto)
  for (const [i, gris] of grises.entries()) {
    const columna = i % ancho
    if (gris < OSCURO) filas[Math.floor(i / ancho) * porFila + (columna >> 3)]! |= 0x80 >> (columna & 7)
  }
  return { ancho, filas }
}
