// Hooks of the screens: stored data, the screen's address, the connection and the position.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { distanceKm, type Point } from '../../../platform/maps/point.ts'
import { isServiceReachable, onReachable } from './api.ts'
import { onStoreChange } from './store/base.ts'

/**
 * Hook that reads data stored on the phone, and reads it again after every change. Undefined until the first read ends.
 * @param clave key of the data; while a new key is being read, the result is undefined
 */
export function useStoredData<T>(read: () => Promise<T>, clave: string): T | undefined {
  const [storedData, setState] = useState<{ clave: string; valor: T }>()
  const current = useRef(read)
  current.current = read
  useEffect(() => {
    let isMounted = true
    let isReading = false
    let readAgain = false
    // All changes while the data is being read cause one further read. Sending a day's guides causes hundreds of
    // changes.
    const reread = async () => {
      readAgain = true
      if (isReading) return
      isReading = true
      try {
        while (readAgain && isMounted) {
          readAgain = false
          const valor = await current.current()
          if (isMounted) setState({ clave, valor })
        }
      } finally {
        isReading = false
      }
    }
    reread()
    const unsubscribe = onStoreChange(reread)
    return () => {
      isMounted = false
      unsubscribe()
    }
  }, [clave])
  return storedData?.clave === clave ? storedData.valor : undefined
}

const partsOf = (hash: string) => hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent)

/** Returns the parts of the screen's address. Each screen has an address, so the phone's back button works. */
export function useScreenPath(): string[] {
  const [hash, setHash] = useState(() => location.hash)
  useEffect(() => {
    const update = () => setHash(location.hash)
    addEventListener('hashchange', update)
    // The address may have changed before this effect ran.
    update()
    return () => removeEventListener('hashchange', update)
  }, [])
  return useMemo(() => partsOf(hash), [hash])
}

/**
 * Goes to a screen.
 * @param replace true to replace the current screen, so that going back does not return to it
 */
export function goTo(path: string, replace = false) {
  if (replace) location.replace(`#/${path}`)
  else location.hash = `/${path}`
}

/** Tells whether the courier has already allowed the page to use the phone's position. Does not ask for permission. */
const canLocate = async () =>
  (await navigator.permissions?.query({ name: 'geolocation' }).catch(() => undefined))?.state === 'granted'

/**
 * Returns the phone's present position. Called after a tap.
 * @throws GeolocationPositionError
 */
export const requestPosition = () =>
  new Promise<Point>((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude: lat, longitude: lng } }) => resolve({ lat, lng }),
      reject,
      { enableHighAccuracy: true, timeout: 20_000, maximumAge: 0 },
    )
  })

/** Distance in metres that the phone must move before the distances are computed again. */
const MIN_MOVE_M = 15

/** Hook that returns the phone's position as it moves; null without permission. Never asks for permission. */
export function useHere(): Point | null {
  const [here, setHere] = useState<Point | null>(null)
  useEffect(() => {
    let isMounted = true
    let watchId: number | undefined
    canLocate().then((allowed) => {
      if (!isMounted || !allowed) return
      watchId = navigator.geolocation.watchPosition(
        ({ coords: { latitude: lat, longitude: lng } }) =>
          setHere((before) =>
            before && distanceKm(before, { lat, lng }) * 1_000 < MIN_MOVE_M ? before : { lat, lng },
          ),
        () => {},
        { enableHighAccuracy: true, timeout: 30_000, maximumAge: 15_000 },
      )
    })
    return () => {
      isMounted = false
      if (watchId !== undefined) navigator.geolocation.clearWatch(watchId)
    }
  }, [])
  return here
}

/** Hook that tells whether the service can be reached, as far as the phone knows. */
export function useIsOnline(): boolean {
  const [isOnline, setIsOnline] = useState(navigator.onLine && isServiceReachable())
  useEffect(() => {
    const update = () => setIsOnline(navigator.onLine && isServiceReachable())
    addEventListener('online', update)
    addEventListener('offline', update)
    const unsubscribe = onReachable(update)
    update()
    return () => {
      removeEventListener('online', update)
      removeEventListener('offline', update)
      unsubscribe()
    }
  }, [])
  return isOnline
}

/** Position of the phone, or the reason why it is missing. */
export interface GeoPosition {
  estado: 'searching' | 'found' | 'denied' | 'unavailable'
  point?: { lat: number; lng: number; precision_m: number }
}

/**
 * Returns the most precise position of the phone so far.
 * @param ask true to ask the courier for permission; false to use a permission that was given before
 */
export function usePosition(ask: boolean): GeoPosition {
  const [position, setPosition] = useState<GeoPosition>({ estado: 'searching' })
  useEffect(() => {
    let watchId: number | undefined
    let isMounted = true
    let bestAccuracy = Number.POSITIVE_INFINITY
    const startWatch = () => {
      if (!isMounted) return
      watchId = navigator.geolocation.watchPosition(
        ({ coords: { latitude: lat, longitude: lng, accuracy } }) => {
          if (accuracy > bestAccuracy) return
          bestAccuracy = accuracy
          setPosition({ estado: 'found', point: { lat, lng, precision_m: Math.round(accuracy * 10) / 10 } })
        },
        ({ code, PERMISSION_DENIED }) =>
          setPosition((before) =>
            before.point ? before : { estado: code === PERMISSION_DENIED ? 'denied' : 'unavailable' },
          ),
        { enableHighAccuracy: true, timeout: 30_000, maximumAge: 15_000 },
      )
    }
    if (!navigator.geolocation) setPosition({ estado: 'unavailable' })
    else if (ask) startWatch()
    else {
      const permission = navigator.permissions?.query({ name: 'geolocation' })
      permission?.then(
        ({ state }) => (state === 'granted' ? startWatch() : setPosition({ estado: 'unavailable' })),
        () => {},
      )
    }
    return () => {
      isMounted = false
      if (watchId !== undefined) navigator.geolocation.clearWatch(watchId)
    }
  }, [ask])
  return position
}
