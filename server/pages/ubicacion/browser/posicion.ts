// Search for the phone's position.
import { decirEstado } from './formulario.ts'
import type { LugarElegido } from './lugar.ts'
import type { Pasos } from './pasos.ts'
import { explicarPermiso } from './permiso.ts'

/** Precision, in metres, that is good enough: the search ends there. */
const PRECISA_M = 25
/** Time to wait for a better position after the first position, in milliseconds. */
const AFINANDO_MS = 8_000

/** Search for the phone's position. */
export interface PositionSearch {
  /** Tells whether the search still waits for a better position. */
  sigue(): boolean
  parar(): void
}

/**
 * Prepares the button that searches for the phone's position.
 * @param alParar called when the search ends
 */
export function prepararPosicion(lugar: LugarElegido, pasos: Pasos, alParar: () => void): PositionSearch {
  const boton = document.querySelector<HTMLButtonElement>('#gps')!
  let vigilando: number | undefined
  let corte: number | undefined
  let mejor = Number.POSITIVE_INFINITY
  const busqueda: PositionSearch = {
    sigue: () => vigilando !== undefined,
    parar() {
      if (vigilando === undefined) return
      navigator.geolocation.clearWatch(vigilando)
      clearTimeout(corte)
      vigilando = undefined
      boton.removeAttribute('aria-disabled')
      decirEstado('estado-gps', '')
      alParar()
    },
  }
  const hallar = ({ coords: { latitude: lat, longitude: lng, accuracy } }: GeolocationPosition) => {
    if (accuracy < mejor) {
      if (mejor === Number.POSITIVE_INFINITY) corte = window.setTimeout(busqueda.parar, AFINANDO_MS)
      mejor = accuracy
      lugar.elegir('gps', { lat, lng }, accuracy)
      pasos.ir('gps')
    }
    if (accuracy <= PRECISA_M) busqueda.parar()
  }
  const fallar = ({ code, PERMISSION_DENIED }: GeolocationPositionError) => {
    // After a first position, a later error is ignored because it is temporary. Before the first position, the page
    // must report the error.
    if (mejor < Number.POSITIVE_INFINITY) return
    busqueda.parar()
    if (code === PERMISSION_DENIED) explicarPermiso(document.getElementById('estado-gps')!)
    else decirEstado('estado-gps', POR_QUE[code] ?? POR_QUE[2]!, 'problema')
  }
  if (!window.isSecureContext || !navigator.geolocation) document.getElementById('con-gps')!.hidden = true
  boton.addEventListener('click', () => {
    if (vigilando !== undefined) return
    mejor = Number.POSITIVE_INFINITY
    boton.setAttribute('aria-disabled', 'true')
    decirEstado('estado-gps', 'Buscando dónde está… Si el teléfono le pide permiso, toque «Permitir».')
    // The first position often comes from the mobile antenna. The position from the satellites comes seconds later.
    const como = { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 }
    vigilando = navigator.geolocation.watchPosition(hallar, fallar, como)
  })
  return busqueda
}

const OTRA_FORMA = 'O diga el lugar de otra forma, aquí abajo.'
/** Messages by the code of `GeolocationPositionError`. */
const POR_QUE: Record<number, string> = {
  2: `El teléfono no encontró su ubicación. Encienda la «Ubicación» (GPS) en los ajustes y toque el botón otra vez. ${OTRA_FORMA}`,
  3: `El teléfono tardó demasiado. Salga a un lugar abierto y toque el botón otra vez. ${OTRA_FORMA}`,
}
