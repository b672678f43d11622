// Queue through which every action leaves the phone. Actions leave in order, until the server has acknowledged all of
// them. A guide whose action fails does not stop the other guides.

import { type ApiResponse, nadieDentro, PAUSA_MAXIMA_MS, pedirSalida, SinRed, verSesion } from './api.ts'
import {
  aplazarEnvio,
  ESPERA_MAXIMA_MS,
  ESPERA_MS,
  ESPERA_TOPE_MS,
  enviarAccion,
  enviarJuntas,
  MAX_ACCIONES_POR_ENVIO,
  vaConOtras,
} from './enviar.ts'
import { refrescar } from './refrescar.ts'
import { acciones, accion as leerAccion } from './store/acciones.ts'
import { type Accion, alCambiar, leerAjuste, ponerAjuste } from './store/base.ts'

/**
 * Result of sending the queue. `hecho`: every action that could leave was sent. `sin_red`: no network. `sin_sesion`: a
 * courier has to sign in first. `luego`: try again later.
 */
export type SendRound = 'hecho' | 'sin_red' | 'sin_sesion' | 'luego'

/**
 * Runs `hacer` while no other call runs. Signing in, signing out and sending use it, so that no action leaves under the
 * session of another courier.
 */
export function aSolas<T>(hacer: () => Promise<T>): Promise<T> {
  if (navigator.locks) return navigator.locks.request('repartidor-envio', hacer)
  // Without Web Locks, calls exclude each other only within one tab. `idempotencia` still prevents two tabs from
  // performing an action twice.
  const hecho = ultima.then(hacer)
  ultima = hecho.catch(() => {})
  return hecho
}
let ultima: Promise<unknown> = Promise.resolve()

let enEspera: Promise<SendRound> | undefined

/**
 * Sends the queue, after any sending already in progress. Calls that arrive before the sending starts share its result.
 */
export function enviarCola(): Promise<SendRound> {
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

async function ronda(): Promise<SendRound> {
  try {
    if (falta((await leerAjuste('pausa')) ?? 0, PAUSA_MAXIMA_MS)) return 'luego'
    if (await leerAjuste('salir')) {
      const dicho = await pedirSalida()
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
    anunciar([])
  }
}

/**
 * Tells whether a time is still in the future. A time more than `maximo` milliseconds ahead does not count, because
 * then the phone's clock was set back after the time was stored.
 */
function falta(hasta: number, maximo: number) {
  const ms = hasta - Date.now()
  return ms > 0 && ms <= maximo
}

/**
 * Sends a courier's actions in the order in which they happened. An action that waits or was refused holds back the
 * later actions of its guide. Consecutive actions of different guides leave in one request if they can.
 */
async function enviarLasDe(repartidor: string): Promise<SendRound> {
  const detenidas = new Set<string>()
  let resultado: SendRound = 'hecho'
  let juntas: Accion[] = []
  /** Sends the collected actions. Returns the result of the round if the round ends with them. */
  const enviar = async (): Promise<SendRound | undefined> => {
    const unas = juntas
    juntas = []
    if (unas.length === 0) return undefined
    anunciar(unas.map(({ orden }) => orden))
    const fines = unas.length === 1 ? [await enviarAccion(unas[0]!)] : await enviarJuntas(unas)
    if (fines.includes('sin_sesion')) return perderSesion()
    if (fines.includes('pausa')) return 'luego'
    if (fines.includes('luego')) resultado = 'luego'
    for (const [i, fin] of fines.entries()) if (fin !== 'enviada') detenidas.add(unas[i]!.guia)
    return undefined
  }
  for (const { orden, guia, ...una } of await acciones()) {
    if (una.situacion === 'enviada' || una.repartidor !== repartidor) continue
    const actual = await leerAccion(orden)
    if (!actual) continue
    const cabe =
      juntas.length < MAX_ACCIONES_POR_ENVIO &&
      [...juntas, actual].every(vaConOtras) &&
      juntas.every((otra) => otra.guia !== guia)
    const fin = cabe ? undefined : await enviar()
    if (fin) return fin
    if (detenidas.has(guia)) continue
    if (actual.situacion === 'atencion' || falta(actual.noAntesDe, ESPERA_TOPE_MS)) {
      detenidas.add(guia)
      if (actual.situacion === 'pendiente') resultado = 'luego'
      continue
    }
    juntas.push(actual)
  }
  return (await enviar()) ?? resultado
}

async function luego(respuesta: ApiResponse<unknown>): Promise<SendRound> {
  await aplazarEnvio(respuesta)
  return 'luego'
}

async function perderSesion(): Promise<SendRound> {
  const sesion = await leerAjuste('sesion')
  if (sesion?.vigente) await ponerAjuste('sesion', { ...sesion, vigente: false })
  return 'sin_sesion'
}

// --- Actions that are being sent, for the screens ---

const canal = new BroadcastChannel('repartidor-enviando')
const oyentes = new Set<(ordenes: readonly number[]) => void>()
canal.addEventListener('message', ({ data }) => {
  for (const oyente of oyentes) oyente(data)
})
function anunciar(ordenes: readonly number[]) {
  for (const oyente of oyentes) oyente(ordenes)
  canal.postMessage(ordenes)
}
/**
 * Calls `oyente` with the numbers of the actions that are being sent. Reports from other tabs and the service worker
 * count too.
 * @returns a function that removes the listener
 */
export function alEnviar(oyente: (ordenes: readonly number[]) => void) {
  oyentes.add(oyente)
  return () => void oyentes.delete(oyente)
}

// --- Times at which to send ---

let reloj: ReturnType<typeof setTimeout> | undefined
let fallos = 0

async function turno() {
  clearTimeout(reloj)
  const fin = await enviarCola().catch(() => 'luego' as const)
  fallos = fin === 'hecho' ? 0 : fallos + 1
  clearTimeout(reloj)
  // Sent actions may have changed which guides the courier carries, so the list is fetched again.
  if (fin === 'hecho') refrescar()
  if (fin === 'sin_red' || fin === 'luego') {
    reloj = setTimeout(turno, Math.min(ESPERA_MAXIMA_MS, (ESPERA_MS / 2) * 2 ** Math.min(fallos, 8)))
  }
}

/** Sends the queue now, and resets the count of failures. */
export function enviarAhora() {
  fallos = 0
  turno()
}

/** Sends the queue whenever it may have actions and a way to send them. Called once per page. */
export function vigilarCola() {
  addEventListener('online', enviarAhora)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && enviarAhora())
  // Only new actions, of any tab, start a sending. Highest numbers are compared instead of counts, because one action
  // may be sent while another is added.
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

/** Asks the browser to wake the service worker when coverage returns, even if the page is closed by then. */
async function pedirSincronizacion() {
  const registro = await navigator.serviceWorker?.ready.catch(() => undefined)
  const { sync } = (registro ?? {}) as { sync?: { register(etiqueta: string): Promise<void> } }
  await sync?.register('cola').catch(() => {})
}
