// Service worker. It serves the page without coverage, and sends the queue when coverage returns while the page is
// closed.
import { sendQueue } from './queue.ts'
import { canBeUndone, readActions } from './store/actions.ts'

/** Files of the page. `route.ts` writes this constant before the script. */
declare const SHELL: { version: string; first: string[]; later: string[] }

const worker = self as unknown as ServiceWorkerGlobalScope
const CACHE = `repartidor-${SHELL.version}`
const ROOT_URL = new URL('.', worker.location.href)
/** Address of the page, `…/repartidor`; its files are below it. */
const PAGE_URL = ROOT_URL.href.slice(0, -1)
const toRequests = (paths: string[]) => paths.map((path) => new Request(new URL(path, ROOT_URL), { cache: 'reload' }))

worker.addEventListener('install', (evento) => {
  evento.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll([new Request(PAGE_URL, { cache: 'reload' }), ...toRequests(SHELL.first)])),
  )
})

worker.addEventListener('activate', (evento) => {
  evento.waitUntil(
    (async () => {
      const previousCaches = (await caches.keys()).filter((name) => name.startsWith('repartidor-') && name !== CACHE)
      await Promise.all(previousCaches.map((name) => caches.delete(name)))
      await worker.clients.claim()
    })(),
  )
})

worker.addEventListener('message', (evento) => {
  // A new version waits until the courier asks for it, or until no tab shows the old version.
  if (evento.data === 'activar') worker.skipWaiting()
  if (evento.data === 'guardar-lector') evento.waitUntil(storeReader())
})

/**
 * Stores the library that reads codes. It is large, so the page asks for it only if the browser has no reader of its
 * own.
 */
async function storeReader() {
  const cache = await caches.open(CACHE)
  for (const readerRequest of toRequests(SHELL.later))
    if (!(await cache.match(readerRequest))) await cache.add(readerRequest)
}

worker.addEventListener('fetch', (evento) => {
  const { request } = evento
  const url = request.url.split(/[?#]/)[0]!
  const propia = request.mode === 'navigate' ? url === PAGE_URL : url.startsWith(`${ROOT_URL.href}recursos/`)
  // All other requests go to the network unchanged, because the service worker must not keep responses with personal
  // data.
  if (request.method !== 'GET' || !propia) return
  evento.respondWith(caches.match(url, { ignoreVary: true }).then((cachedResponse) => cachedResponse ?? fetch(request)))
})

worker.addEventListener('sync', (evento) => {
  const syncEvent = evento as ExtendableEvent & { tag: string }
  if (syncEvent.tag === 'cola') syncEvent.waitUntil(synchronize())
})

/**
 * Sends the queue on behalf of the browser, once no action can be undone. After a failure the browser tries again, with
 * growing delays.
 * @throws Error if the queue has to be sent again
 */
async function synchronize() {
  const undoEnds = (await readActions()).filter(canBeUndone).map(({ notBefore }) => notBefore)
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, ...undoEnds.map((end) => end - Date.now()))))
  const round = await sendQueue()
  if (round === 'sin_red' || round === 'luego') throw new Error(round)
}
