// Location that the recipient has chosen, by whichever method. The form's hidden fields hold it.
import type { Point } from '../../../platform/maps/point.ts'
import { IMPRECISE_ABOVE_M } from '../precision.ts'
import { campo, saveFields } from './form.ts'

export type PlaceMethod = '' | 'gps' | 'mapa' | 'enlace' | 'descripcion'

export interface ChosenPlace {
  method(): PlaceMethod
  point(): Point | undefined
  /** Precision of the phone's own position, in metres; undefined for any other location. */
  precision(): number | undefined
  /** Tells whether the phone's own position is too imprecise to identify a door. */
  isImprecise(): boolean
  choose(method: PlaceMethod, point?: Point, precision?: number): void
}

/**
 * Returns the location that the form's fields hold.
 * @param onChoose called after every choice
 */
export function preparePlace(form: HTMLFormElement, onChoose: () => void): ChosenPlace {
  const setField = (nombre: string, valor: string) => {
    campo(form, nombre)!.value = valor
  }
  const leer = (nombre: string) => campo(form, nombre)?.value ?? ''
  const lugar: ChosenPlace = {
    method: () => leer('metodo') as PlaceMethod,
    point: () => (leer('lat') ? { lat: Number(leer('lat')), lng: Number(leer('lng')) } : undefined),
    precision: () => (lugar.method() === 'gps' && leer('precision_m') ? Number(leer('precision_m')) : undefined),
    isImprecise: () => (lugar.precision() ?? 0) > IMPRECISE_ABOVE_M,
    choose(method, point, precision) {
      setField('metodo', method)
      setField('lat', point ? point.lat.toFixed(7) : '')
      setField('lng', point ? point.lng.toFixed(7) : '')
      setField('precision_m', precision === undefined ? '' : String(Math.round(precision)))
      saveFields(form)
      if (method) document.getElementById('errores')?.remove()
      onChoose()
    },
  }
  return lugar
}
