// Location that the recipient has chosen, by whichever method. The form's hidden fields hold it.
import type { Point } from '../../../platform/maps/point.ts'
import { IMPRECISE_ABOVE_M } from '../precision.ts'
import { field, saveFields } from './form.ts'

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
  const setField = (name: string, value: string) => {
    field(form, name)!.value = value
  }
  const read = (name: string) => field(form, name)?.value ?? ''
  const place: ChosenPlace = {
    method: () => read('metodo') as PlaceMethod,
    point: () => (read('lat') ? { lat: Number(read('lat')), lng: Number(read('lng')) } : undefined),
    precision: () => (place.method() === 'gps' && read('precision_m') ? Number(read('precision_m')) : undefined),
    isImprecise: () => (place.precision() ?? 0) > IMPRECISE_ABOVE_M,
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
  return place
}
