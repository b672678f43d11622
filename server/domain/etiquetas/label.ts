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
  logo(x: number, y: number, width: number, height: number): void
  /** Draws the pale text «PRUEBA» across the label, between two heights. Does nothing on a printer that has no grey. */
  backdrop(top: number, bottom: number): void
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
const LENGTH_128 = 24
/** Largest size of the brand's logo, in points. */
export const LOGO_BOX = { ancho: WIDTH / 2 - 4, alto: 28 }
const CAPTION: TextStyle = { size: 6.2, weight: 'strong', letterSpacing: 0.5 }

/**
 * Draws a label from top to bottom: carrier, code, sender, destination, contents. The destination gets the space that
 * the other parts leave.
 */
export function drawLabel(canvas: LabelCanvas, etiqueta: EtiquetaData): void {
  const sheet: Sheet = {
    canvas,
    typography: canvas.typography,
    etiqueta,
    rule: (y, thickness = 1, width = WIDTH) => canvas.fill(X, y, width, thickness),
  }
  let y = drawHeader(sheet)
  y = code(sheet, y + 5)
  sheet.rule(y)
  y = drawSender(sheet, y + 5)
  sheet.rule(y, 2)
  const drawQr = canvas.qr(etiqueta.url_rastreo)
  const besideQr = drawQr ? WIDTH - QR_SIDE - 6 : WIDTH
  const contentTop = drawContents(sheet, besideQr)
  drawDestination(sheet, y + 7, contentTop, besideQr)
  drawNote(sheet, besideQr, drawQr !== undefined)
  drawQr?.(X + WIDTH - QR_SIDE + 8, QR_TOP, QR_SIDE)
}

interface Sheet {
  canvas: LabelCanvas
  typography: Typography
  etiqueta: EtiquetaData
  rule: (y: number, thickness?: number, width?: number) => void
}

function drawHeader(sheet: Sheet): number {
  const { canvas, typography, etiqueta, rule } = sheet
  const y = X
  const halfWidth = LOGO_BOX.ancho
  drawBrand(sheet, y)
  const x = X + halfWidth + 8
  if (etiqueta.modo === 'test') {
    canvas.fill(x + halfWidth - 66, y + 5, 66, 18)
    const style: TextStyle = { size: 10, weight: 'strong', color: '#FFFFFF', letterSpacing: 1.5 }
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
  const drawBars = etiqueta.guia.length <= LENGTH_128 ? canvas.bars(etiqueta.guia) : undefined
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

/** Matches a zone as addresses write it: «zona 10», «Z. 1». */
const ZONE = /(?<![\p{L}\d])z(?:ona|\.) *0?(\d{1,2})(?![\p{L}\d])/giu

/** Returns the number of the zone that an address names; undefined if it names none, or several. */
function zoneOf(direccion: string | null): string | undefined {
  const zones = new Set(Array.from((direccion ?? '').matchAll(ZONE), ([, zone]) => zone))
  return zones.size === 1 ? [...zones][0] : undefined
}

const STRONG = { weight: 'strong', leading: 1.18 } as const
const NORMAL = { leading: 1.24 } as const
/** Side of the QR code, which stands in the lower right corner. */
const QR_SIDE = 78
const QR_TOP = LABEL_SHEET.alto - X - QR_SIDE

/**
 * Draws the destination: recipient, municipality, address. The indications stand below, beside the QR code, so that a
 * long address leaves them the space that the code needs anyway.
 */
function drawDestination(sheet: Sheet, y: number, contentTop: number, besideQr: number): void {
  const { canvas, typography, etiqueta } = sheet
  const { nombre, telefono, indicaciones } = etiqueta.destinatario
  const direccion = etiqueta.destinatario.direccion ?? ''
  if (etiqueta.modo === 'test') canvas.backdrop(y, QR_TOP)
  // A long address makes the other texts smaller, because a cut address costs more than a small municipality.
  const isTight = direccion.length > 150
  typography.write(['ENTREGAR A'], X, y, CAPTION)
  let bottom = drawTelephone(typography, y - 2, telefono)
  const recipient = nombre?.trim() ? nombre : 'Destinatario sin nombre'
  const sizes = isTight ? [12, 11, 9, 8] : [15, 13, 11, 9, 8]
  bottom = drawText(typography, recipient, bottom, STRONG, sizes, { ancho: WIDTH, alto: 34 }) + 2
  bottom = drawMunicipality(sheet, bottom, isTight) + 4
  const box = { ancho: WIDTH, alto: QR_TOP - bottom }
  if (indicaciones?.trim()) {
    // Each text gets a share of the space by its length, and an address at least two large lines.
    const share = direccion.length / (direccion.length + (indicaciones.length * WIDTH) / besideQr)
    box.alto = Math.min(box.alto, Math.max(34, (contentTop - bottom - 13) * share))
  }
  bottom = drawText(typography, direccion, bottom, STRONG, [14, 12.5, 11, 10, 9, 8, 7, 6.2], box)
  if (!indicaciones?.trim()) return
  bottom = typography.write(['INDICACIONES'], X, bottom + 3, CAPTION)
  const below = { ancho: besideQr, alto: contentTop - 2 - bottom }
  drawText(typography, indicaciones, bottom, NORMAL, [13, 12, 11, 10, 9, 8, 7, 6.2, 5.4], below)
}

/** Draws a text in its largest size that fits into the box; nothing if the box has no room for a line. */
function drawText(
  typography: Typography,
  value: string,
  y: number,
  base: Omit<TextStyle, 'size'>,
  fontSizes: number[],
  box: { ancho: number; alto: number },
): number {
  if (!value.trim() || box.alto < lineHeight({ ...base, size: fontSizes.at(-1)! })) return y
  const text = typography.fit(value, base, fontSizes, box)
  return typography.write(text.lineas, X, y, text.style)
}

/** Draws the recipient's telephone on the right. The courier reads it at arm's length while dialling. */
function drawTelephone(typography: Typography, y: number, telefono: string | null): number {
  const style: TextStyle = { ...STRONG, size: 11 }
  const options = { ancho: WIDTH - 60, align: 'derecha' } as const
  const lines = typography.split(`Tel. ${telefono === null ? '—' : showTelephone(telefono)}`, style, options.ancho, 1)
  return typography.write(lines, X + 60, y, style, options)
}

/**
 * Draws the municipality, and below it the department and the zone. Warehouses sort parcels by municipality and zone,
 * so both must be readable from two metres away.
 */
function drawMunicipality({ canvas, typography, etiqueta }: Sheet, y: number, isTight: boolean): number {
  const { departamento, municipio, direccion } = etiqueta.destinatario
  const nameSizes = isTight ? [20, 17, 14, 11, 9] : [28, 26, 22, 18, 14, 11, 9]
  const box = { ancho: WIDTH, alto: isTight ? 24 : 34 }
  const top = drawText(typography, municipio, y, STRONG, nameSizes, box)
  const departmentSizes = isTight ? [9, 8, 7] : [12, 10, 8, 7]
  const zone = zoneOf(direccion)
  if (zone === undefined) return drawText(typography, departamento, top, NORMAL, departmentSizes, { ...box, alto: 18 })
  const zoneText = `ZONA ${zone}`
  const style: TextStyle = { ...STRONG, size: isTight ? 15 : 21, color: '#FFFFFF' }
  const [ancho, height] = [typography.measure(zoneText, style) + 14, lineHeight(style)]
  // Letters such as «g» of the municipality reach below their line.
  const zoneTop = top + 3
  canvas.fill(X + WIDTH - ancho, zoneTop, ancho, height)
  typography.write([zoneText], X + WIDTH - ancho, zoneTop, style, { ancho, align: 'centro' })
  drawText(typography, departamento, top, NORMAL, departmentSizes, { ancho: WIDTH - ancho - 8, alto: 18 })
  return zoneTop + height
}

/** Draws the contents beside the QR code, upwards from the lower edge. Returns the vertical position of their top. */
function drawContents({ typography, etiqueta, rule }: Sheet, ancho: number): number {
  const contents = etiqueta.contenido?.trim() || '—'
  const text = typography.fit(contents, { leading: 1.2 }, [9, 8, 7, 6, 5.2], { ancho, alto: 30 })
  const top = NOTE_TOP - 3 - text.alto
  const captionTop = top - lineHeight(CAPTION)
  typography.write(['CONTENIDO'], X, captionTop, CAPTION)
  typography.write(text.lineas, X, top, text.style)
  rule(captionTop - 3, 1, ancho)
  return captionTop - 3
}

const NOTE_TOP = LABEL_SHEET.alto - X - 9

/** Draws the line at the lower edge: the meaning of the mark of transcribed texts, or an invitation to scan the code. */
function drawNote({ typography }: Sheet, width: number, hasQr: boolean): void {
  const invitation = hasQr ? 'Siga su envío con el código QR' : ''
  const note = typography.takeTranscribed()
    ? '* Transcrito de otro alfabeto: el original está en el sistema'
    : invitation
  typography.write(typography.split(note, { size: 6.4 }, width, 1), X, NOTE_TOP, { size: 6.4 })
}
