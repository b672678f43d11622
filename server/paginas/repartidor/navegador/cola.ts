// The one way out: actions leave in order, each guide's on its own, until the server has acknowledged every one of them.
import { acciones, accion as leerAccion } from './almacen/acciones.ts'
import { alCambiar, leerAjuste, ponerAjuste } from './almacen/base.ts'
import { cerrarSesion, nadieDentro, PAUSA_MAXIMA_MS, type Respuesta, SinRed, verSesion } from './api.ts'
import { aplazar, ESPERA_MAXIMA_MS, ESPERA_MS, ESPERA_TOPE_MS, enviarAccion } from './enviar.ts'
import { refrescar } from './refrescar.ts'

/**
 * How sending the queue ended: all went that could go, there is no network, somebody has to sign in first, or something is to
 * be tried again later.
 */
export type Ronda = 'hecho' | 'sin_red' | 'sin_sesion' | 'luego'

/** Runs what must not overlap, so that nothing goes out under another's session: signing in, signing out and sending. */
export function aSolas<T>(hacer: () => Promise<T>): Promise<T> {
  if (navigator.locks) return navigator.locks.request('repartidor-envio', hacer)
  // Of this tab alone. Of two, `idempotencia` still keeps both from doing a thing twice.
  const hecho = ultima.then(hacer)
  ultima = hecho.catch(() => {})
  return hecho
}
let ultima: Promise<unknown> = Promise.resolve()

let enEspera: Promise<Ronda> | undefined

/** Sends the queue, after whoever is sending already; callers meanwhile share one turn. */
export function enviarCola(): Promise<Ronda> {
  enEspera ??= Promise.resolve()
    .then(() =>
      aSolas(() => {
        enEspera = undefined
        return ronda()
      }),
    )
    .catch((error) => {
      enEspera = undefined
      throw error
    })
  return enEspera
}

async function ronda(): Promise<Ronda> {
  try {
    if (falta((await leerAjuste('pausa')) ?? 0, PAUSA_MAXIMA_MS)) return 'luego'
    if (await leerAjuste('salir')) {
      const dicho = await cerrarSesion()
      if (!nadieDentro(dicho)) return await luego(dicho)
      await ponerAjuste('salir', undefined)
    }
    if (!(await acciones()).some(({ situacion }) => situacion === 'pendiente')) return 'hecho'
    const quien = await verSesion()
    if (quien.status === 401) return await perderSesion()
    if (quien.status !== 200) return await luego(quien)
    return await enviarLasDe(quien.cuerpo.repartidor)
  } catch (error) {
    if (error instanceof SinRed) return 'sin_red'
    throw error
  } finally {
    anunciar(null)
  }
}

/** Whether it is too early. More than anybody ever waits was set by a clock that has been set back since. */
function falta(hasta: number, maximo: number) {
  const ms = hasta - Date.now()
  return ms > 0 && ms <= maximo
}

/** In the order in which they were done; what waits or was refused holds back its own guide's later ones. */
async function enviarLasDe(repartidor: string): Promise<Ronda> {
  const detenidas = new Set<string>()
  let resultado: Ronda = 'hecho'
  for (const { orden, guia } of await acciones()) {
    const actual = await leerAccion(orden)
    if (!actual || actual.situacion === 'enviada' || actual.repartidor !== repartidor || detenidas.has(guia)) continue
    if (actual.situacion === 'atencion' || falta(actual.noAntesDe, ESPERA_TOPE_MS)) {
      detenidas.add(guia)
      if (actual.situacion === 'pendiente') resultado = 'luego'
      continue
    }
    anunciar(orden)
    const fin = await enviarAccion(actual)
    if (fin === 'sin_sesion') return perderSesion()
    if (fin === 'pausa') return 'luego'
    if (fin !== 'enviada') detenidas.add(guia)
    if (fin === 'luego') resultado = 'luego'
  }
  return resultado
}

async function luego(respuesta: Respuesta<unknown>): Promise<Ronda> {
  await aplazar(respuesta)
  return 'luego'
}

async function perderSesion(): Promise<Ronda> {
  const sesion = await leerAjuste('sesion')
  if (sesion?.vigente) await ponerAjuste('sesion', { ...sesion, vigente: false })
  return 'sin_sesion'
}

// --- What is being sent, for whoever shows it ---

const canal = new BroadcastChannel('repartidor-enviando')
const oyentes = new Set<(orden: number | null) => void>()
canal.addEventListener('message', ({ data }) => {
  for (const oyente of oyentes) oyente(data)
})
function anunciar(orden: number | null) {
  for (const oyente of oyentes) oyente(orden)
  canal.postMessage(orden)
}
/** Calls `oyente` with the action that is being sent, or null, in whichever tab or worker. */
export function alEnviar(oyente: (orden: number | null) => void) {
  oyentes.add(oyente)
  return () => void oyentes.delete(oyente)
}

// --- When to try ---

let reloj: ReturnType<typeof setTimeout> | undefined
let fallos = 0

async function turno() {
  clearTimeout(reloj)
  const fin = await enviarCola().catch(() => 'luego' as const)
  fallos = fin === 'hecho' ? 0 : fallos + 1
  clearTimeout(reloj)
  // What was sent may have changed what the courier carries.
  if (fin === 'hecho') refrescar()
  if (fin === 'sin_red' || fin === 'luego') {
    reloj = setTimeout(turno, Math.min(ESPERA_MAXIMA_MS, (ESPERA_MS / 2) * 2 ** Math.min(fallos, 8)))
  }
}

/** Sends the queue now, however often it failed before. */
export function enviarAhora() {
  fallos = 0
  turno()
}

/** Sends the queue whenever there may be something in it and a way to send it; called once per page. */
export function vigilarCola() {
  addEventListener('online', enviarAhora)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && enviarAhora())
  // A new action in this tab or another; what else is written while sending is the sender's own.
  // Which they are, not how many: one may have gone by the time another is seen.
  let pendientes = new Set<number>()
  alCambiar(async () => {
    const ahora = (await acciones()).filter(({ situacion }) => situacion === 'pendiente').map(({ orden }) => orden)
    const antes = pendientes
    pendientes = new Set(ahora)
    if (ahora.every((orden) => antes.has(orden))) return
    enviarAhora()
    pedirSincronizacion()
  })
  enviarAhora()
}

/** The browser wakes the service worker when there is coverage, even if the page is closed by then. */
async function pedirSincronizacion() {
  const registro = await navigator.serviceWorker?.ready.catch(() => undefined)
  const { sync } = (registro ?? {}) as { sync?: { register(etiqueta: string): Promise<void> } }
  await sync?.register('cola').catch(() => {})
}
