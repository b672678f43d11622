// Service worker. It serves the page without coverage, and sends the queue when coverage returns while the page is
// closed.
import { enviarCola } from './cola.ts'

/** Files of the page. `route.ts` writes this constant before the script. */
declare const CASCO: { version: string; ahora: string[]; luego: string[] }

const yo = self as unknown as ServiceWorkerGlobalScope
const CACHE = `repartidor-${CASCO.version}`
const RAIZ = new URL('.', yo.location.href)
/** Address of the page, `…/repartidor`; its files are below it. */
const PAGINA = RAIZ.href.slice(0, -1)
const direcciones = (rutas: string[]) => rutas.map((ruta) => new Request(new URL(ruta, RAIZ), { cache: 'reload' }))

yo.addEventListener('install', (evento) => {
  evento.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll([new Request(PAGINA, { cache: 'reload' }), ...direcciones(CASCO.ahora)])),
  )
})

yo.addEventListener('activate', (evento) => {
  evento.waitUntil(
    (async () => {
      const viejas = (await caches.keys()).filter((nombre) => nombre.startsWith('repartidor-') && nombre !== CACHE)
      await Promise.all(viejas.map((nombre) => caches.delete(nombre)))
      await yo.clients.claim()
    })(),
  )
})

yo.addEventListener('message', (evento) => {
  // A new version waits until the courier asks for it, or until no tab shows the old version.
  if (evento.data === 'activar') yo.skipWaiting()
  if (evento.data === 'guardar-lector') evento.waitUntil(guardarLector())
})

/**
 * Stores the library that reads codes. It is large, so the page asks for it only if the browser has no reader of its
 * own.
 */
async function guardarLector() {
  const cache = await caches.open(CACHE)
  for (const peticion of direcciones(CASCO.luego)) if (!(await cache.match(peticion))) await cache.add(peticion)
}

yo.addEventListener('fetch', (evento) => {
  const { request } = evento
  const url = request.url.split(/[?#]/)[0]!
  const propia = request.mode === 'navigate' ? url === PAGINA : url.startsWith(`${RAIZ.href}recursos/`)
  // All other requests go to the network unchanged, because the service worker must not keep responses with personal
  // data.
  if (request.method !== 'GET' || !propia) return
  evento.respondWith(caches.match(url, { ignoreVary: true }).then((guardada) => guardada ?? fetch(request)))
})

yo.addEventListener('sync', (evento) => {
  const pedido = evento as ExtendableEvent & { tag: string }
  if (pedido.tag === 'cola') pedido.waitUntil(sincronizar())
})

/**
 * Sends the queue on behalf of the browser. After a failure the browser tries again, with growing delays.
 * @throws Error if the queue has to be sent again
 */
async function sincronizar() {
  const fin = await enviarCola()
  if (fin === 'sin_red' || fin === 'luego') throw new Error(fin)
}
