// Search for the phone's position.
import type { Point } from '../../../platform/maps/point.ts'
import { showStatus } from './form.ts'
import { explainPermission } from './permission.ts'

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
 * Prepares the button that searches for the phone's position, and shows it if the browser has positions.
 * @param onFind called with the first position, and each better one with its precision in metres
 * @param onStop called when the search ends
 */
export function preparePosition(onFind: (point: Point, precision: number) => void, onStop: () => void): PositionSearch {
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
      onFind({ lat, lng }, accuracy)
    }
    if (accuracy <= PRECISE_M) search.stop()
  }
  const handleFailure = ({ code, PERMISSION_DENIED, TIMEOUT }: GeolocationPositionError) => {
    // After a first position, a later error is ignored because it is temporary. Before the first position, the page
    // must report the error.
    if (bestAccuracy < Number.POSITIVE_INFINITY) return
    search.stop()
    const status = document.getElementById('estado-gps')!
    const { otra = '' } = status.dataset
    if (code === PERMISSION_DENIED) explainPermission(status, otra)
    else showStatus('estado-gps', `${code === TIMEOUT ? TOO_SLOW : notFound()} ${otra}`, 'problema')
  }
  document.getElementById('con-gps')!.hidden = !window.isSecureContext || !navigator.geolocation
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

const TOO_SLOW = 'El teléfono tardó demasiado. Salga a un lugar abierto y toque «Estoy ahí ahora» otra vez.'

/** Says how to switch positions on, with the words of the phone's settings. */
function notFound(): string {
  const setting = /iPhone|iPad/.test(navigator.userAgent)
    ? '«Localización» en «Configuración», «Privacidad y seguridad»,'
    : '«Ubicación» (GPS) en los ajustes del teléfono'
  return `El teléfono no encontró su ubicación. Encienda ${setting} y toque «Estoy ahí ahora» otra vez.`
}
