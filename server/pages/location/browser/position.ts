// Search for the phone's position.
import { showStatus } from './form.ts'
import { explainPermission } from './permission.ts'
import type { ChosenPlace } from './place.ts'
import type { FormSteps } from './steps.ts'

/** Precision, in metres, that is good enough: the search ends there. */
const PRECISE_M = 25
/** Time to wait for a better position after the first position, in milliseconds. */
const REFINING_MS = 8_000

export interface PositionSearch {
  /** Tells whether the search still waits for a better position. */
  isSearching(): boolean
  stop(): void
}

/**
 * Prepares the button that searches for the phone's position.
 * @param onStop called when the search ends
 */
export function preparePosition(place: ChosenPlace, steps: FormSteps, onStop: () => void): PositionSearch {
  const button = document.querySelector<HTMLButtonElement>('#gps')!
  let watchId: number | undefined
  let stopTimer: number | undefined
  let bestAccuracy = Number.POSITIVE_INFINITY
  const search: PositionSearch = {
    isSearching: () => watchId !== undefined,
    stop() {
      if (watchId === undefined) return
      navigator.geolocation.clearWatch(watchId)
      clearTimeout(stopTimer)
      watchId = undefined
      button.removeAttribute('aria-disabled')
      showStatus('estado-gps', '')
      onStop()
    },
  }
  const handlePosition = ({ coords: { latitude: lat, longitude: lng, accuracy } }: GeolocationPosition) => {
    if (accuracy < bestAccuracy) {
      if (bestAccuracy === Number.POSITIVE_INFINITY) stopTimer = window.setTimeout(search.stop, REFINING_MS)
      bestAccuracy = accuracy
      place.choose('gps', { lat, lng }, accuracy)
      steps.goTo('gps')
    }
    if (accuracy <= PRECISE_M) search.stop()
  }
  const handleFailure = ({ code, PERMISSION_DENIED }: GeolocationPositionError) => {
    // After a first position, a later error is ignored because it is temporary. Before the first position, the page
    // must report the error.
    if (bestAccuracy < Number.POSITIVE_INFINITY) return
    search.stop()
    if (code === PERMISSION_DENIED) explainPermission(document.getElementById('estado-gps')!)
    else showStatus('estado-gps', FAILURE_REASONS[code] ?? FAILURE_REASONS[2]!, 'problema')
  }
  if (!window.isSecureContext || !navigator.geolocation) document.getElementById('con-gps')!.hidden = true
  button.addEventListener('click', () => {
    if (watchId !== undefined) return
    bestAccuracy = Number.POSITIVE_INFINITY
    button.setAttribute('aria-disabled', 'true')
    showStatus('estado-gps', 'Buscando dónde está… Si el teléfono le pide permiso, toque «Permitir».')
    // The first position often comes from the mobile antenna. The position from the satellites comes seconds later.
    const watchOptions = { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 }
    watchId = navigator.geolocation.watchPosition(handlePosition, handleFailure, watchOptions)
  })
  return search
}

const OTHER_WAY = 'O diga el lugar de otra forma, aquí abajo.'
/** Messages by the code of `GeolocationPositionError`. */
const FAILURE_REASONS: Record<number, string> = {
  2: `El teléfono no encontró su ubicación. Encienda la «Ubicación» (GPS) en los ajustes y toque el botón otra vez. ${OTHER_WAY}`,
  3: `El teléfono tardó demasiado. Salga a un lugar abierto y toque el botón otra vez. ${OTHER_WAY}`,
}
