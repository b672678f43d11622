import {
  crearErrorApi,
  ErrorAbortado,
  ErrorApi,
  ErrorConexion,
  ErrorGuias,
  ErrorRespuesta,
  ErrorTiempo,
  leerEspera,
} from './errores.js'
import { esProblema, type Forma } from './formas.js'
import { type Ajustes, ajustar, type OpcionesDeSolicitud, type Registro, type Suceso } from './opciones.js'
import type { Pedido } from './pedido.js'
import { dormir, noSalio, pasara, pausa } from './reintentos.js'
import type { Respuesta } from './solicitud.js'
import { VERSION } from './version.js'

/** La parte de `fetch` que este paquete usa. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Conexion {
  llave: string
  baseUrl: string
  fetch: Fetch
  ajustes: Ajustes
  registro: Registro | undefined
}

/**
 * Sends a request, which is made at once, again if it may be, and gives the whole answer or throws an {@link
 * ErrorGuias}.
 */
export type Enviar = <T>(
  armar: () => Pedido,
  forma: Forma<T>,
  opciones: OpcionesDeSolicitud | undefined,
) => Promise<Respuesta<T>>

/** setTimeout takes longer delays for 1 ms. */
const PLAZO_MAXIMO = 2 ** 31 - 1

export function crearTransporte({ llave, baseUrl, fetch, ajustes: base, registro }: Conexion): Enviar {
  async function intercambiar<T>(pedido: Pedido, forma: Forma<T>, ajustes: Ajustes, intento: number, plazo: number) {
    const init: RequestInit = {
      method: pedido.metodo,
      headers: cabecerasDe(pedido, ajustes, llave, intento),
      // The API never redirects. Following would turn a POST into a GET that answers something else.
      redirect: 'manual',
    }
    if (pedido.cuerpo !== undefined) init.body = pedido.cuerpo
    return conPlazo(plazo, ajustes, async (signal) => {
      const respuesta = await fetch(baseUrl + pedido.ruta, { ...init, signal })
      return interpretar(respuesta, await respuesta.text(), forma)
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
    for (let intento = 1; ; intento++) {
      if (ajustes.signal?.aborted) throw Object.assign(abortada(ajustes.signal), { intentos: intento - 1 })
      const inicio = performance.now()
      const anotar = (suceso: Partial<Suceso>) => registrar(registro, pedido, intento, inicio, suceso)
      try {
        const respuesta = await intercambiar(pedido, forma, ajustes, intento, fin - inicio)
        anotar({ status: respuesta.status, idSolicitud: respuesta.idSolicitud })
        return respuesta
      } catch (causa) {
        // What an attempt before this one may have done, it may have done whatever became of this one.
        const error: ErrorGuias =
          causa instanceof ErrorGuias ? causa : sinRespuesta(causa, pudoLlegar || !noSalio(causa))
        pudoLlegar ||= !pasara(error, false)
        error.intentos = intento
        const espera =
          intento <= ajustes.reintentos && pasara(error, pedido.repetible) ? pausa(error, intento) : undefined
        // What would end after the deadline is not begun: the caller gets the reason instead of a late «too late».
        const sigue = espera !== undefined && performance.now() + espera < fin
        anotar({ ...contar(error), tipo: sigue ? 'reintento' : 'falla', esperaMs: sigue ? Math.round(espera) : null })
        if (!sigue) throw error
        await dormir(espera, ajustes.signal)
      }
    }
  }
}

/** At once, so that the caller may change its objects for the next guide. */
function preparar(armar: () => Pedido, opciones: OpcionesDeSolicitud | undefined, base: Ajustes) {
  try {
    const ajustes = ajustar(opciones, base)
    new Headers(ajustes.cabeceras)
    return { pedido: armar(), ajustes }
  } catch (causa) {
    if (causa instanceof ErrorGuias) throw causa
    throw new ErrorGuias(`No se pudo armar la solicitud: ${explicar(causa)}. Revise los datos.`, { cause: causa })
  }
}

function cabecerasDe(pedido: Pedido, { cabeceras }: Ajustes, llave: string, intento: number) {
  const todas = new Headers(cabeceras)
  todas.set('Accept', 'application/json')
  todas.delete('Authorization')
  if (pedido.conLlave) todas.set('Authorization', `Bearer ${llave}`)
  if (pedido.cuerpo !== undefined) todas.set('Content-Type', 'application/json')
  // Browsers don't let pages name themselves, or ask the server first (CORS).
  if (!enNavegador()) {
    todas.set('User-Agent', `guias-sdk/${VERSION}`)
    if (intento > 1) todas.set('X-Guias-Reintento', `${intento - 1}`)
  }
  return Object.fromEntries(todas)
}

function interpretar<T>(respuesta: Response, texto: string, forma: Forma<T>): Respuesta<T> {
  const { status, headers: cabeceras } = respuesta
  const datos = leerJson(texto)
  // Whose form takes a 304 has asked whether something changed.
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
  throw new ErrorRespuesta(describir(respuesta, texto), { status, cabeceras, texto })
}

function leerJson(texto: string): unknown {
  try {
    return JSON.parse(texto)
  } catch {
    return undefined
  }
}

function describir({ status, type, headers }: Response, texto: string): string {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const destino = headers.get('location')
    return `El servicio contestó con una redirección${destino ? ` a ${destino}` : ''} (HTTP ${status}), que no se sigue: ponga en baseUrl la dirección final, con https si la tiene.`
  }
  const tipo = headers.get('content-type') ?? 'sin Content-Type'
  const id = headers.get('x-request-id')
  const principio = texto.slice(0, 200).replace(/\s+/g, ' ').trim()
  const remedio =
    status >= 500 || status === 429
      ? `Intente de nuevo en ${leerEspera(headers) ?? 'unos'} segundos; si insiste, revise`
      : 'Revise si hay un proxy en medio y'
  return `La respuesta (HTTP ${status}, ${tipo}${id ? `, id_solicitud: ${id}` : ''}) no es de la API de guías. ${remedio} baseUrl. ${principio ? `Empieza así: ${principio}` : 'Vino vacía.'}`
}

const SI_REPITE =
  'El servicio pudo haber recibido la solicitud; repetir una consulta, una cancelación o una creación con external_ref es seguro.'

/** Over the whole exchange, body included, and also over a `fetch` that ignores the signal. */
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
    const plazo = Math.min(resta, tiempoLimite)
    const reloj = plazo <= PLAZO_MAXIMO ? setTimeout(vencer, plazo) : undefined
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

const contar = (error: ErrorGuias): Partial<Suceso> => ({
  error: error.name,
  ...(error instanceof ErrorApi ? { codigo: error.codigo } : {}),
  ...(error instanceof ErrorApi || error instanceof ErrorRespuesta
    ? { status: error.status, idSolicitud: error.idSolicitud }
    : {}),
})

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
  } catch {} // whoever only looks on must not make a request fail
}

/** fetch says `fetch failed` and hides why (ECONNREFUSED, a certificate…) in the cause. */
function explicar(causa: unknown): string {
  if (!(causa instanceof Error)) return String(causa)
  const { cause } = causa
  if (!(cause instanceof Error)) return causa.message
  return `${causa.message}: ${cause.message || (cause as { code?: unknown }).code}`
}

/** Pages and workers both have a navigator; Node's and Deno's is not Mozilla's. */
const enNavegador = () => (globalThis.navigator as Navigator | undefined)?.userAgent?.startsWith('Mozilla/') ?? false
