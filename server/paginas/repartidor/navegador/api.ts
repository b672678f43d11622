// The service, as seen from a phone: answers, no answer, and what its clock says.
import type { Problema } from '../../../contrato/generado/tipos/index.ts'
import { leerAjuste, ponerAjuste } from './almacen/base.ts'
import type { GuiaDeReparto, Sesion } from './dominio.ts'

/** The courier's API, below the page's own address; a service worker's script lies one step deeper. */
const V1 = new URL('document' in globalThis ? 'repartidor/v1/' : 'v1/', location.href)
const PLAZO_MS = 30_000
/** How long a photo may take over a bad connection. */
const PLAZO_DE_SUBIDA_MS = 180_000
/** A difference between clocks that is noise, since `Date` has whole seconds. */
const RUIDO_MS = 2_000
const VIAJE_MAXIMO_MS = 10_000

export class SinRed extends Error {}

export interface Respuesta<T> {
  status: number
  /** The body of a 2xx. */
  cuerpo: T
  /** The problem that any other answer tells. */
  problema: Partial<Problema>
  /** For how many milliseconds to wait; null unless the server said so. */
  esperar: number | null
  /** The server's clock at the answer, rounded up. */
  servidor: number
}

/**
 * Whether the last request was answered: a phone that is connected to a network without a way out believes to be online.
 */
let alcanzable = true
const oyentes = new Set<(alcanzable: boolean) => void>()
function anotar(si: boolean) {
  if (si === alcanzable) return
  alcanzable = si
  for (const oyente of oyentes) oyente(si)
}
addEventListener('online', () => anotar(true))
export const hayServicio = () => alcanzable
export function alAlcanzar(oyente: (alcanzable: boolean) => void) {
  oyentes.add(oyente)
  return () => void oyentes.delete(oyente)
}

/**
 * Asks the service something, and remembers whether it answered.
 * @throws SinRed
 */
export async function pedir<T>(...que: Parameters<typeof ir<T>>): Promise<Respuesta<T>> {
  try {
    const respuesta = await ir<T>(...que)
    anotar(true)
    return respuesta
  } catch (error) {
    if (error instanceof SinRed) anotar(false)
    throw error
  }
}

/** @throws SinRed when there was no answer: the server may have done it all the same */
async function ir<T>(metodo: 'GET' | 'POST' | 'DELETE', ruta: string, cuerpo?: object | Blob): Promise<Respuesta<T>> {
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
  // A portal of some Wi-Fi answers everything with a page of its own: that is no answer of ours. Except that something is
  // too large for a proxy on the way, which no portal says.
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

/** The longest that a service may ask to be left alone, in milliseconds. */
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

export const abrirSesion = (codigo: string) => pedir<Sesion>('POST', 'sesion', { codigo })
export const verSesion = () => pedir<Sesion>('GET', 'sesion')
/** Whether nobody is signed in any more, as far as the service is concerned. */
export const nadieDentro = ({ status }: Respuesta<unknown>) => status === 204 || status === 401
export const cerrarSesion = () => pedir<undefined>('DELETE', 'sesion')
export const leerGuia = (guia: string) => pedir<GuiaDeReparto>('GET', `guias/${guia}`)
/** The guides that the courier carries. */
export const leerSuyas = () => pedir<{ datos: GuiaDeReparto[] }>('GET', 'guias')
export const leerGuias = (guias: readonly string[]) =>
  pedir<{ datos: GuiaDeReparto[]; desconocidas: string[] }>(
    'GET',
    `guias?${guias.map((una) => `guia=${una}`).join('&')}`,
  )
