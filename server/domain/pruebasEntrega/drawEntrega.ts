import { needsName } from '../../platform/brand/brand.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { fitInside } from '../../platform/images/prepareImage.ts'
import { drawQr, qrOf } from '../../platform/pdf/barcodes.ts'
import { type Canvas, TONES } from '../../platform/pdf/canvas.ts'
import { lineHeight } from '../../platform/pdf/lines.ts'
import type { PruebaData } from './pdfContent.ts'
import {
  CONTENT_WIDTH,
  coordinates,
  LABEL_STYLE,
  NO_DATA,
  PDF_SHEET,
  type PdfPage,
  SMALL_STYLE,
  TEXT_STYLE,
  TITLE_STYLE,
  X,
} from './pdfSheet.ts'

const CHANNEL = 24
const COLUMN_WIDTH = (CONTENT_WIDTH - CHANNEL) / 2

/** Draws the header with the courier company's brand. Returns the vertical position of the next part. */
export function drawHeader({ canvas, datos }: PdfPage): number {
  canvas.artifact(() => canvas.doc.rect(0, 0, PDF_SHEET.ancho, 6).fill(datos.brand.color))
  let y = 34
  const headingStyle = { ...LABEL_STYLE, size: 8.6, color: datos.brand.color, letterSpacing: 1.1 }
  canvas.paragraph('PRUEBA DE ENTREGA', X + CONTENT_WIDTH - 170, y + 2.5, headingStyle, {
    ancho: 170,
    align: 'derecha',
    role: 'H1',
  })
  y = drawBrand({ canvas, datos }, y)
  if (datos.modo === 'test') {
    const aviso = 'Guía de prueba: este documento no acredita ninguna entrega real.'
    canvas.artifact(() => canvas.doc.roundedRect(X, y + 6, CONTENT_WIDTH, 20, 3).fill('#FBF3E6'))
    y =
      canvas.paragraph(
        aviso,
        X + 10,
        y + 10,
        { ...TEXT_STYLE, weight: 'strong', color: TONES.aviso },
        { ancho: CONTENT_WIDTH - 20 },
      ) + 4
  }
  canvas.rule(X, y + 9, CONTENT_WIDTH)
  return y + 24
}

/**
 * Draws the logo. Draws the brand's name too if the brand has no logo or the logo does not show the name. Returns the
 * vertical position below.
 */
function drawBrand({ canvas, datos }: Pick<PdfPage, 'canvas' | 'datos'>, y: number): number {
  const { nombre, logo } = datos.brand
  const box = { ancho: 150, alto: 34 }
  const logoSize = logo ? fitInside(logo.color, box) : { ancho: 0, alto: 0 }
  const withName = !logo || needsName(logo.color)
  if (logo) canvas.image(withName ? 'Logo' : nombre, logo.color.png, X, y - 6, logoSize)
  if (!withName) return y - 6 + logoSize.alto
  const x = X + (logo ? logoSize.ancho + 9 : 0)
  const style = { ...TITLE_STYLE, size: 13 }
  const options = { ancho: CONTENT_WIDTH - 190 - (x - X), max: 3 }
  const height = canvas.alto(nombre, style, options.ancho, options.max)
  const top = Math.max(y - 6, y - 6 + (logoSize.alto - height) / 2)
  return Math.max(canvas.paragraph(nombre, x, logo ? top : y, style, options), y - 6 + logoSize.alto)
}

/**
 * Draws the guide's code, its state and the instant of delivery, and on the right the QR code for verification. Returns
 * the vertical position of the next part.
 */
export function drawCover({ canvas, datos, clock }: PdfPage, y: number): number {
  const side = 104
  const ancho = CONTENT_WIDTH - side - CHANNEL
  let bottom = canvas.paragraph('GUÍA', X, y, LABEL_STYLE)
  const code = { size: 31, weight: 'strong', color: TONES.ink, leading: 1.2 } as const
  const fitted = canvas.fit(inGroups(datos.guia), code, [31, 22, 14], { ancho, alto: 38 })
  bottom = canvas.paragraph(inGroups(datos.guia), X - 1, bottom + 1, fitted.style, { ancho, role: 'H2' }) + 7
  bottom = estado({ canvas, datos }, bottom, ancho)
  const when = `${clock.formatLong(datos.entregado_en)} · ${clock.zona(datos.entregado_en)}`
  bottom = canvas.paragraph(when, X, bottom + 5, TEXT_STYLE, { ancho }) + 9
  const half = (ancho - CHANNEL) / 2
  const left = field(canvas, 'REFERENCIA DEL COMERCIO', datos.external_ref, X, bottom, half, 3)
  const right = field(canvas, 'CONTENIDO', datos.contenido, X + half + CHANNEL, bottom, half, 3)
  return Math.max(left, right, drawVerification({ canvas, datos }, y, side)) + 16
}

function estado({ canvas, datos }: Pick<PdfPage, 'canvas' | 'datos'>, y: number, width: number): number {
  const style = { ...TEXT_STYLE, size: 9.5, weight: 'strong', color: '#FFFFFF' } as const
  const [line = NO_DATA] = canvas.split(datos.estado, style, width - 20, 1)
  const length = canvas.measure(line, style) + 20
  canvas.artifact(() => canvas.doc.roundedRect(X, y, length, 19, 9.5).fill(datos.brand.color))
  canvas.paragraph(line, X + 10, y + 3.2, style, { ancho: width - 10 })
  return y + 19
}

function drawVerification({ canvas, datos }: Pick<PdfPage, 'canvas' | 'datos'>, y: number, side: number): number {
  const x = X + CONTENT_WIDTH - side
  const qr = qrOf(datos.verificationUrl)
  const enlace = /^https?:\/\/[\x21-\x7E]+$/.test(datos.verificationUrl) ? datos.verificationUrl : undefined
  // The QR code's quiet zone is white like the page. Drawn outside the margin, it lets the modules line up with the
  // margin.
  if (qr) canvas.figure(`Código QR: ${datos.verificationUrl}`, () => drawQr(canvas.doc, qr, x - 8, y - 12, side + 20))
  const style = { ...SMALL_STYLE, size: 7, color: enlace ? datos.brand.color : TONES.grey }
  const options = { ancho: side + 2, align: 'centro', ...(enlace ? { enlace } : {}) } as const
  return canvas.paragraph(qr ? 'Verificar este documento' : datos.verificationUrl, x, y + (qr ? side + 1 : 0), style, {
    ...options,
    max: 6,
  })
}

/** Draws a small label and its value below. Returns the vertical position of what follows. */
function field(canvas: Canvas, label: string, value: string | null, x: number, y: number, ancho: number, max: number) {
  const bottom = canvas.paragraph(label, x, y, LABEL_STYLE, { ancho })
  return canvas.paragraph(value?.trim() || NO_DATA, x, bottom + 1, TEXT_STYLE, { ancho, max })
}

/** Draws the sender and the intended recipient, side by side. Returns the vertical position of the next part. */
export function drawParties({ canvas, datos }: PdfPage, y: number): number {
  canvas.rule(X, y, CONTENT_WIDTH)
  const { recogida, destinatario } = datos
  const name = { ...TITLE_STYLE, leading: 1.25 }
  const drawColumn = (x: number, label: string, title: string | null, lines: [string, number][]): number => {
    let bottom = canvas.paragraph(label, x, y + 12, LABEL_STYLE) + 2
    bottom = canvas.paragraph(title?.trim() || NO_DATA, x, bottom, name, { ancho: COLUMN_WIDTH, max: 4 }) + 1
    for (const [text, max] of lines)
      bottom = canvas.paragraph(text, x, bottom, TEXT_STYLE, { ancho: COLUMN_WIDTH, max })
    return bottom
  }
  const recogidaLines = [recogida.nombre ? `Recogida: ${recogida.nombre}` : '', coordinates(recogida) ?? '']
  const place = [destinatario.municipio, destinatario.departamento].filter((part) => part.trim()).join(', ')
  const senderBottom = drawColumn(X, 'REMITE', datos.comercio, [
    [recogidaLines[0]!, 3],
    [recogidaLines[1]!, 1],
  ])
  const destinatarioBottom = drawColumn(X + COLUMN_WIDTH + CHANNEL, 'DESTINATARIO', destinatario.nombre, [
    [destinatario.telefono === null ? '' : `Teléfono ${maskNumber(destinatario.telefono)}`, 1],
    [destinatario.direccion ?? '', 6],
    [place, 3],
  ])
  return Math.max(senderBottom, destinatarioBottom) + 16
}

/**
 * Returns the last four digits or letters of a number, after dots, and of a short number at most half. The document is
 * shown to people who need not know the rest.
 */
function maskNumber(number: string): string {
  const characters = number.match(/[\p{L}\p{N}]/gu) ?? []
  const shownCharacters = characters.slice(Math.max(characters.length - 4, Math.ceil(characters.length / 2)))
  return `•••• ${shownCharacters.join('')}`.trim()
}

/** Draws who received the parcel, when and where, and the signature. Returns the vertical position of the next part. */
export function drawReceiver({ canvas, datos, clock }: PdfPage, y: number): number {
  const { receiver, repartidor, posicion } = datos
  const margin = 14
  const x = X + margin
  const ancho = CONTENT_WIDTH - COLUMN_WIDTH - 2 * margin + 20
  const rows: [string, string][] = [
    ['Documento', receiver.documento?.trim() ? maskNumber(receiver.documento) : NO_DATA],
    ['Relación', receiver.relacion?.trim() || NO_DATA],
    ...(repartidor ? [['Entregó', `${repartidor.nombre.trim()} · ${repartidor.repartidor}`] as [string, string]] : []),
    ['Entregado', `${clock.formatLong(datos.entregado_en)} · ${clock.zona(datos.entregado_en)}`],
    ['Posición', posicion ? describePosition(posicion) : 'No se registró'],
    ...(datos.pagina_anterior === null ? [] : [['Evidencia', datos.pagina_anterior] as [string, string]]),
  ]
  const name = { ...TITLE_STYLE, size: 12, leading: 1.25 }
  const title = receiver.nombre?.trim() || NO_DATA
  // A courier's long name must not cut off the courier's code after it.
  const values = { x: x + 58, ancho: ancho - 58, max: 5 }
  const heights = rows.map(([, value]) => canvas.alto(value, TEXT_STYLE, values.ancho, values.max) + 2)
  const headHeight = lineHeight(LABEL_STYLE) + 2 + canvas.alto(title, name, ancho, 4) + 5
  const height = Math.max(headHeight + heights.reduce((a, b) => a + b, 0) + 2 * 12, 118)
  canvas.artifact(() => canvas.doc.roundedRect(X, y, CONTENT_WIDTH, height, 4).fill(TONES.background))
  let bottom = canvas.paragraph('RECIBIÓ', x, y + 12, LABEL_STYLE) + 2
  bottom = canvas.paragraph(title, x, bottom, name, { ancho, max: 4 }) + 5
  for (const [i, [label, value]] of rows.entries()) {
    canvas.paragraph(label, x, bottom, { ...TEXT_STYLE, color: TONES.grey })
    canvas.paragraph(value, values.x, bottom, TEXT_STYLE, values)
    bottom += heights[i]!
  }
  const box = {
    x: x + ancho + margin,
    y: y + margin,
    ancho: X + CONTENT_WIDTH - margin - (x + ancho + margin),
    alto: height - 2 * margin,
  }
  drawFirmaBox({ canvas, datos }, box)
  return y + height + 18
}

type Box = { x: number; y: number; ancho: number; alto: number }

function drawFirmaBox({ canvas, datos }: Pick<PdfPage, 'canvas' | 'datos'>, box: Box) {
  const { doc } = canvas
  const firma = datos.firma?.image
  canvas.artifact(() => {
    doc.roundedRect(box.x, box.y, box.ancho, box.alto, 3).fill('#FFFFFF')
    doc.roundedRect(box.x, box.y, box.ancho, box.alto, 3).lineWidth(0.6).stroke(TONES.linea)
  })
  const label = { ...SMALL_STYLE, size: 7 }
  const inner = { ancho: box.ancho - 16, alto: box.alto - 26 }
  if (firma) {
    const firmaSize = fitInside(firma, inner)
    const x = box.x + (box.ancho - firmaSize.ancho) / 2
    const y = box.y + 6 + (inner.alto - firmaSize.alto) / 2
    canvas.image('Firma de quien recibió', firma.bytes, x, y, firmaSize)
  } else {
    const reason = datos.sin_firma === null ? '' : `: ${datos.sin_firma.toLowerCase()}`
    const nota = datos.firma ? 'No se pudo mostrar la firma' : `Sin firma${reason}`
    canvas.paragraph(nota, box.x, box.y + inner.alto / 2, SMALL_STYLE, { ancho: box.ancho, align: 'centro' })
  }
  canvas.rule(box.x + 12, box.y + box.alto - 17, box.ancho - 24)
  canvas.paragraph('Firma de quien recibió', box.x, box.y + box.alto - 14, label, {
    ancho: box.ancho,
    align: 'centro',
  })
}

function describePosition(position: NonNullable<PruebaData['posicion']>): string {
  const { lat, lng, precision_m, distancia_m, distancia_avisada_m } = position
  const precision = precision_m === null ? '' : ` (±${formatMeters(precision_m)})`
  const distance = distancia_m === null ? '' : `; a ${formatMeters(distancia_m)} del lugar confirmado`
  const aviso = distancia_avisada_m === null ? '' : '; el repartidor lo confirmó tras un aviso'
  return `${coordinates({ lat, lng })}${precision}${distance}${aviso}`
}

const formatMeters = (m: number): string =>
  m < 1000 ? `${Math.round(m)} m` : `${(m / 1000).toFixed(m < 100_000 ? 1 : 0)} km`
