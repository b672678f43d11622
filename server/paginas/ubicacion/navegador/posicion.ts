// Where the phone is.
import { decir, enMetros } from './formulario.ts'
import { IMPRECISA_M, type Lugar } from './lugar.ts'

/** Below this a position is as good as it gets: no reason to wait for a better one. */
const PRECISA_M = 25
/** How long a better position is waited for after the first. */
const AFINANDO_MS = 8_000

export function prepararPosicion(lugar: Lugar) {
  const boton = document.querySelector<HTMLButtonElement>('#gps')!
  if (!window.isSecureContext || !navigator.geolocation) {
    boton.closest('section')!.hidden = true
    return
  }
  let vigilando: number | undefined
  let corte: number | undefined
  let mejor = Number.POSITIVE_INFINITY
  const parar = () => {
    if (vigilando !== undefined) navigator.geolocation.clearWatch(vigilando)
    clearTimeout(corte)
    vigilando = undefined
    boton.removeAttribute('aria-disabled')
  }
  const concluir = () => {
    parar()
    contarPrecision(mejor)
  }
  boton.addEventListener('click', () => {
    if (vigilando !== undefined) return
    mejor = Number.POSITIVE_INFINITY
    boton.setAttribute('aria-disabled', 'true')
    decir('estado-gps', 'Buscando dónde está… Si el teléfono le pide permiso, toque «Permitir».')
    // The first position is often the antenna's; the satellites' comes seconds later.
    vigilando = navigator.geolocation.watchPosition(
      ({ coords: { latitude: lat, longitude: lng, accuracy } }) => {
        if (accuracy < mejor) {
          if (mejor === Number.POSITIVE_INFINITY) corte = window.setTimeout(concluir, AFINANDO_MS)
          mejor = accuracy
          lugar.elegir('gps', { lat, lng }, accuracy)
          decir('estado-gps', `${encontrada(accuracy)} Seguimos buscando una mejor…`)
        }
        if (accuracy <= PRECISA_M) concluir()
      },
      (error) => {
        // Between two positions a fault passes by itself; without any it is what there is to tell.
        if (mejor < Number.POSITIVE_INFINITY && error.code !== error.PERMISSION_DENIED) return
        parar()
        decir('estado-gps', POR_QUE[error.code] ?? POR_QUE[2]!, 'problema')
      },
      { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 },
    )
  })
}

const encontrada = (metros: number) => `Encontramos su ubicación, con precisión de unos ${enMetros(metros)}.`

function contarPrecision(metros: number) {
  if (metros <= IMPRECISA_M) return decir('estado-gps', encontrada(metros), 'bien')
  decir(
    'estado-gps',
    `${encontrada(metros)} Es poco exacta: salga a un lugar abierto e inténtelo otra vez${hayMapa() ? ', o mueva el pin en el mapa' : ''}.`,
    'problema',
  )
}

const hayMapa = () => document.getElementById('mapa') !== null
const OTRA_FORMA = 'O elija el lugar de otra forma, aquí abajo.'
/** By the code of GeolocationPositionError. */
const POR_QUE: Record<number, string> = {
  1: `El teléfono no nos dio permiso para ver su ubicación. Toque el candado que está arriba, junto a la dirección de esta página; entre a «Permisos», permita la «Ubicación» y toque el botón otra vez. ${OTRA_FORMA}`,
  2: `El teléfono no encontró su ubicación. Encienda la «Ubicación» (GPS) en los ajustes y toque el botón otra vez. ${OTRA_FORMA}`,
  3: `El teléfono tardó demasiado. Salga a un lugar abierto y toque el botón otra vez. ${OTRA_FORMA}`,
}
