// Client of the courier's API: responses, missing responses, and the difference between the server's clock and the
// phone's clock.
import type { AvanceDelDia, GuiaAsignada, Problema } from '../../../generated/contract/types/index.ts'
import { readSetting, setSetting } from './store/base.ts'
import type { GuiaDeReparto, Sesion } from './vocabulary.ts'

/**
 * Base URL of the courier's API, below the page's own address. The service worker's script is one path segment deeper.
 */
const V1 = new URL('document' in globalThis ? 'repartidor/v1/' : 'v1/', location.href)
const RESPONSE_DEADLINE_MS = 30_000
/** Time limit for uploading a photo over a bad connection, in milliseconds. */
const UPLOAD_DEADLINE_MS = 180_000
/** Clock difference that counts as noise, in milliseconds, because the `Date` header has whole seconds. */
const CLOCK_NOISE_MS = 2_000
const MAX_ROUND_TRIP_MS = 10_000

/** Error for a request without a response from the service. */
export class NoResponseError extends Error {}

/** Response of the courier's API. */
export interface ApiResponse<T> {
  status: number
  /** Body of a 2xx response. */
  body: T
  /** Problem that any other response reports. */
  problema: Partial<Problema>
  /** Milliseconds to wait before the next request; null unless the server asked for a wait. */
  waitSeconds: number | null
  /** Server's clock at the response, rounded up, in milliseconds since the epoch; 0 if unknown. */
  serverTime: number
}

/**
 * True if the last request got a response. A phone in a network without internet access also believes that it is
 * online.
 */
let isReachable = true
const listeners = new Set<(isReachable: boolean) => void>()
function recordReachable(nowReachable: boolean) {
  if (nowReachable === isReachable) return
  isReachable = nowReachable
  for (const listener of listeners) listener(nowReachable)
}
addEventListener('online', () => recordReachable(true))
/** Tells whether the last request got a response. */
export const isServiceReachable = () => isReachable
/**
 * Calls `listener` when the service becomes reachable or unreachable.
 * @returns a function that removes the listener
 */
export function onReachable(listener: (isReachable: boolean) => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/**
 * Sends a request to the service, and records whether the service responded.
 * @throws NoResponseError if no response arrives; the server may have performed the request all the same
 */
export async function requestApi<T>(...args: Parameters<typeof sendOnce<T>>): Promise<ApiResponse<T>> {
  try {
    const response = await sendOnce<T>(...args)
    recordReachable(true)
    return response
  } catch (error) {
    if (error instanceof NoResponseError) recordReachable(false)
    throw error
  }
}

/**
 * Sends a request to the service.
 * @throws NoResponseError if no response arrives; the server may have performed the request all the same
 */
async function sendOnce<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object | Blob,
): Promise<ApiResponse<T>> {
  const sentAt = Date.now()
  const isUpload = body instanceof Blob
  let response: Response
  let text: string
  try {
    response = await fetch(new URL(path, V1), {
      method,
      cache: 'no-store',
      headers: body ? { 'Content-Type': isUpload ? body.type : 'application/json' } : {},
      body: body ? (isUpload ? body : JSON.stringify(body)) : null,
      signal: deadlineSignal(isUpload ? UPLOAD_DEADLINE_MS : RESPONSE_DEADLINE_MS),
    })
    text = await response.text()
  } catch {
    throw new NoResponseError()
  }
  const parsed = parseJson(text)
  // A captive portal of a Wi-Fi network answers every request with its own page, which is not a response of the
  // service. Only a proxy on the way sends a 413, so that status counts.
  if (parsed === undefined && response.status < 500 && ![204, 413].includes(response.status))
    throw new NoResponseError()
  const serverTime = Date.parse(response.headers.get('Date') ?? '')
  if (serverTime) await measureClock(serverTime, sentAt, Date.now())
  return {
    status: response.status,
    body: parsed as T,
    problema: response.ok ? {} : ((parsed ?? {}) as Partial<Problema>),
    waitSeconds: readRetryAfter(response.headers.get('Retry-After')),
    serverTime: serverTime ? serverTime + 999 : 0,
  }
}

function deadlineSignal(ms: number): AbortSignal {
  const abortController = new AbortController()
  setTimeout(() => abortController.abort(), ms)
  return abortController.signal
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value ?? undefined) : undefined
  } catch {
    return undefined
  }
}

/** Longest pause that the service may ask for, in milliseconds. */
export const MAX_PAUSE_MS = 3_600_000

function readRetryAfter(header: string | null): number | null {
  if (header === null) return null
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 1_000), MAX_PAUSE_MS) : null
}

async function measureClock(serverTime: number, sentAt: number, receivedAt: number) {
  if (receivedAt - sentAt > MAX_ROUND_TRIP_MS) return
  const measured = Math.round(serverTime + 500 - (sentAt + receivedAt) / 2)
  const clockOffset = Math.abs(measured) < CLOCK_NOISE_MS ? 0 : measured
  const previousOffset = await readSetting('clockOffset')
  if (
    previousOffset === undefined ||
    (previousOffset !== clockOffset && Math.abs(previousOffset - clockOffset) > CLOCK_NOISE_MS / 2)
  ) {
    await setSetting('clockOffset', clockOffset)
  }
}

/** Signs a courier in with the courier's code. */
export const requestSignIn = (codigo: string) => requestApi<Sesion>('POST', 'sesion', { codigo })
/** Reads the current session. */
export const requestSesion = () => requestApi<Sesion>('GET', 'sesion')
/** Tells whether a response means that no courier is signed in on the server. */
export const isSignedOut = ({ status }: ApiResponse<unknown>) => status === 204 || status === 401
/** Signs the courier out. */
export const requestSignOut = () => requestApi<undefined>('DELETE', 'sesion')
export const readGuia = (guia: string) => requestApi<GuiaDeReparto>('GET', `guias/${guia}`)
/** Guides that the courier carries, those that are assigned to the courier, and those that the courier finished today. */
export interface OwnGuias {
  datos: GuiaDeReparto[]
  asignadas: GuiaAsignada[]
  hoy: AvanceDelDia
}
/** Reads the guides of the courier's day. */
export const requestOwnGuias = () => requestApi<OwnGuias>('GET', 'guias')
/**
 * Reads guides by their codes. Codes without a guide are returned in `desconocidas`, guides that the courier may not see
 * in `sin_asignar`.
 */
export const requestGuias = (guias: readonly string[]) =>
  requestApi<{ datos: GuiaDeReparto[]; desconocidas: string[]; sin_asignar: string[] }>(
    'GET',
    `guias?${guias.map((guia) => `guia=${guia}`).join('&')}`,
  )
