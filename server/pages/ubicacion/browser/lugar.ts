// Location that the recipient has chosen, by whichever method. The form's hidden fields hold it.
import type { Point } from '../../../platform/maps/point.ts'
import { IMPRECISA_M } from '../precision.ts'
import { campo, guardar } from './formulario.ts'

export type Metodo = '' | 'gps' | 'mapa' | 'enlace' | 'descripcion'

export interface LugarElegido {
  metodo(): Metodo
  punto(): Point | undefined
  /** Precision of the phone's own position, in metres; undefined for any other location. */
  precision(): number | undefined
  /** Tells whether the phone's own position is too imprecise to identify a door. */
  esImprecisa(): boolean
  elegir(metodo: Metodo, punto?: Point, precision?: number): void
}

/**
 * Returns the location that the form's fields hold.
 * @param alElegir called after every choice
 */
export function prepararLugar(formulario: HTMLFormElement, alElegir: () => void): LugarElegido {
  const poner = (nombre: string, valor: string) => {
    campo(formulario, nombre)!.value = valor
  }
  const leer = (nombre: string) => campo(formulario, nombre)?.value ?? ''
  const lugar: LugarElegido = {
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
