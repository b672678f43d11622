// The service worker: the page without coverage, and the queue when coverage comes back and the page is closed.
import { enviarCola } from './cola.ts'

/** The files of the page, which `ruta.ts` writes in front of this script. */
declare const CASCO: { version: string; ahora: string[]; luego: string[] }

const yo = self as unknown as ServiceWorkerGlobalScope
const CACHE = `repartidor-${CASCO.version}`
const RAIZ = new URL('.', yo.location.href)
/** The page stands at `…/repartidor`, its files below it. */
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
  // A new version waits until somebody asks for it, or until no tab shows the old one.
  if (evento.data === 'activar') yo.skipWaiting()
  if (evento.data === 'guardar-lector') evento.waitUntil(guardarLector())
})

/** The library that reads codes is heavy: it is kept where the browser has no reader of its own. */
async function guardarLector() {
  const cache = await caches.open(CACHE)
  for (const peticion of direcciones(CASCO.luego)) if (!(await cache.match(peticion))) await cache.add(peticion)
}

yo.addEventListener('fetch', (evento) => {
  const { request } = evento
  const url = request.url.split(/[?#]/)[0]!
  const propia = request.mode === 'navigate' ? url === PAGINA : url.startsWith(`${RAIZ.href}recursos/`)
  // Everything else goes to the network untouched: answers about people are never kept here.
  if (request.method !== 'GET' || !propia) return
  evento.respondWith(caches.match(url, { ignoreVary: true }).then((guardada) => guardada ?? fetch(request)))
})

yo.addEventListener('sync', (evento) => {
  const pedido = evento as ExtendableEvent & { tag: string }
  if (pedido.tag === 'cola') pedido.waitUntil(sincronizar())
})

/** Sends the queue for the browser, which tries a failed one again, later and later. */
async function sincronizar() {
  const fin = await enviarCola()
  if (fin === 'sin_red' || fin === 'luego') throw new Error(fin)
}
