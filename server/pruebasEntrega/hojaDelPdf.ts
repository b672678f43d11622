import { type Lienzo, TONOS } from '../pdf/lienzo.ts'
import type { Estilo } from '../pdf/texto.ts'
import type { Reloj } from '../tiempo/reloj.ts'
import type { DatosDePrueba } from './datosDelPdf.ts'

export const HOJA = { ancho: 612, alto: 792, margen: 46, pie: 40 } as const
export const X = HOJA.margen
export const ANCHO = HOJA.ancho - 2 * HOJA.margen
/** The height down to which the page's content may reach; below it stands the foot. */
export const FONDO = HOJA.alto - HOJA.pie - 14

export const ROTULO: Estilo = { cuerpo: 6.8, peso: 'fuerte', color: TONOS.gris, espaciado: 0.6 }
export const TITULO: Estilo = { cuerpo: 10.5, peso: 'fuerte', color: TONOS.tinta }
export const TEXTO: Estilo = { cuerpo: 9, color: TONOS.tinta }
export const MENOR: Estilo = { cuerpo: 7.6, color: TONOS.gris }

/** What every part of the document is drawn with. */
export interface Pagina {
  lienzo: Lienzo
  datos: DatosDePrueba
  reloj: Reloj
}

export const SIN_DATO = '—'

export const coordenadas = ({ lat, lng }: { lat: number | null; lng: number | null }): string | undefined =>
  lat === null || lng === null ? undefined : `${lat.toFixed(5)}, ${lng.toFixed(5)}`
