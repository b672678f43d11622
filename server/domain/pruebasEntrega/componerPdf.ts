import { inGroups } from '../../platform/codes/guideCode.ts'
import { createCanvas } from '../../platform/pdf/canvas.ts'
import { createDocument } from '../../platform/pdf/document.ts'
import { createClock } from '../../platform/time/clock.ts'
import type { DatosDePrueba } from './contenidoDelPdf.ts'
import { encabezado, partes, portada, recibido } from './dibujarEntrega.ts'
import {
  altoDeEvidencias,
  altoDeHuellas,
  altoDeNota,
  creceDe,
  fotografias,
  huellas,
  nota,
} from './dibujarEvidencias.ts'
import { altoDeHistorial, filasDeHistorial, historial, repartir } from './dibujarHistorial.ts'
import { LIBRE_CON_FOTOS, mapa } from './dibujarMapa.ts'
import { ANCHO, FONDO, HOJA, MENOR, type PaginaDelPdf, X } from './hojaDelPdf.ts'

/** Vertical position, in points, at which the content of the second page begins. */
const ARRIBA = 34

/**
 * Draws the proof of delivery on one or two pages: what happened, then the evidence. The same data gives the same
 * bytes, because all dates come from the data. The digest of the file can therefore be stored and compared.
 */
export async function componerPdf(datos: DatosDePrueba): Promise<Buffer> {
  const { doc, bytes } = createDocument({
    titulo: `Prueba de entrega ${datos.guia}`,
    autor: datos.marca.nombre,
    asunto: `Guía ${datos.guia}, ${datos.estado.toLowerCase()}`,
    creado_en: datos.registrado_en,
    tamano: [HOJA.ancho, HOJA.alto],
    etiquetado: true,
  })
  doc.addPage()
  const pagina: PaginaDelPdf = { lienzo: createCanvas(doc), datos, reloj: createClock(datos.zona) }
  componer(pagina)
  pagina.lienzo.terminar()
  doc.end()
  return bytes
}

function componer(pagina: PaginaDelPdf): void {
  const { doc } = pagina.lienzo
  const { fotos, firma } = pagina.datos
  const firmas = firma ? [firma] : []
  const archivos = [...fotos, ...firmas]
  let y = recibido(pagina, partes(pagina, portada(pagina, encabezado(pagina))))
  const filas = filasDeHistorial(pagina)
  const enUna = y + altoDeHistorial(filas) + altoDeEvidencias(pagina, fotos, archivos) <= FONDO
  // A second page without photos repeats the signature, enlarged, because there is no other evidence.
  const imagenes = fotos.length > 0 || enUna ? fotos : firmas
  const evidencias = altoDeEvidencias(pagina, imagenes, archivos)
  const [primeras, demas] = enUna
    ? [filas, []]
    : repartir(filas, { primera: FONDO - y, segunda: FONDO - ARRIBA - evidencias, crece: creceDe(imagenes) })
  y = historial(pagina, primeras, y)
  let conMapa = false
  if (!enUna) {
    conMapa = mapa(pagina, y, FONDO - y) > y
    pie(pagina, 1, 2)
    doc.addPage()
    pagina.lienzo.adorno(() => doc.rect(0, 0, HOJA.ancho, 6).fill(pagina.datos.marca.color))
    y = historial(pagina, demas, ARRIBA, primeras.length > 0 ? 'Historial (continuación)' : 'Historial')
  }
  const libre = FONDO - y - evidencias
  if (!conMapa) y = mapa(pagina, y, imagenes.length > 0 ? Math.min(libre, LIBRE_CON_FOTOS) : libre)
  y = fotografias(pagina, imagenes, y, FONDO - y - altoDeHuellas(archivos) - altoDeNota(pagina) - 24)
  huellas(pagina, archivos, y)
  nota(pagina)
  pie(pagina, enUna ? 1 : 2, enUna ? 1 : 2)
}

function pie({ lienzo, datos }: PaginaDelPdf, numero: number, total: number): void {
  const y = HOJA.alto - HOJA.pie
  const estilo = { ...MENOR, cuerpo: 7 }
  lienzo.adorno(() => {
    const aviso = lienzo.takeTranscribed() ? ' · * Transcrito de otro alfabeto' : ''
    const titulo = `${datos.marca.nombre} · Guía ${inGroups(datos.guia)}${aviso}`
    const [linea = ''] = lienzo.partir(titulo, estilo, ANCHO - 90, 1)
    lienzo.escribir([linea], X, y, estilo)
    lienzo.escribir([`Página ${numero} de ${total}`], X + ANCHO - 80, y, estilo, { ancho: 80, alinear: 'derecha' })
  })
}
