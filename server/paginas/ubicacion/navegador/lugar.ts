// The place that is chosen, by whichever way: it stands in the form's hidden fields.
import type { Punto } from '../../../mapas/punto.ts'
import { IMPRECISA_M } from '../precision.ts'
import { campo, guardar } from './formulario.ts'

export type Metodo = '' | 'gps' | 'mapa' | 'enlace' | 'descripcion'

export interface Lugar {
  metodo(): Metodo
  punto(): Punto | undefined
  /** How exact the phone's own position is, in metres; undefined of any other place. */
  precision(): number | undefined
  /** Whether the phone's own position is too inexact to be a door. */
  esImprecisa(): boolean
  elegir(metodo: Metodo, punto?: Punto, precision?: number): void
}

/**
 * Gives the place that the form's fields say.
 * @param alElegir called after every choice
 */
export function prepararLugar(formulario: HTMLFormElement, alElegir: () => void): Lugar {
  const poner = (nombre: string, valor: string) => {
    campo(formulario, nombre)!.value = valor
  }
  const leer = (nombre: string) => campo(formulario, nombre)?.value ?? ''
  const lugar: Lugar = {
    metodo: () => leer('metodo') as Metodo,
    punto: () => (leer('lat') ? { lat: Number(leer('lat')), lng: Number(leer('lng')) } : undefined),
    precision: () => (lugar.metodo() === 'gps' && leer('precision_m') ? Number(leer('precision_m')) : undefined),
    esImprecisa: () => (lugar.precision() ?? 0) > IMPRECISA_M,
    elegir(metodo, punto, precision) {
      poner('metodo', metodo)
      poner('lat', punto ? punto.lat.toFixed(7) : '')
      poner('lng', punto ? punto.lng.toFixed(7) : '')
      poner('precision_m', precision === undefined ? '' : String(Math.round(precision)))
      guardar(formulario)
      if (metodo) document.getElementById('errores')?.remove()
      alElegir()
    },
  }
  return lugar
}
