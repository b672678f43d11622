import {
  crearErrorApi,
  ErrorAbortado,
  type ErrorApi,
  ErrorConexion,
  ErrorGuias,
  ErrorRespuesta,
  ErrorTiempo,
  leerEspera,
  nombrarSolicitud,
} from './errores.js'
import { esProblema, type Forma } from './formas.js'
import { type Ajustes, ajustar, type OpcionesConClave, type Registro, type Suceso } from './opciones.js'
import type { Pedido } from './pedido.js'
import { dormir, leerPaso, noSalio, pasara, pausa } from './reintentos.js'
import type { Respuesta } from './solicitud.js'
import { VERSION } from './version.js'

/** Parte de `fetch` que este paquete usa. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Conexion {
  llave: string
  baseUrl: string
  fetch: Fetch
  ajustes: Ajustes
  registro: Registro | undefined
  avisar: (aviso: string) => void
}

/**
 * Builds a request at once, sends it, and repeats it where that is safe. Resolves with the whole answer.
 *
 * @throws ErrorGuias for every failure
 */
export type Enviar = <T>(
  armar: () => Pedido,
  forma: Forma<T>,
  opciones: OpcionesConClave | undefined,
) => Promise<Respuesta<T>>

/** Longest delay of `setTimeout`, in milliseconds. A longer delay would run after 1 ms. */
const PLAZO_MAXIMO = 2 ** 31 - 1
/** Number of 429 answers with `Retry-After` that a request waits for without counting them as retries. */
const LIMITES_SIN_CONTAR = 60

/** Creates the function that sends requests to one service, with its key, deadlines and retries. */
export function crearTransporte({ llave, baseUrl, fetch, ajustes: base, registro, avisar }: Conexion): Enviar {
  /** Milliseconds to keep between two requests, as the last answer's rate limit requires. */
  let paso = 0
  /** Time of the latest request, which may lie in the future. */
  let ultima = 0

  async function intercambiar<T>(pedido: Pedido, forma: Forma<T>, ajustes: Ajustes, intento: number, plazo: number) {
    return conPlazo(plazo, ajustes, async (signal) => {
      const enlace = esEnlace(pedido)
      const respuesta = await fetch(enlace ? pedido.ruta : baseUrl + pedido.ruta, {
        method: pedido.metodo,
        headers: cabecerasDe(pedido, ajustes, llave, intento),
        body: pedido.cuerpo ?? null,
        // A link may lead to the file's storage. The API never redirects, and following would turn a POST into a GET.
        redirect: enlace ? 'follow' : 'manual',
        signal,
      })
      paso = leerPaso(respuesta.headers)
      const [desde, hasta] = ['deprecation', 'sunset'].map((nombre) => respuesta.headers.get(nombre))
      if (desde || hasta)
        avisar(
          `El servicio retira ${pedido.operacion} (Deprecation: ${desde}, Sunset: ${hasta}): actualice el paquete.`,
        )
      const enBytes = enlace ? respuesta.ok : respuesta.headers.get('content-type') === pedido.acepta
      return interpretar(
        respuesta,
        enBytes ? new Uint8Array(await respuesta.arrayBuffer()) : await respuesta.text(),
        forma,
      )
    })
  }

  const sinRespuesta = (causa: unknown, pudoLlegar: boolean) =>
    new ErrorConexion(
      `${pudoLlegar ? 'No hubo respuesta de' : 'No se pudo conectar con'} ${baseUrl}: ${explicar(causa)}. Revise la red y baseUrl. ${pudoLlegar ? SI_REPITE : 'La solicitud no llegó a enviarse.'}`,
      { cause: causa },
      pudoLlegar,
    )

  return async (armar, forma, opciones) => {
    const { pedido, ajustes } = preparar(armar, opciones, base)
    const fin = performance.now() + ajustes.plazoTotal
    let pudoLlegar = false
    let sinContar = 0
    for (let intento = 1; ; intento++) {
      const ahora = performance.now()
      ultima = Math.max(ahora, ultima + paso)
      if (ultima > ahora) await dormir(Math.min(ultima, fin) - ahora, ajustes.signal)
      if (ajustes.signal?.aborted) throw Object.assign(abortada(ajustes.signal), { intentos: intento - 1 })
      const inicio = performance.now()
      const anotar = (suceso: Partial<Suceso>) => registrar(registro, pedido, intento, inicio, suceso)
      try {
        const respuesta = await intercambiar(pedido, forma, ajustes, intento, fin - inicio)
        anotar({ status: respuesta.status, idSolicitud: respuesta.idSolicitud })
        return respuesta
      } catch (causa) {
        // The service may have received an earlier attempt, even if this attempt was never sent.
        const error: ErrorGuias =
          causa instanceof ErrorGuias ? causa : sinRespuesta(causa, pudoLlegar || !noSalio(causa))
        pudoLlegar ||= !pasara(error, false)
        error.intentos = intento
        const { status } = error as Partial<ErrorApi>
        if (status === 429 && error.esperarSegundos && ajustes.reintentos && sinContar < LIMITES_SIN_CONTAR) sinContar++
        const espera =
          intento - sinContar <= ajustes.reintentos && pasara(error, pedido.repetible)
            ? pausa(error, intento)
            : Infinity
        // A wait that would end after the deadline is skipped, so that the caller gets the cause instead of a late
        // timeout.
        const sigue = performance.now() + espera < fin
        anotar({ ...contar(error), tipo: sigue ? 'reintento' : 'falla', esperaMs: sigue ? Math.round(espera) : null })
        if (!sigue) throw error
        await dormir(espera, ajustes.signal)
      }
    }
  }
}

/**
 * Builds the request synchronously, so that the caller may change its objects for the next guide.
 *
 * @throws ErrorGuias if the options or the data are not valid
 */
function preparar(armar: () => Pedido, opciones: OpcionesConClave | undefined, base: Ajustes) {
  try {
    const ajustes = ajustar(opciones, base)
    const pedido = armar()
    const clave = opciones?.claveDeIdempotencia ?? pedido.clave
    pedido.repetible ||= clave !== pedido.clave
    if (clave !== undefined) ajustes.cabeceras = { ...ajustes.cabeceras, 'Idempotency-Key': clave }
    new Headers(ajustes.cabeceras)
    return { pedido, ajustes }
  } catch (causa) {
    if (causa instanceof ErrorGuias) throw causa
    throw new ErrorGuias(`No se pudo armar la solicitud: ${explicar(causa)}. Revise los datos.`, { cause: causa })
  }
}

/** Tells whether a request is for a signed link, whose file may lie on another server. */
const esEnlace = ({ ruta }: Pedido) => /^http/.test(ruta)

function cabecerasDe(pedido: Pedido, { cabeceras }: Ajustes, llave: string, intento: number) {
  const todas = new Headers(esEnlace(pedido) ? {} : cabeceras)
  todas.set('Accept', pedido.acepta ?? 'application/json')
  todas.delete('Authorization')
  if (pedido.conLlave) todas.set('Authorization', `Bearer ${llave}`)
  if (pedido.cuerpo !== undefined) todas.set('Content-Type', 'application/json')
  // Browsers either forbid `User-Agent` and `X-Guias-Reintento` or send a CORS preflight request for them.
  if (!enNavegador()) {
    todas.set('User-Agent', `guias-sdk/${VERSION}${enQue()}`)
    if (intento > 1) todas.set('X-Guias-Reintento', `${intento - 1}`)
  }
  return Object.fromEntries(todas)
}

function interpretar<T>(respuesta: Response, cuerpo: string | Uint8Array, forma: Forma<T>): Respuesta<T> {
  const { status, headers: cabeceras } = respuesta
  const datos = typeof cuerpo === 'string' ? leerJson(cuerpo) : cuerpo
  // A `forma` that accepts status 304 belongs to a conditional request.
  if ((respuesta.ok || status === 304) && forma(datos, status)) {
    return {
      datos,
      status,
      cabeceras,
      idSolicitud: cabeceras.get('x-request-id'),
      repetida: cabeceras.get('idempotent-replayed') === 'true',
    }
  }
  if (!respuesta.ok && esProblema(datos)) throw crearErrorApi(datos, { status, cabeceras })
  const principio = String(cuerpo).slice(0, 200)
  throw new ErrorRespuesta(describir(respuesta, principio), { status, cabeceras, texto: principio })
}

function leerJson(texto: string): unknown {
  try {
    return JSON.parse(texto)
  } catch {
    return undefined
  }
}

function describir({ status, type, headers }: Response, texto: string): string {
  const destino = headers.get('location') ?? ''
  const remedio =
    type === 'opaqueredirect' || (status >= 300 && status < 400)
      ? `Es una redirección: ponga la dirección final ${destino} en`
      : status >= 500 || status === 429
        ? `Intente de nuevo en ${leerEspera(headers) ?? 'unos'} segundos; si insiste, revise`
        : 'Revise si hay un proxy en medio y'
  return `La respuesta (HTTP ${status}, ${headers.get('content-type') ?? 'sin Content-Type'}${nombrarSolicitud(headers.get('x-request-id'))}) no es de la API de guías. ${remedio} baseUrl. ${texto ? `Empieza así: ${texto}` : 'Vino vacía.'}`
}

const SI_REPITE =
  'El servicio pudo haber recibido la solicitud: repetir una consulta, o una creación con external_ref, es seguro.'

/**
 * Applies the deadline to the whole exchange, body included, even if a custom `fetch` ignores the signal.
 *
 * @throws ErrorTiempo after the deadline
 * @throws ErrorAbortado if the caller's signal is aborted
 */
function conPlazo<T>(
  resta: number,
  { tiempoLimite, plazoTotal, signal }: Ajustes,
  hacer: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const corte = new AbortController()
  return new Promise((cumplir, rechazar) => {
    const abortar = () => {
      rechazar(abortada(signal))
      corte.abort()
    }
    const vencer = () => {
      const [nombre, plazo] = resta < tiempoLimite ? ['plazoTotal', plazoTotal] : ['tiempoLimite', tiempoLimite]
      const mensaje = `La respuesta no llegó en ${plazo} ms. Dé más tiempo con ${nombre} o intente más tarde. ${SI_REPITE}`
      rechazar(new ErrorTiempo(mensaje, plazo))
      corte.abort()
    }
    signal?.addEventListener('abort', abortar)
    const reloj = setTimeout(vencer, Math.min(resta, tiempoLimite, PLAZO_MAXIMO))
    hacer(corte.signal)
      .then(cumplir, rechazar)
      .finally(() => {
        clearTimeout(reloj)
        signal?.removeEventListener('abort', abortar)
      })
  })
}

const abortada = (signal: AbortSignal | undefined) =>
  new ErrorAbortado('La solicitud se abortó con signal. Si ya había salido, el servicio pudo haberla recibido.', {
    cause: signal?.reason,
  })

function contar(error: ErrorGuias): Partial<Suceso> {
  const { name, codigo = null, status = null, idSolicitud = null } = error as Partial<ErrorApi>
  return { error: name ?? null, codigo, status, idSolicitud }
}

function registrar(
  registro: Registro | undefined,
  { metodo, ruta }: Pedido,
  intento: number,
  inicio: number,
  suceso: Partial<Suceso>,
) {
  try {
    registro?.({
      tipo: 'respuesta',
      metodo,
      ruta: ruta.replace(/\?.*/, ''),
      intento,
      ms: Math.round(performance.now() - inicio),
      status: null,
      idSolicitud: null,
      error: null,
      codigo: null,
      esperaMs: null,
      ...suceso,
    })
  } catch {} // an error of the merchant's log function must not make the request fail
}

/**
 * Returns the message of an error with its cause. `fetch` only says `fetch failed`; the reason (ECONNREFUSED, a
 * certificate…) is in the cause.
 */
function explicar(causa: unknown): string {
  if (!(causa instanceof Error)) return String(causa)
  const { cause } = causa
  if (!(cause instanceof Error)) return causa.message
  return `${causa.message}: ${cause.message || (cause as { code?: unknown }).code}`
}

/**
 * Tells whether this code runs in a page or a worker of a browser. Node and Deno also have `navigator`, but their user
 * agent does not start with Mozilla.
 */
const enNavegador = () => (globalThis.navigator as Navigator | undefined)?.userAgent?.startsWith('Mozilla/') ?? false

/** Returns the engine and the system for `User-Agent`, as ` (node 22.1.0; linux)`; nothing where none is known. */
function enQue(): string {
  const { process } = globalThis as { process?: { platform?: string; versions?: Record<string, string> } }
  // Deno and Bun name themselves beside the version of Node that they imitate.
  const motor = ['bun', 'deno', 'node'].find((uno) => process?.versions?.[uno])
  return motor ? ` (${motor} ${process?.versions?.[motor]}; ${process?.platform})` : ''
}
