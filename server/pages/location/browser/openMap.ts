// Opens the map when the recipient reaches its step.
import { showStatus } from './form.ts'
import type { InteractiveMap, openMap as OpenMap } from './map.ts'
import type { ChosenPlace } from './place.ts'
import type { Zona } from './words.ts'

/** Parts of the chosen location that the map shows and changes. */
export type MarkedPlace = Pick<ChosenPlace, 'point' | 'precision' | 'choose'>

export const UNSEEN = 'Ahí todavía no se ve el mapa: espere a que cargue.'

/** Part of the page that holds the map, open or not. */
export interface Visor {
  /** Shows the map with the chosen location. Opens the map first if it is not open. */
  show(): void
  hide(): void
  /** Tells whether the map failed to become visible. */
  isMissing(): boolean
}

/**
 * Prepares the part of the page that holds the map; undefined if the page has no such part.
 * @param onChange called when it is known whether the map is visible
 */
export function prepareMap(place: MarkedPlace, onChange: () => void, zone: Zona): Visor | undefined {
  const section = document.getElementById('con-mapa')
  const container = document.getElementById('mapa')
  if (!section || !container) return undefined
  const noMapNotice = document.getElementById('sin-mapa')!
  const arrows = document.getElementById('flechas')!
  let map: InteractiveMap | undefined
  let isOpening = false
  let intentos = 0
  const hint = document.getElementById('ayuda-mapa')!
  let isVisible = false
  const setVisibility = (now: boolean) => {
    isVisible = now
    container.hidden = !isVisible
    hint.hidden = !isVisible
    arrows.hidden = !isVisible || section.hidden
    noMapNotice.hidden = isVisible
    onChange()
  }
  const openOnce = async () => {
    if (map || isOpening) return
    isOpening = true
    container.hidden = false
    noMapNotice.hidden = true
    try {
      // A module that failed to load may stay failed under its URL, so each retry uses a new URL.
      const moduleUrl = container.dataset.modulo! + (intentos++ > 0 ? `?${intentos}` : '')
      const [{ openMap }] = await Promise.all([
        import(new URL(moduleUrl, location.href).href) as Promise<{ openMap: typeof OpenMap }>,
        loadStyle(container.dataset.estilo!),
      ])
      map = openMap(container, zone, {
        onMove(point) {
          place.choose('mapa', point)
          if (!point) showStatus('envio', UNSEEN, 'problema')
        },
        onVisibility: setVisibility,
      })
      map.show(place.point(), place.precision())
    } catch {
      setVisibility(false)
    }
    isOpening = false
  }
  document.getElementById('reintentar-mapa')!.addEventListener('click', () => {
    if (!map) return openOnce()
    container.hidden = false
    noMapNotice.hidden = true
    map.load()
  })
  arrows.addEventListener('click', ({ target }) => {
    const step = (target as HTMLElement).closest<HTMLElement>('[data-paso]')?.dataset.paso
    if (step) map?.paso(step as Parameters<InteractiveMap['paso']>[0])
  })
  return {
    show() {
      const wasShown = !section.hidden
      section.hidden = false
      // After a link is pasted, the map would otherwise open outside the visible part of the page.
      if (!wasShown) container.scrollIntoView({ block: 'nearest' })
      arrows.hidden = !isVisible
      if (map) map.show(place.point(), place.precision())
      else openOnce()
    },
    hide() {
      section.hidden = true
      arrows.hidden = true
    },
    isMissing: () => !noMapNotice.hidden,
  }
}

function loadStyle(direccion: string) {
  return new Promise<void>((resolve, reject) => {
    const styleLink = document.createElement('link')
    styleLink.rel = 'stylesheet'
    styleLink.href = direccion
    styleLink.onload = () => resolve()
    styleLink.onerror = () => {
      styleLink.remove()
      reject(new Error('map stylesheet failed to load'))
    }
    document.head.append(styleLink)
  })
}
