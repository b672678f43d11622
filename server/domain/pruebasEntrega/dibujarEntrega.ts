import { needsName } from '../../platform/brand/brand.ts'
import { inGroups } from '../../platform/codes/guideCode.ts'
import { fitInside } from '../../platform/images/prepareImage.ts'
import { drawQr, qrOf } from '../../platform/pdf/barcodes.ts'
import { type Canvas, TONES } from '../../platform/pdf/canvas.ts'
import { lineHeight } from '../../platform/pdf/lines.ts'
import type { DatosDePrueba } from './contenidoDelPdf.ts'
import { ANCHO, coordenadas, HOJA, MENOR, type PaginaDelPdf, ROTULO, SIN_DATO, TEXTO, TITULO, X } from './hojaDelPdf.ts'

const CANAL = 24
const COLUMNA = (ANCHO - CANAL) / 2

/** Draws the header with the courier company's brand. Returns the vertical position of the next part. */
export function encabezado({ lienzo, datos }: PaginaDelPdf): number {
  lienzo.adorno(() => lienzo.doc.rect(0, 0, HOJA.ancho, 6).fill(datos.marca.color))
  let y = 34
  const derecha = { ...ROTULO, cuerpo: 8.6, color: datos.marca.color, espaciado: 1.1 }
  lienzo.parrafo('PRUEBA DE ENTREGA', X + ANCHO - 170, y + 2.5, derecha, {
    ancho: 170,
    alinear: 'derecha',
    papel: 'H1',
  })
  y = laMarca({ lienzo, datos }, y)
  if (datos.modo === 'test') {
    const aviso = 'Guía de prueba: este documento no acredita ninguna entrega real.'
    lienzo.adorno(() => lienzo.doc.roundedRect(X, y + 6, ANCHO, 20, 3).fill('#FBF3E6'))
    y =
      lienzo.parrafo(aviso, X + 10, y + 10, { ...TEXTO, peso: 'fuerte', color: TONES.aviso }, { ancho: ANCHO - 20 }) + 4
  }
  lienzo.regla(X, y + 9, ANCHO)
  return y + 24
}

/**
 * Draws the logo. Draws the brand's name too if the brand has no logo or the logo does not show the name. Returns the
 * vertical position below.
 */
function laMarca({ lienzo, datos }: Pick<PaginaDelPdf, 'lienzo' | 'datos'>, y: number): number {
  const { nombre, logo } = datos.marca
  const caja = { ancho: 150, alto: 34 }
  const medida = logo ? fitInside(logo.color, caja) : { ancho: 0, alto: 0 }
  const conNombre = !logo || needsName(logo.color)
  if (logo) lienzo.imagen(conNombre ? 'Logo' : nombre, logo.color.png, X, y - 6, medida)
  if (!conNombre) return y - 6 + medida.alto
  const x = X + (logo ? medida.ancho + 9 : 0)
  const estilo = { ...TITULO, cuerpo: 13 }
  const opciones = { ancho: ANCHO - 190 - (x - X), maximo: 3 }
  const alto = lienzo.alto(nombre, estilo, opciones.ancho, opciones.maximo)
  const arriba = Math.max(y - 6, y - 6 + (medida.alto - alto) / 2)
  return Math.max(lienzo.parrafo(nombre, x, logo ? arriba : y, estilo, opciones), y - 6 + medida.alto)
}

/**
 * Draws the guide's code, its state and the instant of delivery, and on the right the QR code for verification. Returns
 * the vertical position of the next part.
 */
export function portada({ lienzo, datos, reloj }: PaginaDelPdf, y: number): number {
  const lado = 104
  const ancho = ANCHO - lado - CANAL
  let abajo = lienzo.parrafo('GUÍA', X, y, ROTULO)
  const codigo = { cuerpo: 31, peso: 'fuerte', color: TONES.tinta, interlineado: 1.2 } as const
  const ajustado = lienzo.ajustar(inGroups(datos.guia), codigo, [31, 22, 14], { ancho, alto: 38 })
  abajo = lienzo.parrafo(inGroups(datos.guia), X - 1, abajo + 1, ajustado.estilo, { ancho, papel: 'H2' }) + 7
  abajo = estado({ lienzo, datos }, abajo, ancho)
  const cuando = `${reloj.larga(datos.entregado_en)} · ${reloj.zona(datos.entregado_en)}`
  abajo = lienzo.parrafo(cuando, X, abajo + 5, TEXTO, { ancho }) + 9
  const mitad = (ancho - CANAL) / 2
  const izquierda = campo(lienzo, 'REFERENCIA DEL COMERCIO', datos.external_ref, X, abajo, mitad, 3)
  const derecha = campo(lienzo, 'CONTENIDO', datos.contenido, X + mitad + CANAL, abajo, mitad, 3)
  return Math.max(izquierda, derecha, verificacion({ lienzo, datos }, y, lado)) + 16
}

function estado({ lienzo, datos }: Pick<PaginaDelPdf, 'lienzo' | 'datos'>, y: number, ancho: number): number {
  const estilo = { ...TEXTO, cuerpo: 9.5, peso: 'fuerte', color: '#FFFFFF' } as const
  const [linea = SIN_DATO] = lienzo.partir(datos.estado, estilo, ancho - 20, 1)
  const largo = lienzo.medir(linea, estilo) + 20
  lienzo.adorno(() => lienzo.doc.roundedRect(X, y, largo, 19, 9.5).fill(datos.marca.color))
  lienzo.parrafo(linea, X + 10, y + 3.2, estilo, { ancho: ancho - 10 })
  return y + 19
}

function verificacion({ lienzo, datos }: Pick<PaginaDelPdf, 'lienzo' | 'datos'>, y: number, lado: number): number {
  const x = X + ANCHO - lado
  const qr = qrOf(datos.url_verificacion)
  const enlace = /^https?:\/\/[\x21-\x7E]+$/.test(datos.url_verificacion) ? datos.url_verificacion : undefined
  // The QR code's quiet zone is white like the page. Drawn outside the margin, it lets the modules line up with the
  // margin.
  if (qr) lienzo.figura(`Código QR: ${datos.url_verificacion}`, () => drawQr(lienzo.doc, qr, x - 8, y - 12, lado + 20))
  const estilo = { ...MENOR, cuerpo: 7, color: enlace ? datos.marca.color : TONES.gris }
  const opciones = { ancho: lado + 2, alinear: 'centro', ...(enlace ? { enlace } : {}) } as const
  return lienzo.parrafo(qr ? 'Verificar este documento' : datos.url_verificacion, x, y + (qr ? lado + 1 : 0), estilo, {
    ...opciones,
    maximo: 6,
  })
}

/** Draws a small label and its value below. Returns the vertical position of what follows. */
function campo(lienzo: Canvas, rotulo: string, valor: string | null, x: number, y: number, ancho: number, max: number) {
  const abajo = lienzo.parrafo(rotulo, x, y, ROTULO, { ancho })
  return lienzo.parrafo(valor?.trim() || SIN_DATO, x, abajo + 1, TEXTO, { ancho, maximo: max })
}

/** Draws the sender and the intended recipient, side by side. Returns the vertical position of the next part. */
export function partes({ lienzo, datos }: PaginaDelPdf, y: number): number {
  lienzo.regla(X, y, ANCHO)
  const { recogida, destinatario } = datos
  const nombre = { ...TITULO, interlineado: 1.25 }
  const columna = (x: number, rotulo: string, titulo: string | null, lineas: [string, number][]): number => {
    let abajo = lienzo.parrafo(rotulo, x, y + 12, ROTULO) + 2
    abajo = lienzo.parrafo(titulo?.trim() || SIN_DATO, x, abajo, nombre, { ancho: COLUMNA, maximo: 4 }) + 1
    for (const [texto, maximo] of lineas) abajo = lienzo.parrafo(texto, x, abajo, TEXTO, { ancho: COLUMNA, maximo })
    return abajo
  }
  const recogido = [recogida.nombre ? `Recogida: ${recogida.nombre}` : '', coordenadas(recogida) ?? '']
  const lugar = [destinatario.municipio, destinatario.departamento].filter((parte) => parte.trim()).join(', ')
  const remite = columna(X, 'REMITE', datos.comercio, [
    [recogido[0]!, 3],
    [recogido[1]!, 1],
  ])
  const destino = columna(X + COLUMNA + CANAL, 'DESTINATARIO', destinatario.nombre, [
    [destinatario.telefono === null ? '' : `Teléfono ${enmascarar(destinatario.telefono)}`, 1],
    [destinatario.direccion ?? '', 6],
    [lugar, 3],
  ])
  return Math.max(remite, destino) + 16
}

/**
 * Returns the last four digits or letters of a number, after dots, and of a short number at most half. The document is
 * shown to people who need not know the rest.
 */
function enmascarar(numero: string): string {
  const signos = numero.match(/[\p{L}\p{N}]/gu) ?? []
  const vistos = signos.slice(Math.max(signos.length - 4, Math.ceil(signos.length / 2)))
  return `•••• ${vistos.join('')}`.trim()
}

/** Draws who received the parcel, when and where, and the signature. Returns the vertical position of the next part. */
export function recibido({ lienzo, datos, reloj }: PaginaDelPdf, y: number): number {
  const { recibio, repartidor, posicion } = datos
  const margen = 14
  const x = X + margen
  const ancho = ANCHO - COLUMNA - 2 * margen + 20
  const filas: [string, string][] = [
    ['Documento', recibio.documento?.trim() ? enmascarar(recibio.documento) : SIN_DATO],
    ['Relación', recibio.relacion?.trim() || SIN_DATO],
    ...(repartidor ? [['Entregó', `${repartidor.nombre.trim()} · ${repartidor.repartidor}`] as [string, string]] : []),
    ['Entregado', `${reloj.larga(datos.entregado_en)} · ${reloj.zona(datos.entregado_en)}`],
    ['Posición', posicion ? describirPosicion(posicion) : 'No se registró'],
    ...(datos.pagina_anterior === null ? [] : [['Evidencia', datos.pagina_anterior] as [string, string]]),
  ]
  const nombre = { ...TITULO, cuerpo: 12, interlineado: 1.25 }
  const titulo = recibio.nombre?.trim() || SIN_DATO
  // A courier's long name must not cut off the courier's code after it.
  const valores = { x: x + 58, ancho: ancho - 58, maximo: 5 }
  const altos = filas.map(([, valor]) => lienzo.alto(valor, TEXTO, valores.ancho, valores.maximo) + 2)
  const cabeza = lineHeight(ROTULO) + 2 + lienzo.alto(titulo, nombre, ancho, 4) + 5
  const alto = Math.max(cabeza + altos.reduce((a, b) => a + b, 0) + 2 * 12, 118)
  lienzo.adorno(() => lienzo.doc.roundedRect(X, y, ANCHO, alto, 4).fill(TONES.fondo))
  let abajo = lienzo.parrafo('RECIBIÓ', x, y + 12, ROTULO) + 2
  abajo = lienzo.parrafo(titulo, x, abajo, nombre, { ancho, maximo: 4 }) + 5
  for (const [i, [rotulo, valor]] of filas.entries()) {
    lienzo.parrafo(rotulo, x, abajo, { ...TEXTO, color: TONES.gris })
    lienzo.parrafo(valor, valores.x, abajo, TEXTO, valores)
    abajo += altos[i]!
  }
  const caja = {
    x: x + ancho + margen,
    y: y + margen,
    ancho: X + ANCHO - margen - (x + ancho + margen),
    alto: alto - 2 * margen,
  }
  cuadroDeFirma({ lienzo, datos }, caja)
  return y + alto + 18
}

type Cuadro = { x: number; y: number; ancho: number; alto: number }

function cuadroDeFirma({ lienzo, datos }: Pick<PaginaDelPdf, 'lienzo' | 'datos'>, caja: Cuadro) {
  const { doc } = lienzo
  const firma = datos.firma?.imagen
  lienzo.adorno(() => {
    doc.roundedRect(caja.x, caja.y, caja.ancho, caja.alto, 3).fill('#FFFFFF')
    doc.roundedRect(caja.x, caja.y, caja.ancho, caja.alto, 3).lineWidth(0.6).stroke(TONES.linea)
  })
  const rotulo = { ...MENOR, cuerpo: 7 }
  const dentro = { ancho: caja.ancho - 16, alto: caja.alto - 26 }
  if (firma) {
    const medida = fitInside(firma, dentro)
    const x = caja.x + (caja.ancho - medida.ancho) / 2
    const y = caja.y + 6 + (dentro.alto - medida.alto) / 2
    lienzo.imagen('Firma de quien recibió', firma.bytes, x, y, medida)
  } else {
    const porque = datos.sin_firma === null ? '' : `: ${datos.sin_firma.toLowerCase()}`
    const nota = datos.firma ? 'No se pudo mostrar la firma' : `Sin firma${porque}`
    lienzo.parrafo(nota, caja.x, caja.y + dentro.alto / 2, MENOR, { ancho: caja.ancho, alinear: 'centro' })
  }
  lienzo.regla(caja.x + 12, caja.y + caja.alto - 17, caja.ancho - 24)
  lienzo.parrafo('Firma de quien recibió', caja.x, caja.y + caja.alto - 14, rotulo, {
    ancho: caja.ancho,
    alinear: 'centro',
  })
}

function describirPosicion(posicion: NonNullable<DatosDePrueba['posicion']>): string {
  const { lat, lng, precision_m, distancia_m, distancia_avisada_m } = posicion
  const precision = precision_m === null ? '' : ` (±${metros(precision_m)})`
  const distancia = distancia_m === null ? '' : `; a ${metros(distancia_m)} del lugar confirmado`
  const aviso = distancia_avisada_m === null ? '' : '; el repartidor lo confirmó tras un aviso'
  return `${coordenadas({ lat, lng })}${precision}${distancia}${aviso}`
}

const metros = (m: number): string =>
  m < 1000 ? `${Math.round(m)} m` : `${(m / 1000).toFixed(m < 100_000 ? 1 : 0)} km`
