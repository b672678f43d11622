// Client of the courier's API: responses, missing responses, and the difference between the server's clock and the
// phone's clock.
import type { AvanceDelDia, GuiaAsignada, Problema } from '../../../generado/contrato/tipos/index.ts'
import type { GuiaDeReparto, Sesion } from './dominio.ts'
import { leerAjuste, ponerAjuste } from './store/base.ts'

/**
 * Base URL of the courier's API, below the page's own address. The service worker's script is one path segment deeper.
 */
const V1 = new URL('document' in globalThis ? 'repartidor/v1/' : 'v1/', location.href)
const PLAZO_MS = 30_000
/** Time limit for uploading a photo over a bad connection, in milliseconds. */
const PLAZO_DE_SUBIDA_MS = 180_000
/** Clock difference that counts as noise, in milliseconds, because the `Date` header has whole seconds. */
const RUIDO_MS = 2_000
const VIAJE_MAXIMO_MS = 10_000

/** Error for a request without a response from the service. */
export class SinRed extends Error {}

/** Response of the courier's API. */
export interface ApiResponse<T> {
  status: number
  /** Body of a 2xx response. */
  cuerpo: T
  /** Problem that any other response reports. */
  problema: Partial<Problema>
  /** Milliseconds to wait before the next request; null unless the server asked for a wait. */
  esperar: number | null
  /** Server's clock at the response, rounded up, in milliseconds since the epoch; 0 if unknown. */
  servidor: number
}

/**
 * True if the last request got a response. A phone in a network without internet access also believes that it is
 * online.
 */
let alcanzable = true
const oyentes = new Set<(alcanzable: boolean) => void>()
function anotar(si: boolean) {
  if (si === alcanzable) return
  alcanzable = si
  for (const oyente of oyentes) oyente(si)
}
addEventListener('online', () => anotar(true))
/** Tells whether the last request got a response. */
export const hayServicio = () => alcanzable
/**
 * Calls `oyente` when the service becomes reachable or unreachable.
 * @returns a function that removes the listener
 */
export function alAlcanzar(oyente: (alcanzable: boolean) => void) {
  oyentes.add(oyente)
  return () => void oyentes.delete(oyente)
}

/**
 * Sends a request to the service, and records whether the service responded.
 * @throws SinRed if no response arrives; the server may have performed the request all the same
 */
export async function pedir<T>(...que: Parameters<typeof ir<T>>): Promise<ApiResponse<T>> {
  try {
    const respuesta = await ir<T>(...que)
    anotar(true)
    return respuesta
  } catch (error) {
    if (error instanceof SinRed) anotar(false)
    throw error
  }
}

/**
 * Sends a request to the service.
 * @throws SinRed if no response arrives; the server may have performed the request all the same
 */
async function ir<T>(metodo: 'GET' | 'POST' | 'DELETE', ruta: string, cuerpo?: object | Blob): Promise<ApiResponse<T>> {
  const salida = Date.now()
  const subida = cuerpo instanceof Blob
  let respuesta: Response
  let texto: string
  try {
    respuesta = await fetch(new URL(ruta, V1), {
      method: metodo,
      cache: 'no-store',
      headers: cuerpo ? { 'Content-Type': subida ? cuerpo.type : 'application/json' } : {},
      body: cuerpo ? (subida ? cuerpo : JSON.stringify(cuerpo)) : null,
      signal: plazo(subida ? PLAZO_DE_SUBIDA_MS : PLAZO_MS),
    })
    texto = await respuesta.text()
  } catch {
    throw new SinRed()
  }
  const leido = interpretar(texto)
  // A captive portal of a Wi-Fi network answers every request with its own page, which is not a response of the
  // service. Only a proxy on the way sends a 413, so that status counts.
  if (leido === undefined && respuesta.status < 500 && ![204, 413].includes(respuesta.status)) throw new SinRed()
  const servidor = Date.parse(respuesta.headers.get('Date') ?? '')
  if (servidor) await medirReloj(servidor, salida, Date.now())
  return {
    status: respuesta.status,
    cuerpo: leido as T,
    problema: respuesta.ok ? {} : ((leido ?? {}) as Partial<Problema>),
    esperar: leerEspera(respuesta.headers.get('Retry-After')),
    servidor: servidor ? servidor + 999 : 0,
  }
}

function plazo(ms: number): AbortSignal {
  const corte = new AbortController()
  setTimeout(() => corte.abort(), ms)
  return corte.signal
}

function interpretar(texto: string): unknown {
  try {
    const valor: unknown = JSON.parse(texto)
    return typeof valor === 'object' ? (valor ?? undefined) : undefined
  } catch {
    return undefined
  }
}

/** Longest pause that the service may ask for, in milliseconds. */
export const PAUSA_MAXIMA_MS = 3_600_000

function leerEspera(cabecera: string | null): number | null {
  if (cabecera === null) return null
  const segundos = Number(cabecera)
  const ms = Number.isFinite(segundos) ? segundos * 1000 : Date.parse(cabecera) - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 1_000), PAUSA_MAXIMA_MS) : null
}

async function medirReloj(servidor: number, salida: number, llegada: number) {
  if (llegada - salida > VIAJE_MAXIMO_MS) return
  const medido = Math.round(servidor + 500 - (salida + llegada) / 2)
  const desfase = Math.abs(medido) < RUIDO_MS ? 0 : medido
  const previo = await leerAjuste('desfase')
  if (previo === undefined || (previo !== desfase && Math.abs(previo - desfase) > RUIDO_MS / 2)) {
    await ponerAjuste('desfase', desfase)
  }
}

/** Signs a courier in with the courier's code. */
export const pedirSesion = (codigo: string) => pedir<Sesion>('POST', 'sesion', { codigo })
/** Reads the current session. */
export const verSesion = () => pedir<Sesion>('GET', 'sesion')
/** Tells whether a response means that no courier is signed in on the server. */
export const nadieDentro = ({ status }: ApiResponse<unknown>) => status === 204 || status === 401
/** Signs the courier out. */
export const pedirSalida = () => pedir<undefined>('DELETE', 'sesion')
/** Reads a guide. */
export const leerGuia = (guia: string) => pedir<GuiaDeReparto>('GET', `guias/${guia}`)
/** Guides that the courier carries, those that are assigned to the courier, and those that the courier finished today. */
export interface Suyas {
  datos: GuiaDeReparto[]
  asignadas: GuiaAsignada[]
  hoy: AvanceDelDia
}
/** Reads the guides of the courier's day. */
export const pedirSuyas = () => pedir<Suyas>('GET', 'guias')
/**
 * Reads guides by their codes. Codes without a guide are returned in `desconocidas`, guides that the courier may not see
 * in `sin_asignar`.
 */
export const pedirGuias = (guias: readonly string[]) =>
  pedir<{ datos: GuiaDeReparto[]; desconocidas: string[]; sin_asignar: string[] }>(
    'GET',
    `guias?${guias.map((una) => `guia=${una}`).join('&')}`,
  )
