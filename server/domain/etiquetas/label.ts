import { needsName } from '../../platform/brand/brand.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { fitInside } from '../../platform/images/prepareImage.ts'
import { lineHeight, type TextStyle, type Typography } from '../../platform/pdf/lines.ts'
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
 * Surface on which a label is drawn: a page of a PDF, or the commands of a label printer. Positions and sizes are in
 * points, from the upper left corner.
 */
export interface LabelCanvas {
  readonly tipografia: Typography
  /** Brand's name and the size of its logo in any unit. */
  readonly marca: { nombre: string; logo: { ancho: number; alto: number } | null }
  /** Fills a rectangle with black. */
  fill(x: number, y: number, ancho: number, alto: number): void
  /** Fills a rectangle with white, over the text behind test labels. */
  clear(x: number, y: number, ancho: number, alto: number): void
  logo(x: number, y: number, ancho: number, alto: number): void
  /** Draws the pale text «PRUEBA» behind everything. Does nothing on a printer that has no grey. */
  backdrop(): void
  /** Returns the function that draws a text as Code 128 bars in the middle; undefined if no bars can be printed. */
  bars(texto: string): ((y: number, alto: number) => void) | undefined
  /** Returns the function that draws a text as a QR code in a square; undefined if the text is too long. */
  qr(texto: string): ((x: number, y: number, lado: number) => void) | undefined
}

/** PDF points per centimetre. */
const PUNTO_POR_CM = 72 / 2.54
export const HOJA = { ancho: 10 * PUNTO_POR_CM, alto: 15 * PUNTO_POR_CM }
const X = 12
const ANCHO = HOJA.ancho - 2 * X
/**
 * Maximum characters drawn as Code 128 bars. A guide's code has 12; a much longer text would give bars that no printer
 * resolves.
 */
const LARGO_128 = 24
/** Largest size of the brand's logo, in points. */
export const LOGO_BOX = { ancho: ANCHO / 2 - 4, alto: 28 }
const ROTULO: TextStyle = { cuerpo: 6.2, peso: 'fuerte', espaciado: 0.5 }

/**
 * Draws a label from top to bottom: carrier, code, sender, destination, contents. The destination gets the space that
 * the other parts leave.
 */
export function drawLabel(lienzo: LabelCanvas, etiqueta: DatosDeEtiqueta): void {
  const hoja: Hoja = {
    lienzo,
    tipografia: lienzo.tipografia,
    etiqueta,
    regla: (y, grueso = 1) => lienzo.fill(X, y, ANCHO, grueso),
  }
  if (etiqueta.modo === 'test') lienzo.backdrop()
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
  lienzo: LabelCanvas
  tipografia: Typography
  etiqueta: DatosDeEtiqueta
  regla: (y: number, grueso?: number) => void
}

function cabecera(hoja: Hoja): number {
  const { lienzo, tipografia, etiqueta, regla } = hoja
  const y = X
  const mitad = LOGO_BOX.ancho
  laMarca(hoja, y)
  const x = X + mitad + 8
  if (etiqueta.modo === 'test') {
    lienzo.fill(x + mitad - 66, y + 5, 66, 18)
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
function laMarca({ lienzo, tipografia }: Hoja, y: number): void {
  const { marca } = lienzo
  const { logo } = marca
  const caja = LOGO_BOX
  const medida = logo ? fitInside(logo, caja) : { ancho: 0, alto: 0 }
  const arriba = y + (caja.alto - medida.alto) / 2
  if (logo) lienzo.logo(X, arriba, medida.ancho, medida.alto)
  if (logo && !needsName(logo)) return
  const x = X + (logo ? medida.ancho + 5 : 0)
  const estilo = { peso: 'fuerte', interlineado: 1.15 } as const
  const nombre = tipografia.ajustar(marca.nombre, estilo, [13, 11, 9, 7.5], { ...caja, ancho: caja.ancho - (x - X) })
  tipografia.escribir(nombre.lineas, x, y + (caja.alto - nombre.alto) / 2, nombre.estilo)
}

const ALTO_DE_BARRAS = 56

function codigo({ lienzo, tipografia, etiqueta }: Hoja, y: number): number {
  const barras = etiqueta.guia.length <= LARGO_128 ? lienzo.bars(etiqueta.guia) : undefined
  // Bars and quiet zones need a white background, and the text of test labels may lie behind them.
  lienzo.clear(0, y, HOJA.ancho, ALTO_DE_BARRAS + 4)
  barras?.(y + 2, ALTO_DE_BARRAS)
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

function contenidoYQr({ lienzo, tipografia, etiqueta }: Hoja, y: number): void {
  const qr = lienzo.qr(etiqueta.url_rastreo)
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
  lienzo.clear(x, y, lado, lado)
  qr(x, y, lado)
}
