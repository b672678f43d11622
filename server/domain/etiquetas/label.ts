import { needsName } from '../../platform/brand/brand.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { fitInside } from '../../platform/images/prepareImage.ts'
import { lineHeight, type TextStyle, type Typography } from '../../platform/pdf/lines.ts'
import { showTelephone } from '../../platform/telephones/telephone.ts'

/** Data of one label, as plain values; the caller converts its rows. */
export interface EtiquetaData {
  comercio: string
  modo: 'live' | 'test'
  guia: string
  external_ref: string | null
  /** Instant in RFC 3339. The latest of all labels becomes the document's date. */
  creado_en: string
  url_rastreo: string
  recogida: {
    nombre: string | null
    lat: number | null
    lng: number | null
    direccion: string | null
    contacto: string | null
    telefono: string | null
    indicaciones: string | null
  }
  destinatario: {
    nombre: string | null
    /** Full telephone number, because the courier calls the recipient with the number on the label. */
    telefono: string | null
    departamento: string
    municipio: string
    direccion: string | null
    indicaciones: string | null
  }
  contenido: string | null
}

/**
 * Surface on which a label is drawn: a page of a PDF, or the commands of a label printer. Positions and sizes are in
 * points, from the upper left corner.
 */
export interface LabelCanvas {
  readonly typography: Typography
  /** Brand's name and the size of its logo in any unit. */
  readonly brand: { nombre: string; logo: { ancho: number; alto: number } | null }
  /** Fills a rectangle with black. */
  fill(x: number, y: number, width: number, height: number): void
  /** Fills a rectangle with white, over the text behind test labels. */
  clear(x: number, y: number, width: number, height: number): void
  logo(x: number, y: number, width: number, height: number): void
  /** Draws the pale text «PRUEBA» behind everything. Does nothing on a printer that has no grey. */
  backdrop(): void
  /** Returns the function that draws a text as Code 128 bars in the middle; undefined if no bars can be printed. */
  bars(text: string): ((y: number, height: number) => void) | undefined
  /** Returns the function that draws a text as a QR code in a square; undefined if the text is too long. */
  qr(text: string): ((x: number, y: number, side: number) => void) | undefined
}

/** PDF points per centimetre. */
const POINTS_PER_CM = 72 / 2.54
export const LABEL_SHEET = { ancho: 10 * POINTS_PER_CM, alto: 15 * POINTS_PER_CM }
const X = 12
const WIDTH = LABEL_SHEET.ancho - 2 * X
/**
 * Maximum characters drawn as Code 128 bars. A guide's code has 12; a much longer text would give bars that no printer
 * resolves.
 */
const LARGO_128 = 24
/** Largest size of the brand's logo, in points. */
export const LOGO_BOX = { ancho: WIDTH / 2 - 4, alto: 28 }
const CAPTION: TextStyle = { cuerpo: 6.2, weight: 'strong', letterSpacing: 0.5 }

/**
 * Draws a label from top to bottom: carrier, code, sender, destination, contents. The destination gets the space that
 * the other parts leave.
 */
export function drawLabel(canvas: LabelCanvas, etiqueta: EtiquetaData): void {
  const sheet: Sheet = {
    canvas,
    typography: canvas.typography,
    etiqueta,
    rule: (y, thickness = 1) => canvas.fill(X, y, WIDTH, thickness),
  }
  if (etiqueta.modo === 'test') canvas.backdrop()
  let y = drawHeader(sheet)
  y = code(sheet, y + 5)
  sheet.rule(y)
  y = drawSender(sheet, y + 5)
  sheet.rule(y, 2)
  const footTop = LABEL_SHEET.alto - X - FOOT_HEIGHT
  destino(sheet, y + 6, footTop - 5)
  sheet.rule(footTop)
  drawContentAndQr(sheet, footTop + 1)
}

interface Sheet {
  canvas: LabelCanvas
  typography: Typography
  etiqueta: EtiquetaData
  rule: (y: number, thickness?: number) => void
}

function drawHeader(sheet: Sheet): number {
  const { canvas, typography, etiqueta, rule } = sheet
  const y = X
  const halfWidth = LOGO_BOX.ancho
  drawBrand(sheet, y)
  const x = X + halfWidth + 8
  if (etiqueta.modo === 'test') {
    canvas.fill(x + halfWidth - 66, y + 5, 66, 18)
    const style: TextStyle = { cuerpo: 10, weight: 'strong', color: '#FFFFFF', letterSpacing: 1.5 }
    typography.write(['PRUEBA'], x + halfWidth - 66, y + 7.2, style, { ancho: 66, align: 'centro' })
  } else {
    const comercio = typography.fit(etiqueta.comercio, { leading: 1.15 }, [9, 8, 7], {
      ancho: halfWidth,
      alto: 28,
    })
    const options = { ancho: halfWidth, align: 'derecha' } as const
    typography.write(comercio.lineas, x, y + (28 - comercio.alto) / 2, comercio.style, options)
  }
  rule(y + 32, 2)
  return y + 34
}

/** Draws the logo in black. Draws the brand's name if the brand has no logo or the logo does not show the name. */
function drawBrand({ canvas, typography }: Sheet, y: number): void {
  const { brand } = canvas
  const { logo } = brand
  const box = LOGO_BOX
  const logoSize = logo ? fitInside(logo, box) : { ancho: 0, alto: 0 }
  const top = y + (box.alto - logoSize.alto) / 2
  if (logo) canvas.logo(X, top, logoSize.ancho, logoSize.alto)
  if (logo && !needsName(logo)) return
  const x = X + (logo ? logoSize.ancho + 5 : 0)
  const style = { weight: 'strong', leading: 1.15 } as const
  const name = typography.fit(brand.nombre, style, [13, 11, 9, 7.5], { ...box, ancho: box.ancho - (x - X) })
  typography.write(name.lineas, x, y + (box.alto - name.alto) / 2, name.style)
}

const BARS_HEIGHT = 56

function code({ canvas, typography, etiqueta }: Sheet, y: number): number {
  const drawBars = etiqueta.guia.length <= LARGO_128 ? canvas.bars(etiqueta.guia) : undefined
  // Bars and quiet zones need a white background, and the text of test labels may lie behind them.
  canvas.clear(0, y, LABEL_SHEET.ancho, BARS_HEIGHT + 4)
  drawBars?.(y + 2, BARS_HEIGHT)
  const bottom = y + (drawBars ? BARS_HEIGHT + 4 : 0)
  const base = { weight: 'strong', letterSpacing: 1.2 } as const
  const box = { ancho: WIDTH, alto: 28 }
  const text = typography.fit(inGroups(etiqueta.guia), base, [21, 15, 10, 8], box)
  return typography.write(text.lineas, X, bottom, text.style, { ancho: WIDTH, align: 'centro' }) + 3
}

function drawSender({ typography, etiqueta }: Sheet, y: number): number {
  const { recogida, comercio, external_ref } = etiqueta
  const halfWidth = WIDTH / 2 - 5
  const writeText = (value: string, x: number, top: number, weight: TextStyle['weight'], alto: number): number => {
    const text = typography.fit(value, { leading: 1.2, weight }, [8.5, 7.5, 6.5], { ancho: halfWidth, alto })
    return typography.write(text.lineas, x, top, text.style)
  }
  const right = X + halfWidth + 10
  let senderBottom = writeText(comercio, X, typography.write(['REMITE'], X, y, CAPTION), 'normal', 11)
  senderBottom = writeText(recogida.nombre?.trim() || coordinates(recogida), X, senderBottom, 'normal', 18)
  // The telephone comes first, so that no long text cuts it off.
  const telefono = recogida.telefono && `Tel. ${showTelephone(recogida.telefono)}`
  for (const parts of [[telefono, recogida.contacto], [recogida.direccion]]) {
    const line = parts.filter((part) => part?.trim()).join(' · ')
    if (line !== '') senderBottom = writeText(line, X, senderBottom, 'normal', 18)
  }
  const captionBottom = typography.write(['REFERENCIA'], right, y, CAPTION)
  let referenceBottom = writeText(external_ref?.trim() || '—', right, captionBottom, 'strong', 29)
  if (recogida.indicaciones?.trim()) {
    const text = typography.write(['INDICACIONES PARA RECOGER'], right, referenceBottom + 2, CAPTION)
    // The indications fill the space beside the lines of the sender, so that the destination keeps its own.
    referenceBottom = writeText(recogida.indicaciones, right, text, 'normal', Math.max(18, senderBottom - text))
  }
  return Math.max(senderBottom, referenceBottom) + 4
}

const coordinates = ({ lat, lng }: { lat: number | null; lng: number | null }): string =>
  lat === null || lng === null ? '' : `${lat.toFixed(5)}, ${lng.toFixed(5)}`

/**
 * Draws the destination. Warehouses sort parcels by municipality, so the municipality's name must be readable from two
 * metres away.
 */
function destino({ typography, etiqueta }: Sheet, y: number, limitY: number): void {
  const { nombre, telefono, departamento, municipio, direccion, indicaciones } = etiqueta.destinatario
  const drawBlock = (
    value: string | null,
    top: number,
    base: Omit<TextStyle, 'cuerpo'>,
    fontSizes: number[],
    height: number,
  ) => {
    if (!value?.trim()) return top
    const box = { ancho: WIDTH, alto: Math.max(0, Math.min(height, limitY - top)) }
    if (box.alto < lineHeight({ ...base, cuerpo: fontSizes.at(-1)! })) return top
    const text = typography.fit(value, base, fontSizes, box)
    return typography.write(text.lineas, X, top, text.style)
  }
  const strong = { weight: 'strong', leading: 1.18 } as const
  const normal = { leading: 1.24 } as const
  // A long address makes the other texts smaller, because a cut address costs more than a small municipality.
  const isTight = `${direccion ?? ''}${indicaciones ?? ''}`.length > 220
  const fontSizes = isTight
    ? { nombre: [11, 9, 8], municipio: [17, 14, 11, 9], departamento: [9, 8, 7] }
    : { nombre: [15, 13, 11, 9, 8], municipio: [26, 22, 18, 14, 11, 9], departamento: [12, 10, 8, 7] }
  let bottom = typography.write(['ENTREGAR A'], X, y, CAPTION)
  bottom = drawBlock(nombre ?? 'Destinatario sin nombre', bottom + 1, strong, fontSizes.nombre, isTight ? 27 : 34)
  const telephoneText = `Tel. ${telefono === null ? '—' : showTelephone(telefono)}`
  // The courier reads the number at arm's length while dialling it.
  bottom = drawBlock(telephoneText, bottom, strong, [isTight ? 9 : 10.5], 14) + (isTight ? 2 : 4)
  bottom = drawBlock(municipio, bottom, strong, fontSizes.municipio, isTight ? 22 : 34)
  bottom = drawBlock(departamento, bottom, normal, fontSizes.departamento, 18) + (isTight ? 3 : 5)
  bottom =
    drawBlock(
      direccion,
      bottom,
      strong,
      [12.5, 11, 10, 9, 8, 7, 6.2],
      indicaciones ? (limitY - bottom) * 0.5 : limitY - bottom,
    ) + 4
  drawBlock(indicaciones && `Indicaciones: ${indicaciones}`, bottom, normal, [10, 9, 8, 7, 6.2, 5.4], limitY - bottom)
}

const FOOT_HEIGHT = 78

function drawContentAndQr({ canvas, typography, etiqueta }: Sheet, y: number): void {
  const qr = canvas.qr(etiqueta.url_rastreo)
  const side = FOOT_HEIGHT
  const ancho = qr ? WIDTH - side - 6 : WIDTH
  let bottom = typography.write(['CONTENIDO'], X, y + 5, CAPTION)
  const box = { ancho, alto: 44 }
  const text = typography.fit(etiqueta.contenido?.trim() || '—', { leading: 1.2 }, [9, 8, 7, 6, 5.2], box)
  bottom = typography.write(text.lineas, X, bottom, text.style)
  if (typography.takeTranscribed()) {
    const aviso = typography.split(
      '* Transcrito de otro alfabeto: el original está en el sistema',
      { cuerpo: 6.4 },
      ancho,
      1,
    )
    typography.write(aviso, X, LABEL_SHEET.alto - X - 18, { cuerpo: 6.4 })
  }
  const nota = typography.split('Siga su envío con el código QR', { cuerpo: 6.4 }, ancho, 1)
  if (!qr) return
  typography.write(nota, X, LABEL_SHEET.alto - X - 9, { cuerpo: 6.4 })
  const x = X + WIDTH - side + 8
  canvas.clear(x, y, side, side)
  qr(x, y, side)
}
