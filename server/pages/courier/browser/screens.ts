// All screens except signing in and the list. They are in a file of their own, which loads once a courier is signed in.
import { useEffect, useState } from 'preact/hooks'

export type Screens = typeof import('./screens/others.ts')

let loadedScreens: Screens | undefined

/**
 * Loads the other screens as soon as `isSignedIn` is true, before any of them is opened, so that they work without coverage.
 * @returns undefined while they load; `faltan` if they could not be loaded
 */
export function useScreens(isSignedIn: boolean): Screens | 'faltan' | undefined {
  const [screens, setScreens] = useState<Screens | 'faltan' | undefined>(loadedScreens)
  useEffect(() => {
    if (!isSignedIn || screens) return
    import('./screens/others.ts').then(
      (screensModule) => {
        loadedScreens = screensModule
        setScreens(screensModule)
      },
      () => setScreens('faltan'),
    )
  }, [isSignedIn])
  return screens
}
