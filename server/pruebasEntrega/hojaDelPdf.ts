import { type Lienzo, TONOS } from '../pdf/lienzo.ts'
import type { Estilo } from '../pdf/texto.ts'
import type { Reloj } from '../tiempo/reloj.ts'
import type { DatosDePrueba } from './contenidoDelPdf.ts'

/** The sheet's measures, in points: Letter, with the margin at its sides and the height of its foot. */
export const HOJA = { ancho: 612, alto: 792, margen: 46, pie: 40 } as const
/** Where the content begins from the left. */
export const X = HOJA.margen
/** The width of the content. */
export const ANCHO = HOJA.ancho - 2 * HOJA.margen
/** The height down to which the page's content may reach; below it stands the foot. */
export const FONDO = HOJA.alto - HOJA.pie - 14

/** The style of small labels. */
export const ROTULO: Estilo = { cuerpo: 6.8, peso: 'fuerte', color: TONOS.gris, espaciado: 0.6 }
/** The style of titles. */
export const TITULO: Estilo = { cuerpo: 10.5, peso: 'fuerte', color: TONOS.tinta }
/** The style of the text. */
export const TEXTO: Estilo = { cuerpo: 9, color: TONOS.tinta }
/** The style of notes and captions. */
export const MENOR: Estilo = { cuerpo: 7.6, color: TONOS.gris }

/** What every part of the document is drawn with. */
export interface Pagina {
  lienzo: Lienzo
  datos: DatosDePrueba
  reloj: Reloj
}

/** What stands where nothing is known. */
export const SIN_DATO = '—'

/** A point as people read it; undefined where it isn't known. */
export const coordenadas = ({ lat, lng }: { lat: number | null; lng: number | null }): string | undefined =>
  lat === null || lng === null ? undefined : `${lat.toFixed(5)}, ${lng.toFixed(5)}`
