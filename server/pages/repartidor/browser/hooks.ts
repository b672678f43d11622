// Hooks of the screens: stored data, the screen's address, the connection and the position.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { alAlcanzar, hayServicio } from './api.ts'
import { alCambiar } from './store/base.ts'

/**
 * Reads data stored on the phone, and reads it again after every change there; undefined until the data was read once.
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

/** Tells whether the courier has let the page know the phone's position, without asking. */
export const puedeSituarse = async () =>
  (await navigator.permissions?.query({ name: 'geolocation' }).catch(() => undefined))?.state === 'granted'

/**
 * Returns the phone's present position. Called after a tap, or if {@link puedeSituarse} is true.
 * @throws GeolocationPositionError
 */
export const pedirPosicion = () =>
  new Promise<{ lat: number; lng: number }>((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude: lat, longitude: lng } }) => resolve({ lat, lng }),
      reject,
      { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 },
    )
  })

/** Tells whether the service can be reached, as far as the phone knows. */
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
