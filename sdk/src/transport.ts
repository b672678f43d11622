import type { PreparedRequest } from './call.js'
import {
  createErrorApi,
  ErrorAbortado,
  type ErrorApi,
  ErrorConexion,
  ErrorGuias,
  ErrorRespuesta,
  ErrorTiempo,
  nameRequest,
  parseRetryAfter,
} from './errors.js'
import { type OpcionesConClave, type Registro, type RequestSettings, resolveSettings, type Suceso } from './options.js'
import type { Respuesta } from './request.js'
import { canRetry, computeRetryDelay, readPace, sleepUnlessAborted, wasNotSent } from './retries.js'
import { type Forma, isProblema } from './shapes.js'
import { VERSION } from './version.js'

/** Parte de `fetch` que este paquete usa. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Connection {
  llave: string
  baseUrl: string
  fetch: Fetch
  settings: RequestSettings
  registro: Registro | undefined
  notify: (aviso: string) => void
}

/**
 * Builds a request at once, sends it, and repeats it where that is safe. Resolves with the whole answer.
 *
 * @throws ErrorGuias for every failure
 */
export type Transport = <T>(
  prepareRequest: () => PreparedRequest,
  forma: Forma<T>,
  opciones: OpcionesConClave | undefined,
) => Promise<Respuesta<T>>

/** Longest delay of `setTimeout`, in milliseconds. A longer delay would run after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** Number of 429 answers with `Retry-After` that a request waits for without counting them as retries. */
const MAX_UNCOUNTED_LIMITS = 60
/**
 * Number of calls in progress beyond which further calls are paced before the service asks for it. The service refuses
 * more than 150 simultaneous requests of a merchant, and more than 500 connections of a network.
 */
const MAX_CALLS_WITHOUT_PACE = 100
/** Milliseconds between two such calls: the rate of a key, 50 requests per second. */
const CROWD_PACE_MS = 20

/** Creates the function that sends requests to one service, with its key, deadlines and retries. */
export function createTransport({ llave, baseUrl, fetch, settings: base, registro, notify }: Connection): Transport {
  /** Milliseconds to keep between two requests, as the last answer's rate limit requires. */
  let paso = 0
  /** Time of the latest request, which may lie in the future. */
  let ultima = 0
  let callsInProgress = 0

  async function exchange<T>(
    request: PreparedRequest,
    forma: Forma<T>,
    settings: RequestSettings,
    intento: number,
    timeoutMs: number,
  ) {
    return withTimeout(timeoutMs, settings, async (signal) => {
      const enlace = isSignedLink(request)
      const respuesta = await fetch(enlace ? request.ruta : baseUrl + request.ruta, {
        method: request.metodo,
        headers: buildHeaders(request, settings, llave, intento),
        body: request.cuerpo ?? null,
        // A link may lead to the file's storage. The API never redirects, and following would turn a POST into a GET.
        redirect: enlace ? 'follow' : 'manual',
        signal,
      })
      paso = readPace(respuesta.headers)
      const [desde, hasta] = ['deprecation', 'sunset'].map((nombre) => respuesta.headers.get(nombre))
      if (desde || hasta)
        notify(
          `El servicio retira ${request.operacion} (Deprecation: ${desde}, Sunset: ${hasta}): actualice el paquete.`,
        )
      const enBytes = enlace ? respuesta.ok : respuesta.headers.get('content-type') === request.accepts
      return parseResponse(
        respuesta,
        enBytes ? new Uint8Array(await respuesta.arrayBuffer()) : await respuesta.text(),
        forma,
      )
    })
  }

  const noAnswerError = (causa: unknown, mayHaveArrived: boolean) =>
    new ErrorConexion(
      `${mayHaveArrived ? 'No hubo respuesta de' : 'No se pudo conectar con'} ${baseUrl}: ${explainCause(causa)}. Revise la red y baseUrl. ${mayHaveArrived ? REPEAT_HINT : 'La solicitud no llegó a enviarse.'}`,
      { cause: causa },
      mayHaveArrived,
    )

  const send: Transport = async (prepareRequest, forma, opciones) => {
    const { request, settings } = prepareCall(prepareRequest, opciones, base)
    const deadline = performance.now() + settings.plazoTotal
    let mayHaveArrived = false
    let uncountedLimits = 0
    for (let intento = 1; ; intento++) {
      const ahora = performance.now()
      ultima = Math.max(ahora, ultima + (paso || (callsInProgress > MAX_CALLS_WITHOUT_PACE ? CROWD_PACE_MS : 0)))
      if (ultima > ahora) await sleepUnlessAborted(Math.min(ultima, deadline) - ahora, settings.signal)
      if (settings.signal?.aborted) throw Object.assign(abortedError(settings.signal), { intentos: intento - 1 })
      const startedAt = performance.now()
      const logSuceso = (suceso: Partial<Suceso>) => registrar(registro, request, intento, startedAt, suceso)
      try {
        const respuesta = await exchange(request, forma, settings, intento, deadline - startedAt)
        logSuceso({ estadoHttp: respuesta.estadoHttp, idSolicitud: respuesta.idSolicitud })
        return respuesta
      } catch (causa) {
        // An earlier attempt may have reached the service. The error must say so, even if this attempt was never sent.
        const error: ErrorGuias =
          causa instanceof ErrorGuias ? causa : noAnswerError(causa, mayHaveArrived || !wasNotSent(causa))
        mayHaveArrived ||= !canRetry(error, false)
        error.intentos = intento
        const { estadoHttp } = error as Partial<ErrorApi>
        if (
          estadoHttp === 429 &&
          error.esperarSegundos &&
          settings.reintentos &&
          uncountedLimits < MAX_UNCOUNTED_LIMITS
        )
          uncountedLimits++
        const espera =
          intento - uncountedLimits <= settings.reintentos && canRetry(error, request.repetible)
            ? computeRetryDelay(error, intento)
            : Infinity
        // A wait that would end after the deadline is skipped, so that the caller gets the cause instead of a late
        // timeout.
        const willRetry = performance.now() + espera < deadline
        logSuceso({
          ...toErrorFields(error),
          tipo: willRetry ? 'reintento' : 'falla',
          esperaMs: willRetry ? Math.round(espera) : null,
        })
        if (!willRetry) throw error
        await sleepUnlessAborted(espera, settings.signal)
      }
    }
  }

  return (prepareRequest, forma, opciones) => {
    callsInProgress++
    return send(prepareRequest, forma, opciones).finally(() => callsInProgress--)
  }
}

/**
 * Builds the request synchronously, so that the caller may change its objects for the next guide.
 *
 * @throws ErrorGuias if the options or the data are not valid
 */
function prepareCall(
  prepareRequest: () => PreparedRequest,
  opciones: OpcionesConClave | undefined,
  base: RequestSettings,
) {
  try {
    const settings = resolveSettings(opciones, base)
    const request = prepareRequest()
    const headers = new Headers(settings.cabeceras)
    const clave = opciones?.claveDeIdempotencia ?? headers.get('Idempotency-Key') ?? request.clave
    request.repetible ||= clave !== request.clave
    if (clave !== undefined) headers.set('Idempotency-Key', clave)
    settings.cabeceras = Object.fromEntries(headers)
    return { request, settings }
  } catch (causa) {
    if (causa instanceof ErrorGuias) throw causa
    throw new ErrorGuias(`No se pudo armar la solicitud: ${explainCause(causa)}. Revise los datos.`, { cause: causa })
  }
}

/** Tells whether a request is for a signed link, whose file may lie on another server. */
const isSignedLink = ({ ruta }: PreparedRequest) => /^http/.test(ruta)

function buildHeaders(request: PreparedRequest, { cabeceras }: RequestSettings, llave: string, intento: number) {
  const todas = new Headers(isSignedLink(request) ? {} : cabeceras)
  todas.set('Accept', request.accepts ?? 'application/json')
  todas.delete('Authorization')
  if (request.needsLlave) todas.set('Authorization', `Bearer ${llave}`)
  if (request.cuerpo !== undefined) todas.set('Content-Type', 'application/json')
  // Browsers either forbid `User-Agent` and `X-Guias-Reintento` or send a CORS preflight request for them.
  if (!isInBrowser()) {
    todas.set('User-Agent', `guias-sdk/${VERSION}${describeEngine()}`)
    if (intento > 1) todas.set('X-Guias-Reintento', `${intento - 1}`)
  }
  return Object.fromEntries(todas)
}

function parseResponse<T>(respuesta: Response, cuerpo: string | Uint8Array, forma: Forma<T>): Respuesta<T> {
  const { status, headers: cabeceras } = respuesta
  const datos = typeof cuerpo === 'string' ? readJson(cuerpo) : cuerpo
  // A `forma` that accepts status 304 belongs to a conditional request.
  if ((respuesta.ok || status === 304) && forma(datos, status)) {
    return {
      datos,
      estadoHttp: status,
      cabeceras,
      idSolicitud: cabeceras.get('x-request-id'),
      repetida: cabeceras.get('idempotent-replayed') === 'true',
    }
  }
  if (!respuesta.ok && isProblema(datos)) throw createErrorApi(datos, { estadoHttp: status, cabeceras })
  const bodyStart = String(cuerpo).slice(0, 200)
  throw new ErrorRespuesta(describeResponse(respuesta, bodyStart), { estadoHttp: status, cabeceras, texto: bodyStart })
}

function readJson(texto: string): unknown {
  try {
    return JSON.parse(texto)
  } catch {
    return undefined
  }
}

function describeResponse({ status, type, headers }: Response, texto: string): string {
  const destino = headers.get('location') ?? ''
  const remedy =
    type === 'opaqueredirect' || (status >= 300 && status < 400)
      ? `Es una redirección: ponga la dirección final ${destino} en`
      : status >= 500 || status === 429
        ? `Intente de nuevo en ${parseRetryAfter(headers) ?? 'unos'} segundos; si insiste, revise`
        : 'Revise si hay un proxy en medio y'
  return `La respuesta (HTTP ${status}, ${headers.get('content-type') ?? 'sin Content-Type'}${nameRequest(headers.get('x-request-id'))}) no es de la API de guías. ${remedy} baseUrl. ${texto ? `Empieza así: ${texto}` : 'Vino vacía.'}`
}

const REPEAT_HINT =
  'El servicio pudo haber recibido la solicitud: repetir una consulta, o una creación con external_ref, es seguro.'

/**
 * Applies the deadline to the whole exchange, body included, even if a custom `fetch` ignores the signal.
 *
 * @throws ErrorTiempo after the deadline
 * @throws ErrorAbortado if the caller's signal is aborted
 */
function withTimeout<T>(
  remainingMs: number,
  { tiempoLimite, plazoTotal, signal }: RequestSettings,
  perform: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(abortedError(signal))
      controller.abort()
    }
    const onTimeout = () => {
      const [nombre, timeoutMs] =
        remainingMs < tiempoLimite ? ['plazoTotal', plazoTotal] : ['tiempoLimite', tiempoLimite]
      const mensaje = `La respuesta no llegó en ${timeoutMs} ms. Dé más tiempo con ${nombre} o intente más tarde. ${REPEAT_HINT}`
      reject(new ErrorTiempo(mensaje, timeoutMs))
      controller.abort()
    }
    signal?.addEventListener('abort', onAbort)
    const timer = setTimeout(onTimeout, Math.min(remainingMs, tiempoLimite, MAX_TIMER_MS))
    perform(controller.signal)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      })
  })
}

const abortedError = (signal: AbortSignal | undefined) =>
  new ErrorAbortado('La solicitud se abortó con signal. Si ya había salido, el servicio pudo haberla recibido.', {
    cause: signal?.reason,
  })

function toErrorFields(error: ErrorGuias): Partial<Suceso> {
  const { name, codigo = null, estadoHttp = null, idSolicitud = null } = error as Partial<ErrorApi>
  return { error: name ?? null, codigo, estadoHttp, idSolicitud }
}

function registrar(
  registro: Registro | undefined,
  { metodo, ruta }: PreparedRequest,
  intento: number,
  startedAt: number,
  suceso: Partial<Suceso>,
) {
  try {
    registro?.({
      tipo: 'respuesta',
      metodo,
      ruta: ruta.replace(/\?.*/, ''),
      intento,
      ms: Math.round(performance.now() - startedAt),
      estadoHttp: null,
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
function explainCause(causa: unknown): string {
  if (!(causa instanceof Error)) return String(causa)
  const { cause } = causa
  if (!(cause instanceof Error)) return causa.message
  return `${causa.message}: ${cause.message || (cause as { code?: unknown }).code}`
}

/**
 * Tells whether this code runs in a page or a worker of a browser. Node and Deno also have `navigator`, but their user
 * agent does not start with Mozilla.
 */
const isInBrowser = () => (globalThis.navigator as Navigator | undefined)?.userAgent?.startsWith('Mozilla/') ?? false

/** Returns the engine and the system for `User-Agent`, as ` (node 22.1.0; linux)`; nothing where none is known. */
function describeEngine(): string {
  const { process } = globalThis as { process?: { platform?: string; versions?: Record<string, string> } }
  // Deno and Bun name themselves beside the version of Node that they imitate.
  const motor = ['bun', 'deno', 'node'].find((candidate) => process?.versions?.[candidate])
  return motor ? ` (${motor} ${process?.versions?.[motor]}; ${process?.platform})` : ''
}
