// Queue through which every action leaves the phone. Actions leave in order, until the server has acknowledged all of
// them. A guide whose action fails does not stop the other guides.

import { type ApiResponse, isSignedOut, MAX_PAUSE_MS, NoResponseError, requestSesion, requestSignOut } from './api.ts'
import { refreshGuias } from './refresh.ts'
import {
  canBeBatched,
  MAX_ACTIONS_PER_REQUEST,
  MAX_RETRY_DELAY_MS,
  postponeSending,
  RETRY_DELAY_LIMIT_MS,
  RETRY_DELAY_MS,
  sendAction,
  sendBatch,
} from './send.ts'
import { canBeUndone, isAhead, readAction, readActions } from './store/actions.ts'
import { type CourierAction, onStoreChange, readSetting, setSetting } from './store/base.ts'

/**
 * Result of sending the queue. `hecho`: every action that could leave was sent. `sin_red`: no network. `sin_sesion`: a
 * courier has to sign in first. `luego`: try again later.
 */
export type SendRound = 'hecho' | 'sin_red' | 'sin_sesion' | 'luego'

/**
 * Runs `run` while no other call runs. Signing in, signing out and sending use it, so that no action leaves under the
 * session of another courier.
 */
export function runExclusively<T>(run: () => Promise<T>): Promise<T> {
  if (navigator.locks) return navigator.locks.request('repartidor-envio', run)
  // Without Web Locks, calls exclude each other only within one tab. `idempotencia` still prevents two tabs from
  // performing an action twice.
  const result = last.then(run)
  last = result.catch(() => {})
  return result
}
let last: Promise<unknown> = Promise.resolve()

let waitingRound: Promise<SendRound> | undefined

/**
 * Sends the queue, after any sending already in progress. Calls that arrive before the sending starts share its result.
 */
export function sendQueue(): Promise<SendRound> {
  waitingRound ??= Promise.resolve()
    .then(() =>
      runExclusively(() => {
        waitingRound = undefined
        return runRound()
      }),
    )
    .catch((error) => {
      waitingRound = undefined
      throw error
    })
  return waitingRound
}

async function runRound(): Promise<SendRound> {
  try {
    if (isAhead((await readSetting('pausedUntil')) ?? 0, MAX_PAUSE_MS)) return 'luego'
    if (await readSetting('isSigningOut')) {
      const response = await requestSignOut()
      if (!isSignedOut(response)) return await postponeRound(response)
      await setSetting('isSigningOut', undefined)
    }
    if (!(await readActions()).some(({ status }) => status === 'pendiente')) return 'hecho'
    const caller = await requestSesion()
    if (caller.status === 401) return await loseSesion()
    if (caller.status !== 200) return await postponeRound(caller)
    return await sendActionsOf(caller.body.repartidor)
  } catch (error) {
    if (error instanceof NoResponseError) return 'sin_red'
    throw error
  } finally {
    announce([])
  }
}

/**
 * Sends a courier's actions in the order in which they happened. An action that waits or was refused holds back the
 * later actions of its guide. Consecutive actions of different guides leave in one request if they can.
 */
async function sendActionsOf(repartidor: string): Promise<SendRound> {
  const stoppedGuias = new Set<string>()
  let result: SendRound = 'hecho'
  let collectedActions: CourierAction[] = []
  /** Sends the collected actions. Returns the result of the round if the round ends with them. */
  const sendCollected = async (): Promise<SendRound | undefined> => {
    const batch = collectedActions
    collectedActions = []
    if (batch.length === 0) return undefined
    announce(batch.map(({ order }) => order))
    const fines = batch.length === 1 ? [await sendAction(batch[0]!)] : await sendBatch(batch)
    if (fines.includes('sin_sesion')) return loseSesion()
    if (fines.includes('pausa')) return 'luego'
    if (fines.includes('luego')) result = 'luego'
    for (const [i, outcome] of fines.entries()) if (outcome !== 'enviada') stoppedGuias.add(batch[i]!.guia)
    return undefined
  }
  for (const { order, guia, ...queued } of await readActions()) {
    if (queued.status === 'enviada' || queued.repartidor !== repartidor) continue
    const current = await readAction(order)
    if (!current) continue
    const fits =
      collectedActions.length < MAX_ACTIONS_PER_REQUEST &&
      [...collectedActions, current].every(canBeBatched) &&
      collectedActions.every((collected) => collected.guia !== guia)
    const outcome = fits ? undefined : await sendCollected()
    if (outcome) return outcome
    if (stoppedGuias.has(guia)) continue
    if (current.status === 'atencion' || isAhead(current.notBefore, RETRY_DELAY_LIMIT_MS)) {
      stoppedGuias.add(guia)
      if (current.status === 'pendiente') result = 'luego'
      continue
    }
    collectedActions.push(current)
  }
  return (await sendCollected()) ?? result
}

async function postponeRound(response: ApiResponse<unknown>): Promise<SendRound> {
  await postponeSending(response)
  return 'luego'
}

async function loseSesion(): Promise<SendRound> {
  const sesion = await readSetting('sesion')
  if (sesion?.isActive) await setSetting('sesion', { ...sesion, isActive: false })
  return 'sin_sesion'
}

// --- Actions that are being sent, for the screens ---

const canal = new BroadcastChannel('repartidor-enviando')
const listeners = new Set<(actionNumbers: readonly number[]) => void>()
canal.addEventListener('message', ({ data }) => {
  for (const listener of listeners) listener(data)
})
function announce(actionNumbers: readonly number[]) {
  for (const listener of listeners) listener(actionNumbers)
  canal.postMessage(actionNumbers)
}
/**
 * Calls `listener` with the numbers of the actions that are being sent. Reports from other tabs and the service worker
 * count too.
 * @returns a function that removes the listener
 */
export function onSending(listener: (actionNumbers: readonly number[]) => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

// --- Times at which to send ---

let timer: ReturnType<typeof setTimeout> | undefined
let failures = 0

async function turn() {
  clearTimeout(timer)
  const outcome = await sendQueue().catch(() => 'luego' as const)
  failures = outcome === 'hecho' ? 0 : failures + 1
  clearTimeout(timer)
  // Sent actions may have changed which guides the courier carries, so the list is fetched again.
  if (outcome === 'hecho') refreshGuias()
  if (outcome === 'sin_red' || outcome === 'luego') {
    timer = setTimeout(turn, Math.min(MAX_RETRY_DELAY_MS, (RETRY_DELAY_MS / 2) * 2 ** Math.min(failures, 8)))
  }
}

/** Sends the queue now, and resets the count of failures. */
export function sendNow() {
  failures = 0
  turn()
}

/** Sends the queue whenever it may have actions and a way to send them. Called once per page. */
export function watchQueue() {
  addEventListener('online', sendNow)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && sendNow())
  // Only new actions, of any tab, start a sending, once they can no longer be undone. Numbers are compared instead of
  // counts, because one action may be sent while another is added.
  let pending = new Set<number>()
  let undoTimer: ReturnType<typeof setTimeout> | undefined
  const check = async () => {
    const waiting = (await readActions()).filter(({ status }) => status === 'pendiente')
    const stillOpen = waiting.filter(canBeUndone)
    clearTimeout(undoTimer)
    if (stillOpen.length > 0) {
      requestSync()
      // The screen that offers to undo may be gone by then, and a phone may know no background sync.
      undoTimer = setTimeout(check, Math.min(...stillOpen.map(({ notBefore }) => notBefore)) - Date.now())
    }
    const now = waiting.filter((action) => !stillOpen.includes(action)).map(({ order }) => order)
    const before = pending
    pending = new Set(now)
    if (now.every((order) => before.has(order))) return
    sendNow()
    requestSync()
  }
  onStoreChange(check)
  sendNow()
}

/** Asks the browser to wake the service worker when coverage returns, even if the page is closed by then. */
async function requestSync() {
  const registro = await navigator.serviceWorker?.ready.catch(() => undefined)
  const { sync } = (registro ?? {}) as { sync?: { register(etiqueta: string): Promise<void> } }
  await sync?.register('cola').catch(() => {})
}
