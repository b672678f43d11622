// Where the phone is.
import { decir } from './formulario.ts'
import type { Lugar } from './lugar.ts'
import type { Pasos } from './pasos.ts'
import { explicarPermiso } from './permiso.ts'

/** Below this a position is as good as it gets: no reason to wait for a better one. */
const PRECISA_M = 25
/** How long a better position is waited for after the first. */
const AFINANDO_MS = 8_000

/** The search for the phone's position. */
export interface Busqueda {
  /** Whether a better position is still waited for. */
  sigue(): boolean
  parar(): void
}

/** @param alParar called when no better position is waited for any more */
export function prepararPosicion(lugar: Lugar, pasos: Pasos, alParar: () => void): Busqueda {
  const boton = document.querySelector<HTMLButtonElement>('#gps')!
  let vigilando: number | undefined
  let corte: number | undefined
  let mejor = Number.POSITIVE_INFINITY
  const busqueda: Busqueda = {
    sigue: () => vigilando !== undefined,
    parar() {
      if (vigilando === undefined) return
      navigator.geolocation.clearWatch(vigilando)
      clearTimeout(corte)
      vigilando = undefined
      boton.removeAttribute('aria-disabled')
      decir('estado-gps', '')
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
    // Between two positions a fault passes by itself; without any it is what there is to tell.
    if (mejor < Number.POSITIVE_INFINITY) return
    busqueda.parar()
    if (code === PERMISSION_DENIED) explicarPermiso(document.getElementById('estado-gps')!)
    else decir('estado-gps', POR_QUE[code] ?? POR_QUE[2]!, 'problema')
  }
  if (!window.isSecureContext || !navigator.geolocation) document.getElementById('con-gps')!.hidden = true
  boton.addEventListener('click', () => {
    if (vigilando !== undefined) return
    mejor = Number.POSITIVE_INFINITY
    boton.setAttribute('aria-disabled', 'true')
    decir('estado-gps', 'Buscando dónde está… Si el teléfono le pide permiso, toque «Permitir».')
    // The first position is often the antenna's; the satellites' comes seconds later.
    const como = { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 }
    vigilando = navigator.geolocation.watchPosition(hallar, fallar, como)
  })
  return busqueda
}

const OTRA_FORMA = 'O diga el lugar de otra forma, aquí abajo.'
/** By the code of GeolocationPositionError. */
const POR_QUE: Record<number, string> = {
  2: `El teléfono no encontró su ubicación. Encienda la «Ubicación» (GPS) en los ajustes y toque el botón otra vez. ${OTRA_FORMA}`,
  3: `El teléfono tardó demasiado. Salga a un lugar abierto y toque el botón otra vez. ${OTRA_FORMA}`,
}
