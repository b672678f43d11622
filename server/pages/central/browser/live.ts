// Keeps a page of the office up to date. The service reports over a stream that something changed, and the page then
// loads itself again.
import { morph } from './morph.ts'

/**
 * Minimum interval between two loads of a page, in milliseconds: for a page of several guides, and for the page of one
 * guide.
 */
const PAUSE = 10_000
const PAUSE_OF_ONE = 2_000
/** Maximum random delay before a load, in milliseconds, so that the browsers of an office do not all load at once. */
const SPREAD = 500
/** Delay after which a refused stream is opened again, in milliseconds. */
const REFUSED = 60_000

export function keepLive(place: HTMLElement): void {
  const { flujo = '', guia } = place.dataset
  const pause = guia === undefined ? PAUSE : PAUSE_OF_ONE
  let cursor = place.dataset.desde ?? ''
  let stream: EventSource | undefined
  let waiting = false
  let read = Number.NEGATIVE_INFINITY

  const open = () => {
    if (stream || document.hidden) return
    stream = new EventSource(`${flujo}?${new URLSearchParams({ desde: cursor, ...(guia !== undefined && { guia }) })}`)
    stream.addEventListener('cambio', ({ lastEventId }) => {
      cursor = lastEventId
      change()
    })
    stream.addEventListener('error', () => {
      if (stream?.readyState !== EventSource.CLOSED) return
      close()
      change()
      setTimeout(open, REFUSED)
    })
  }
  const close = () => {
    stream?.close()
    stream = undefined
  }
  const change = () => {
    if (waiting) return
    waiting = true
    setTimeout(refresh, Math.max(0, read + pause - performance.now()) + Math.random() * SPREAD)
  }
  const refresh = async () => {
    waiting = false
    read = performance.now()
    try {
      const answer = await fetch(location.href, { headers: { Accept: 'text/html', 'X-Refresco': '1' } })
      // Either the service is busy, or this network sends too many requests.
      if (answer.status === 429 || answer.status === 503) return change()
      // The session has ended. The sign-in replaces what the screen shows, because others may pass by.
      if (answer.redirected) return location.replace(answer.url)
      if (!answer.ok) return
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById(place.id)
      if (fresh) morph(place, fresh)
    } catch {
      // Without a connection, the stream begins again by itself and tells of a change.
    }
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()))
  addEventListener('pagehide', close)
  addEventListener('pageshow', open)
  open()
}
