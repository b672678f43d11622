// All screens except signing in and the list. They are in a file of their own, which loads once a courier is signed in.
import { useEffect, useState } from 'preact/hooks'

export type Pantallas = typeof import('./screens/otras.ts')

let cargadas: Pantallas | undefined

/**
 * Loads the other screens as soon as `hay` is true, before any of them is opened, so that they work without coverage.
 * @returns undefined while they load; `faltan` if they could not be loaded
 */
export function usePantallas(hay: boolean): Pantallas | 'faltan' | undefined {
  const [pantallas, poner] = useState<Pantallas | 'faltan' | undefined>(cargadas)
  useEffect(() => {
    if (!hay || pantallas) return
    import('./screens/otras.ts').then(
      (modulo) => {
        cargadas = modulo
        poner(modulo)
      },
      () => poner('faltan'),
    )
  }, [hay])
  return pantallas
}
