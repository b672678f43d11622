import { fitInside } from '../../platform/images/prepareImage.ts'
import { TONES } from '../../platform/pdf/canvas.ts'
import type { Archivo } from './contenidoDelPdf.ts'
import { ANCHO, FONDO, MENOR, type PaginaDelPdf, TITULO, X } from './hojaDelPdf.ts'

const SEPARACION = 10
const LEYENDA = 14
const TITULAR = 22
/** Maximum points per pixel: a tiny photo is enlarged, but not so much that its pixels become squares. */
const AMPLIAR = 10
/** Maximum height of the grid of photos, in points. */
const ALTO_MAXIMO = 560
const SIN_IMAGEN = { ancho: 4, alto: 3 }
const HUELLA = { ...MENOR, cuerpo: 7.2, color: TONES.tinta }

/**
 * Returns the grid that shows the largest area of photos. Photos are never cropped, because the cropped part might
 * matter.
 */
function mejorRejilla(fotos: Archivo[], alto: number) {
  const opciones = [1, 2, 3, 4, 5]
    .filter((columnas) => columnas <= fotos.length)
    .map((columnas) => {
      const filas = Math.ceil(fotos.length / columnas)
      const caja = {
        ancho: (ANCHO - SEPARACION * (columnas - 1)) / columnas,
        alto: (alto - (SEPARACION + LEYENDA) * filas) / filas,
      }
      const visto = fotos.reduce((suma, { imagen }) => {
        const medida = fitInside(imagen ?? SIN_IMAGEN, caja, AMPLIAR)
        return suma + medida.ancho * medida.alto
      }, 0)
      return { columnas, caja, visto }
    })
  return opciones.reduce((mejor, otra) => (otra.visto > mejor.visto ? otra : mejor))
}

/**
 * Draws photos, or the signature, in a grid at most `alto` points high. Returns the vertical position of the next part.
 */
export function fotografias({ lienzo, datos, reloj }: PaginaDelPdf, fotos: Archivo[], y: number, alto: number): number {
  if (fotos.length === 0) return y
  const esFirma = fotos[0] === datos.firma
  const titulo = esFirma ? 'Firma, ampliada' : fotos.length === 1 ? 'Foto' : `Fotos (${fotos.length})`
  const arriba = lienzo.parrafo(titulo, X, y, TITULO, { papel: 'H2' }) + 8
  const { columnas, caja } = mejorRejilla(fotos, Math.min(alto - TITULAR, ALTO_MAXIMO))
  let abajo = arriba
  for (let primera = 0; primera < fotos.length; primera += columnas) {
    const deFila = fotos.slice(primera, primera + columnas)
    // A row is as high as its highest photo, which leaves less grey area and more room below.
    const alta = Math.max(...deFila.map(({ imagen }) => fitInside(imagen ?? SIN_IMAGEN, caja, AMPLIAR).alto))
    for (const [i, foto] of deFila.entries()) {
      const celda = { x: X + i * (caja.ancho + SEPARACION), y: abajo, ancho: caja.ancho, alto: alta }
      unaFoto({ lienzo, datos, reloj }, foto, esFirma ? 'Firma' : `Foto ${primera + i + 1}`, celda, columnas > 3)
    }
    abajo += alta + LEYENDA + SEPARACION
  }
  return abajo + 6
}

type Celda = { x: number; y: number; ancho: number; alto: number }

function unaFoto(
  { lienzo, datos, reloj }: PaginaDelPdf,
  foto: Archivo,
  nombre: string,
  celda: Celda,
  estrecha: boolean,
): void {
  const { imagen, capturado_en: tomada } = foto
  const { x, y, ancho, alto } = celda
  lienzo.adorno(() => lienzo.doc.rect(x, y, ancho, alto).fill(TONES.fondo))
  if (imagen) {
    const medida = fitInside(imagen, celda, AMPLIAR)
    const [izquierda, cima] = [x + (ancho - medida.ancho) / 2, y + (alto - medida.alto) / 2]
    const descripcion = `${nombre} de la entrega de la guía ${datos.guia}`
    lienzo.imagen(descripcion, imagen.bytes, izquierda, cima, medida)
  } else {
    const nota = 'No se pudo mostrar esta imagen; su huella está en la tabla.'
    const margen = ancho - 16
    const mitad = y + (alto - lienzo.alto(nota, MENOR, margen, 3)) / 2
    lienzo.parrafo(nota, x + 8, mitad, MENOR, { ancho: margen, maximo: 3, alinear: 'centro' })
  }
  const cuando = tomada ? ` · ${estrecha ? reloj.hora(tomada) : reloj.corta(tomada)}` : ''
  lienzo.parrafo(`${nombre}${cuando}`, x, y + alto + 2, MENOR, { ancho, papel: 'Caption' })
}

const FILA = 11.6

/** Returns the height of the table of digests, in points. */
export const altoDeHuellas = (archivos: Archivo[]): number => (archivos.length === 0 ? 0 : 46 + archivos.length * FILA)

/** Draws the table of the files' digests. Returns the vertical position of the next part. */
export function huellas({ lienzo }: PaginaDelPdf, archivos: Archivo[], y: number): number {
  if (archivos.length === 0) return y
  let abajo = lienzo.parrafo('Integridad de los archivos', X, y, TITULO, { papel: 'H2' }) + 4
  const columnas = [
    { titulo: 'Archivo', x: X, ancho: 170 },
    { titulo: 'SHA-256 del archivo guardado', x: X + 182, ancho: ANCHO - 182 },
  ]
  const fila = (textos: string[], papel: 'TH' | 'TD', estilo: typeof HUELLA) =>
    lienzo.dentro('TR', () => {
      for (const [i, { x, ancho }] of columnas.entries())
        lienzo.parrafo(textos[i] ?? '', x, abajo, estilo, { ancho, papel })
    })
  lienzo.dentro('Table', () => {
    fila(
      columnas.map(({ titulo }) => titulo),
      'TH',
      { ...MENOR, peso: 'fuerte' } as typeof HUELLA,
    )
    abajo += 12
    lienzo.regla(X, abajo, ANCHO, TONES.tinta, 0.8)
    abajo += 3
    for (const { nombre, sha256 } of archivos) {
      fila([nombre, sha256], 'TD', HUELLA)
      abajo += FILA
    }
  })
  return abajo + 10
}

const NOTA = { ...MENOR, cuerpo: 7.4, interlineado: 1.45 }
const LINEAS_DE_NOTA = 5

function textoDeNota({ datos, reloj }: PaginaDelPdf): string {
  const cuando = `el ${reloj.larga(datos.registrado_en)}, ${reloj.zona(datos.registrado_en)}`
  return (
    `Entrega registrada por ${datos.marca.nombre} ${cuando}. Las fotos se muestran reducidas; las huellas SHA-256 son ` +
    'las de los archivos guardados con la prueba. Este documento tiene una firma digital: para comprobar que es el ' +
    `original, abra la dirección de verificación y elija este PDF: ${datos.url_verificacion}`
  )
}

/** Returns the height of the closing note, in points. */
export const altoDeNota = (pagina: PaginaDelPdf): number =>
  pagina.lienzo.alto(textoDeNota(pagina), NOTA, ANCHO, LINEAS_DE_NOTA) + 8

/** Draws the closing note at the foot of the page, wherever the rest ends. */
export function nota(pagina: PaginaDelPdf): void {
  const alto = altoDeNota(pagina)
  const y = FONDO - alto
  pagina.lienzo.regla(X, y, ANCHO)
  pagina.lienzo.parrafo(textoDeNota(pagina), X, y + 6, NOTA, { ancho: ANCHO, maximo: LINEAS_DE_NOTA })
}

/** Minimum height, in points, of a row in which photos still show something. */
export const ALTO_MINIMO_DE_FOTOS = 190

/**
 * Returns by how many points the pictures can exceed their minimum height if there is room. Negative if the only
 * picture is lower than the minimum. Several pictures can fill the whole page.
 */
export function creceDe([unica, ...otras]: Archivo[]): number {
  if (!unica) return 0
  if (otras.length > 0) return FONDO
  const { alto } = fitInside(unica.imagen ?? SIN_IMAGEN, { ancho: ANCHO, alto: ALTO_MAXIMO }, AMPLIAR)
  return alto - ALTO_MINIMO_DE_FOTOS
}

/** Returns the minimum height of photos, digests and closing note together, in points. */
export const altoDeEvidencias = (pagina: PaginaDelPdf, fotos: Archivo[], archivos: Archivo[]): number =>
  (fotos.length === 0 ? 0 : TITULAR + ALTO_MINIMO_DE_FOTOS * (fotos.length > 4 ? 2 : 1)) +
  altoDeHuellas(archivos) +
  altoDeNota(pagina)
