import { setImmediate as ceder } from 'node:timers/promises'
import type { FormatoDeEtiquetas } from '../../generado/contrato/tipos/index.ts'
import { type DocumentBrand, needsName } from '../../platform/brand/brand.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { fitInside } from '../../platform/images/prepareImage.ts'
import { barsOf, drawBars, drawQr, QUIET_ZONE_128, qrOf } from '../../platform/pdf/barcodes.ts'
import { createDocument, type PdfDocument, toBuffer } from '../../platform/pdf/document.ts'
import { createTypography, lineHeight, type TextStyle, type Typography } from '../../platform/pdf/text.ts'
import { showTelephone } from '../../platform/telephones/telephone.ts'

/** Data of one label, as plain values; the caller converts its rows. */
export interface DatosDeEtiqueta {
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
 * PDF points per centimetre. Label printers use heat and print only black. Labels therefore have no colours, no thin
 * lines, and no grey except behind test labels.
 */
const PUNTO_POR_CM = 72 / 2.54
const HOJA = { ancho: 10 * PUNTO_POR_CM, alto: 15 * PUNTO_POR_CM }
const X = 12
const ANCHO = HOJA.ancho - 2 * X
/**
 * Width of a bar module in points: four dots of a 203 dpi printer (0.5 mm). Bars fall on whole dots and are wide enough
 * for any scanner.
 */
const MODULO = (4 / 203) * 72
/**
 * Maximum characters drawn as Code 128 bars. A guide's code has 12; a much longer text would give bars that no printer
 * resolves.
 */
const LARGO_128 = 24
/**
 * Letter sheet with places for four labels, in points. The places fit sheets with four adhesive labels of 3½ × 5 in,
 * which shops sell for office printers.
 */
const CARTA = {
  ancho: 612,
  alto: 792,
  casilla: { ancho: 252, alto: 360 },
  casillas: [
    [36, 36],
    [324, 36],
    [36, 396],
    [324, 396],
  ],
  /**
   * Factor that makes a bar module ten dots of a 600 dpi printer (0.42 mm), so that bars fall on whole dots there, too.
   */
  escala: ((10 / 600) * 72) / MODULO,
} as const
const ROTULO: TextStyle = { cuerpo: 6.2, peso: 'fuerte', espaciado: 0.5 }

/**
 * Draws labels until the signal is aborted: one per page of 10 × 15 cm, or four per letter sheet. The same data gives
 * the same bytes.
 * @throws the signal's reason if the signal is aborted
 */
export async function renderizarEtiquetas(
  marca: DocumentBrand,
  etiquetas: DatosDeEtiqueta[],
  formato: FormatoDeEtiquetas = '10x15',
  senal?: AbortSignal,
): Promise<Buffer> {
  const [primera] = etiquetas
  const enCarta = formato === 'carta'
  const { doc, bytes } = createDocument({
    titulo: etiquetas.length === 1 && primera ? `Etiqueta ${primera.guia}` : `${etiquetas.length} etiquetas`,
    autor: marca.nombre,
    asunto: enCarta ? 'Etiquetas de envío, cuatro por hoja carta' : 'Etiquetas de envío de 10 × 15 cm',
    creado_en: etiquetas.map(({ creado_en }) => creado_en).reduce((a, b) => (b > a ? b : a), ''),
    tamano: enCarta ? [CARTA.ancho, CARTA.alto] : [HOJA.ancho, HOJA.alto],
    etiquetado: false,
  })
  // Couriers read Latin script, even where a font has the letters of another one.
  const tipografia = createTypography(doc, 'latin')
  const rotulada = abrirLogo(doc, marca)
  for (const [i, etiqueta] of etiquetas.entries()) {
    if (enCarta) enCasilla(doc, i % CARTA.casillas.length, () => dibujar(doc, tipografia, rotulada, etiqueta))
    else {
      doc.addPage()
      dibujar(doc, tipografia, rotulada, etiqueta)
    }
    // Drawing a label is synchronous, so an abort is only noticed between two labels.
    await ceder()
    senal?.throwIfAborted()
  }
  if (etiquetas.length === 0) doc.addPage()
  doc.end()
  return bytes
}

/** Draws a label in a place of the letter sheet, at the sheet's scale. The first place begins a new sheet. */
function enCasilla(doc: PdfDocument, cual: number, dibujarla: () => void): void {
  const { ancho, alto, casilla, casillas, escala } = CARTA
  if (cual === 0) {
    doc.addPage()
    // Lines to cut plain paper along. Adhesives leave a gap at the vertical line, and meet at the horizontal one.
    doc.lineWidth(0.4).dash(2, { space: 3 }).strokeColor('#999999')
    doc
      .moveTo(ancho / 2, 0)
      .lineTo(ancho / 2, alto)
      .moveTo(0, alto / 2)
      .lineTo(ancho, alto / 2)
      .stroke()
      .undash()
  }
  const [x, y] = casillas[cual]!
  doc.save()
  doc
    .translate(x + (casilla.ancho - HOJA.ancho * escala) / 2, y + (casilla.alto - HOJA.alto * escala) / 2)
    .scale(escala)
  dibujarla()
  doc.restore()
}

/** Brand with its logo opened. The document contains the logo once, however many labels show it. */
interface Rotulada {
  nombre: string
  logo: { imagen: PDFKit.Mixins.ImageSrc; ancho: number; alto: number } | null
}

function abrirLogo(doc: PdfDocument, { nombre, logo }: DocumentBrand): Rotulada {
  if (!logo) return { nombre, logo }
  const { png, ancho, alto } = logo.negro
  // The types of PDFKit lack `openImage`.
  const { openImage } = doc as unknown as { openImage(bytes: Buffer): PDFKit.Mixins.ImageSrc }
  return { nombre, logo: { imagen: openImage.call(doc, toBuffer(png)), ancho, alto } }
}

/**
 * Draws a label from top to bottom: carrier, code, sender, destination, contents. The destination gets the space that
 * the other parts leave.
 */
function dibujar(doc: PdfDocument, tipografia: Typography, marca: Rotulada, etiqueta: DatosDeEtiqueta): void {
  const hoja: Hoja = {
    doc,
    tipografia,
    marca,
    etiqueta,
    regla: (y, grueso = 1) => doc.rect(X, y, ANCHO, grueso).fill('#000000'),
  }
  if (etiqueta.modo === 'test') fondoDeTest(hoja)
  let y = cabecera(hoja)
  y = codigo(hoja, y + 5)
  hoja.regla(y)
  y = remitente(hoja, y + 5)
  hoja.regla(y, 2)
  const pie = HOJA.alto - X - ALTO_DEL_PIE
  destino(hoja, y + 6, pie - 5)
  hoja.regla(pie)
  contenidoYQr(hoja, pie + 1)
}

interface Hoja {
  doc: PdfDocument
  tipografia: Typography
  marca: Rotulada
  etiqueta: DatosDeEtiqueta
  regla: (y: number, grueso?: number) => void
}

/** Draws the pale text «PRUEBA» behind everything, so that the codes and addresses of a test label stay readable. */
function fondoDeTest({ doc, tipografia }: Hoja): void {
  const estilo = { cuerpo: 76, peso: 'fuerte', color: '#D9D9D9', espaciado: 2 } as const
  const ancho = tipografia.medir('PRUEBA', estilo)
  doc.save().rotate(-50, { origin: [HOJA.ancho / 2, HOJA.alto / 2 + 20] })
  tipografia.escribir(['PRUEBA'], (HOJA.ancho - ancho) / 2, HOJA.alto / 2 - 30, estilo)
  doc.restore()
}

function cabecera(hoja: Hoja): number {
  const { doc, tipografia, etiqueta, regla } = hoja
  const y = X
  const mitad = ANCHO / 2 - 4
  laMarca(hoja, y, { ancho: mitad, alto: 28 })
  const x = X + mitad + 8
  if (etiqueta.modo === 'test') {
    doc.rect(x + mitad - 66, y + 5, 66, 18).fill('#000000')
    const estilo: TextStyle = { cuerpo: 10, peso: 'fuerte', color: '#FFFFFF', espaciado: 1.5 }
    tipografia.escribir(['PRUEBA'], x + mitad - 66, y + 7.2, estilo, { ancho: 66, alinear: 'centro' })
  } else {
    const comercio = tipografia.ajustar(etiqueta.comercio, { interlineado: 1.15 }, [9, 8, 7], {
      ancho: mitad,
      alto: 28,
    })
    const opciones = { ancho: mitad, alinear: 'derecha' } as const
    tipografia.escribir(comercio.lineas, x, y + (28 - comercio.alto) / 2, comercio.estilo, opciones)
  }
  regla(y + 32, 2)
  return y + 34
}

/** Draws the logo in black. Draws the brand's name if the brand has no logo or the logo does not show the name. */
function laMarca({ doc, tipografia, marca }: Hoja, y: number, caja: { ancho: number; alto: number }): void {
  const { logo } = marca
  const medida = logo ? fitInside(logo, caja) : { ancho: 0, alto: 0 }
  const arriba = y + (caja.alto - medida.alto) / 2
  if (logo) doc.image(logo.imagen, X, arriba, { width: medida.ancho, height: medida.alto })
  if (logo && !needsName(logo)) return
  const x = X + (logo ? medida.ancho + 5 : 0)
  const estilo = { peso: 'fuerte', interlineado: 1.15 } as const
  const nombre = tipografia.ajustar(marca.nombre, estilo, [13, 11, 9, 7.5], { ...caja, ancho: caja.ancho - (x - X) })
  tipografia.escribir(nombre.lineas, x, y + (caja.alto - nombre.alto) / 2, nombre.estilo)
}

const ALTO_DE_BARRAS = 56

function codigo({ doc, tipografia, etiqueta }: Hoja, y: number): number {
  const barras = etiqueta.guia.length <= LARGO_128 ? barsOf(etiqueta.guia) : undefined
  // Bars and quiet zones need a white background, and the text of test labels may lie behind them.
  doc.rect(0, y, HOJA.ancho, ALTO_DE_BARRAS + 4).fill('#FFFFFF')
  if (barras) {
    const modulos = barras.reduce((suma, ancho) => suma + ancho, 0)
    const modulo = Math.min(MODULO, HOJA.ancho / (modulos + 2 * QUIET_ZONE_128))
    drawBars(doc, barras, (HOJA.ancho - modulos * modulo) / 2, y + 2, modulo, ALTO_DE_BARRAS)
  }
  const abajo = y + (barras ? ALTO_DE_BARRAS + 4 : 0)
  const base = { peso: 'fuerte', espaciado: 1.2 } as const
  const caja = { ancho: ANCHO, alto: 28 }
  const texto = tipografia.ajustar(inGroups(etiqueta.guia), base, [21, 15, 10, 8], caja)
  return tipografia.escribir(texto.lineas, X, abajo, texto.estilo, { ancho: ANCHO, alinear: 'centro' }) + 3
}

function remitente({ tipografia, etiqueta }: Hoja, y: number): number {
  const { recogida, comercio, external_ref } = etiqueta
  const mitad = ANCHO / 2 - 5
  const escribir = (valor: string, x: number, abajo: number, peso: TextStyle['peso'], alto: number): number => {
    const texto = tipografia.ajustar(valor, { interlineado: 1.2, peso }, [8.5, 7.5, 6.5], { ancho: mitad, alto })
    return tipografia.escribir(texto.lineas, x, abajo, texto.estilo)
  }
  const derecha = X + mitad + 10
  let remite = escribir(comercio, X, tipografia.escribir(['REMITE'], X, y, ROTULO), 'normal', 11)
  remite = escribir(recogida.nombre?.trim() || coordenadas(recogida), X, remite, 'normal', 18)
  // The telephone comes first, so that no long text cuts it off.
  const telefono = recogida.telefono && `Tel. ${showTelephone(recogida.telefono)}`
  for (const partes of [[telefono, recogida.contacto], [recogida.direccion]]) {
    const linea = partes.filter((parte) => parte?.trim()).join(' · ')
    if (linea !== '') remite = escribir(linea, X, remite, 'normal', 18)
  }
  const rotulo = tipografia.escribir(['REFERENCIA'], derecha, y, ROTULO)
  let referencia = escribir(external_ref?.trim() || '—', derecha, rotulo, 'fuerte', 29)
  if (recogida.indicaciones?.trim()) {
    const texto = tipografia.escribir(['INDICACIONES PARA RECOGER'], derecha, referencia + 2, ROTULO)
    // The indications fill the space beside the lines of the sender, so that the destination keeps its own.
    referencia = escribir(recogida.indicaciones, derecha, texto, 'normal', Math.max(18, remite - texto))
  }
  return Math.max(remite, referencia) + 4
}

const coordenadas = ({ lat, lng }: { lat: number | null; lng: number | null }): string =>
  lat === null || lng === null ? '' : `${lat.toFixed(5)}, ${lng.toFixed(5)}`

/**
 * Draws the destination. Warehouses sort parcels by municipality, so the municipality's name must be readable from two
 * metres away.
 */
function destino({ tipografia, etiqueta }: Hoja, y: number, fondo: number): void {
  const { nombre, telefono, departamento, municipio, direccion, indicaciones } = etiqueta.destinatario
  const bloque = (
    valor: string | null,
    abajo: number,
    base: Omit<TextStyle, 'cuerpo'>,
    cuerpos: number[],
    alto: number,
  ) => {
    if (!valor?.trim()) return abajo
    const caja = { ancho: ANCHO, alto: Math.max(0, Math.min(alto, fondo - abajo)) }
    if (caja.alto < lineHeight({ ...base, cuerpo: cuerpos.at(-1)! })) return abajo
    const texto = tipografia.ajustar(valor, base, cuerpos, caja)
    return tipografia.escribir(texto.lineas, X, abajo, texto.estilo)
  }
  const fuerte = { peso: 'fuerte', interlineado: 1.18 } as const
  const normal = { interlineado: 1.24 } as const
  // A long address makes the other texts smaller, because a cut address costs more than a small municipality.
  const apretada = `${direccion ?? ''}${indicaciones ?? ''}`.length > 220
  const cuerpos = apretada
    ? { nombre: [11, 9, 8], municipio: [17, 14, 11, 9], departamento: [9, 8, 7] }
    : { nombre: [15, 13, 11, 9, 8], municipio: [26, 22, 18, 14, 11, 9], departamento: [12, 10, 8, 7] }
  let abajo = tipografia.escribir(['ENTREGAR A'], X, y, ROTULO)
  abajo = bloque(nombre ?? 'Destinatario sin nombre', abajo + 1, fuerte, cuerpos.nombre, apretada ? 27 : 34)
  const llamar = `Tel. ${telefono === null ? '—' : showTelephone(telefono)}`
  // The courier reads the number at arm's length while dialling it.
  abajo = bloque(llamar, abajo, fuerte, [apretada ? 9 : 10.5], 14) + (apretada ? 2 : 4)
  abajo = bloque(municipio, abajo, fuerte, cuerpos.municipio, apretada ? 22 : 34)
  abajo = bloque(departamento, abajo, normal, cuerpos.departamento, 18) + (apretada ? 3 : 5)
  abajo =
    bloque(
      direccion,
      abajo,
      fuerte,
      [12.5, 11, 10, 9, 8, 7, 6.2],
      indicaciones ? (fondo - abajo) * 0.5 : fondo - abajo,
    ) + 4
  bloque(indicaciones && `Indicaciones: ${indicaciones}`, abajo, normal, [10, 9, 8, 7, 6.2, 5.4], fondo - abajo)
}

const ALTO_DEL_PIE = 78

function contenidoYQr({ doc, tipografia, etiqueta }: Hoja, y: number): void {
  const qr = qrOf(etiqueta.url_rastreo)
  const lado = ALTO_DEL_PIE
  const ancho = qr ? ANCHO - lado - 6 : ANCHO
  let abajo = tipografia.escribir(['CONTENIDO'], X, y + 5, ROTULO)
  const caja = { ancho, alto: 44 }
  const texto = tipografia.ajustar(etiqueta.contenido?.trim() || '—', { interlineado: 1.2 }, [9, 8, 7, 6, 5.2], caja)
  abajo = tipografia.escribir(texto.lineas, X, abajo, texto.estilo)
  if (tipografia.takeTranscribed()) {
    const aviso = tipografia.partir(
      '* Transcrito de otro alfabeto: el original está en el sistema',
      { cuerpo: 6.4 },
      ancho,
      1,
    )
    tipografia.escribir(aviso, X, HOJA.alto - X - 18, { cuerpo: 6.4 })
  }
  const nota = tipografia.partir('Siga su envío con el código QR', { cuerpo: 6.4 }, ancho, 1)
  if (!qr) return
  tipografia.escribir(nota, X, HOJA.alto - X - 9, { cuerpo: 6.4 })
  const x = X + ANCHO - lado + 8
  doc.rect(x, y, lado, lado).fill('#FFFFFF')
  drawQr(doc, qr, x, y, lado)
}
