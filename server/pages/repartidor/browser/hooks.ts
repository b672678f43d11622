// Hooks of the screens: stored data, the screen's address, the connection and the position.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { distanceKm, type Point } from '../../../platform/maps/point.ts'
import { alAlcanzar, hayServicio } from './api.ts'
import { alCambiar } from './store/base.ts'

/**
 * Hook that reads data stored on the phone, and reads it again after every change. Undefined until the first read ends.
 * @param clave key of the data; while a new key is being read, the result is undefined
 */
export function useDatos<T>(leer: () => Promise<T>, clave: string): T | undefined {
  const [leido, poner] = useState<{ clave: string; valor: T }>()
  const actual = useRef(leer)
  actual.current = leer
  useEffect(() => {
    let vivo = true
    let leyendo = false
    let otraVez = false
    // All changes while the data is being read cause one further read. Sending a day's guides causes hundreds of
    // changes.
    const releer = async () => {
      otraVez = true
      if (leyendo) return
      leyendo = true
      try {
        while (otraVez && vivo) {
          otraVez = false
          const valor = await actual.current()
          if (vivo) poner({ clave, valor })
        }
      } finally {
        leyendo = false
      }
    }
    releer()
    const dejar = alCambiar(releer)
    return () => {
      vivo = false
      dejar()
    }
  }, [clave])
  return leido?.clave === clave ? leido.valor : undefined
}

const partesDe = (hash: string) => hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent)

/** Returns the parts of the screen's address. Each screen has an address, so the phone's back button works. */
export function useRuta(): string[] {
  const [hash, poner] = useState(() => location.hash)
  useEffect(() => {
    const mirar = () => poner(location.hash)
    addEventListener('hashchange', mirar)
    // The address may have changed before this effect ran.
    mirar()
    return () => removeEventListener('hashchange', mirar)
  }, [])
  return useMemo(() => partesDe(hash), [hash])
}

/**
 * Goes to a screen.
 * @param sustituir true to replace the current screen, so that going back does not return to it
 */
export function ir(ruta: string, sustituir = false) {
  if (sustituir) location.replace(`#/${ruta}`)
  else location.hash = `/${ruta}`
}

/** Tells whether the courier has already allowed the page to use the phone's position. Does not ask for permission. */
const puedeSituarse = async () =>
  (await navigator.permissions?.query({ name: 'geolocation' }).catch(() => undefined))?.state === 'granted'

/**
 * Returns the phone's present position. Called after a tap.
 * @throws GeolocationPositionError
 */
export const pedirPosicion = () =>
  new Promise<Point>((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude: lat, longitude: lng } }) => resolve({ lat, lng }),
      reject,
      { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 },
    )
  })

/** Distance in metres that the phone must move before the distances are computed again. */
const SE_MOVIO_M = 15

/** Hook that returns the phone's position as it moves; null without permission. Never asks for permission. */
export function useAqui(): Point | null {
  const [aqui, poner] = useState<Point | null>(null)
  useEffect(() => {
    let vivo = true
    let vigia: number | undefined
    puedeSituarse().then((puede) => {
      if (!vivo || !puede) return
      vigia = navigator.geolocation.watchPosition(
        ({ coords: { latitude: lat, longitude: lng } }) =>
          poner((antes) => (antes && distanceKm(antes, { lat, lng }) * 1_000 < SE_MOVIO_M ? antes : { lat, lng })),
        () => {},
        { enableHighAccuracy: true, timeout: 30_000, maximumAge: 15_000 },
      )
    })
    return () => {
      vivo = false
      if (vigia !== undefined) navigator.geolocation.clearWatch(vigia)
    }
  }, [])
  return aqui
}

/** Hook that tells whether the service can be reached, as far as the phone knows. */
export function useEnLinea(): boolean {
  const [enLinea, poner] = useState(navigator.onLine && hayServicio())
  useEffect(() => {
    const mirar = () => poner(navigator.onLine && hayServicio())
    addEventListener('online', mirar)
    addEventListener('offline', mirar)
    const dejar = alAlcanzar(mirar)
    mirar()
    return () => {
      removeEventListener('online', mirar)
      removeEventListener('offline', mirar)
      dejar()
    }
  }, [])
  return enLinea
}

/** Position of the phone, or the reason why it is missing. */
export interface GeoPosition {
  estado: 'buscando' | 'lista' | 'denegada' | 'sin'
  punto?: { lat: number; lng: number; precision_m: number }
}

/**
 * Returns the most precise position of the phone so far.
 * @param preguntar true to ask the courier for permission; false to use a permission that was given before
 */
export function usePosicion(preguntar: boolean): GeoPosition {
  const [posicion, poner] = useState<GeoPosition>({ estado: 'buscando' })
  useEffect(() => {
    let vigia: number | undefined
    let vivo = true
    let mejor = Number.POSITIVE_INFINITY
    const empezar = () => {
      if (!vivo) return
      vigia = navigator.geolocation.watchPosition(
        ({ coords: { latitude: lat, longitude: lng, accuracy } }) => {
          if (accuracy > mejor) return
          mejor = accuracy
          poner({ estado: 'lista', punto: { lat, lng, precision_m: Math.round(accuracy * 10) / 10 } })
        },
        ({ code, PERMISSION_DENIED }) =>
          poner((antes) => (antes.punto ? antes : { estado: code === PERMISSION_DENIED ? 'denegada' : 'sin' })),
        { enableHighAccuracy: true, timeout: 30_000, maximumAge: 15_000 },
      )
    }
    if (!navigator.geolocation) poner({ estado: 'sin' })
    else if (preguntar) empezar()
    else {
      const permiso = navigator.permissions?.query({ name: 'geolocation' })
      permiso?.then(
        ({ state }) => (state === 'granted' ? empezar() : poner({ estado: 'sin' })),
        () => {},
      )
    }
    return () => {
      vivo = false
      if (vigia !== undefined) navigator.geolocation.clearWatch(vigia)
    }
  }, [preguntar])
  return posicion
}
