// Script of the tracking page. While the page is visible, it loads the page again from time to time and shows what
// changed. The server omits the script in final states.

/** Time between two requests, in milliseconds. Parcels change a few times a day. */
const PERIOD = 120_000
/**
 * Maximum number of requests until the person comes back to the page. Afterwards only the link «Actualizar» remains.
 */
const MAX_REQUESTS = 30
/** Minimum interval between requests when a person comes back to the page again and again, in milliseconds. */
const MIN_PERIOD = 30_000

const news = document.getElementById('novedad')!
let requests = 0
let last = Date.now()
let timer: ReturnType<typeof setTimeout> | undefined

const partOf = (page: Document, id: string) => page.getElementById(id)

/** Replaces a part of this page by the same part of another page. Keeps the focus on a link that had it. */
function replace(id: string, from: Document): boolean {
  const [mine, theirs] = [partOf(document, id), partOf(from, id)]
  if (!mine || !theirs || mine.innerHTML === theirs.innerHTML) return false
  const focused = mine.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null
  mine.replaceChildren(...theirs.childNodes)
  if (focused != null) mine.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"], h1`)?.focus()
  return true
}

/** Requests the page again; undefined if the service or the network fails. */
async function fetchPage(): Promise<Document | undefined> {
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' })
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined
  } catch {
    return undefined
  }
}

async function refresh(): Promise<void> {
  requests++
  last = Date.now()
  const page = await fetchPage()
  if (page) {
    // A page that differs only in the time of loading has nothing new.
    if (replace('relato', page)) news.textContent = `Hay novedades: ${document.querySelector('h1')!.textContent}`
    replace('visto', page)
    if (!partOf(page, 'novedad')) {
      document.removeEventListener('visibilitychange', schedule)
      partOf(document, 'visto')?.remove()
      return
    }
  }
  schedule()
}

/** Schedules the next request if the page is visible and the maximum is not reached. */
function schedule(event?: Event): void {
  clearTimeout(timer)
  if (document.visibilityState !== 'visible') return
  if (event) requests = 0
  if (requests >= MAX_REQUESTS) return
  const wait = event ? Math.max(0, last + MIN_PERIOD - Date.now()) : PERIOD
  timer = setTimeout(() => void refresh(), wait)
}

document.addEventListener('visibilitychange', schedule)
schedule()
