import { crearErrorApi, ErrorConexion, ErrorGuias, ErrorRespuesta, ErrorTiempo } from './errores.js'
import { esProblema } from './formas.js'
import { type Client, createClient, createConfig } from './generado/client/index.js'
import type { Respuesta } from './solicitud.js'
import { VERSION } from './version.js'

/** La parte de `fetch` que se usa. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Conexion {
  llave: string
  baseUrl: string
  fetch: Fetch
  tiempoLimite: number
}

/** What every call of a generated function carries besides its own path, query and body. */
export interface Comunes {
  client: Client
  fetch: typeof fetch
  parseAs: 'stream'
  throwOnError: true
}

/** Does an answer have the shape that the operation promises? A proxy's `{"ok": true}` has not. */
export type Forma<T> = (datos: unknown, status: number) => datos is T

/** Calls a generated function and gives its whole answer, or throws an {@link ErrorGuias}. */
export type Enviar = <T>(forma: Forma<T>, llamar: (comunes: Comunes) => Promise<unknown>) => Promise<Respuesta<T>>

interface Recibida {
  respuesta: Response
  texto: string
}

/** setTimeout takes longer delays for 1 ms. */
const PLAZO_MAXIMO = 2 ** 31 - 1

/**
 * The generated functions know routes, parameters and security, and build the request; the exchange itself is done
 * here. Their client would hand out an HTML page with status 200 as the model, throw plain objects, and lose the text
 * of an error: so it gets a `fetch` that reads and understands the whole answer, and `parseAs: 'stream'`, with which
 * it doesn't look into it again.
 */
export function crearTransporte({ llave, baseUrl, fetch, tiempoLimite }: Conexion): Enviar {
  const client = createClient(
    createConfig({
      baseUrl,
      auth: llave,
      headers: { Accept: 'application/json', ...(enNavegador() ? {} : { 'User-Agent': `guias-sdk/${VERSION}` }) },
    }),
  )

  // One exchange. Whatever sends it again (retries) goes around this function: the request can be read once only.
  async function intercambiar(solicitud: Request): Promise<Recibida> {
    const init: RequestInit = {
      method: solicitud.method,
      headers: Object.fromEntries(solicitud.headers),
      // The API never redirects. Following would turn a POST into a GET that answers something else.
      redirect: 'manual',
    }
    const cuerpo = await solicitud.text()
    if (cuerpo) init.body = cuerpo
    try {
      return await conPlazo(tiempoLimite, async (signal) => {
        const respuesta = await fetch(solicitud.url, { ...init, signal })
        return { respuesta, texto: await respuesta.text() }
      })
    } catch (causa) {
      if (causa instanceof ErrorTiempo) throw causa
      throw new ErrorConexion(
        `No hubo respuesta de ${baseUrl}: ${explicar(causa)}. Revise la red y baseUrl. ${SI_REPITE}`,
        { cause: causa },
      )
    }
  }

  return async (forma, llamar) => {
    let respuesta: Respuesta<never> | undefined
    try {
      await llamar({
        client,
        parseAs: 'stream',
        throwOnError: true,
        fetch: async (solicitud) => {
          const recibida = await intercambiar(solicitud as Request)
          respuesta = interpretar(recibida, forma) as Respuesta<never>
          return recibida.respuesta
        },
      })
    } catch (causa) {
      if (causa instanceof ErrorGuias) throw causa
      throw new ErrorGuias(`No se pudo armar la solicitud: ${explicar(causa)}. Revise los datos.`, { cause: causa })
    }
    return respuesta!
  }
}

/**
 * The body as it is now: the generated client serialises only after an `await`, and by then the caller may have
 * changed its object for the next guide.
 */
export function cuerpo<T>(datos: T): { body: T; bodySerializer: () => string } {
  const texto = JSON.stringify(datos)
  return { body: datos, bodySerializer: () => texto }
}

function interpretar<T>({ respuesta, texto }: Recibida, forma: Forma<T>): Respuesta<T> {
  const { status, headers: cabeceras } = respuesta
  const datos = leerJson(texto)
  if (respuesta.ok && forma(datos, status)) {
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
  const remedio =
    status >= 500 ? 'Intente de nuevo en unos segundos; si insiste, revise' : 'Revise si hay un proxy en medio y'
  const principio = texto.slice(0, 200).replace(/\s+/g, ' ').trim()
  return `La respuesta (HTTP ${status}, ${tipo}${id ? `, id_solicitud: ${id}` : ''}) no es de la API de guías. ${remedio} baseUrl. ${principio ? `Empieza así: ${principio}` : 'Vino vacía.'}`
}

const SI_REPITE =
  'El servicio pudo haber recibido la solicitud; repetir una consulta, una cancelación o una creación con external_ref es seguro.'

/** Over the whole exchange, body included, and also over a `fetch` that ignores the signal. */
function conPlazo<T>(plazo: number, hacer: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const corte = new AbortController()
  return new Promise((cumplir, rechazar) => {
    const vencer = () => {
      rechazar(
        new ErrorTiempo(
          `La respuesta no llegó en ${plazo} ms. Dé más tiempo con tiempoLimite o intente más tarde. ${SI_REPITE}`,
          plazo,
        ),
      )
      corte.abort()
    }
    const reloj = plazo <= PLAZO_MAXIMO ? setTimeout(vencer, plazo) : undefined
    hacer(corte.signal)
      .then(cumplir, rechazar)
      .finally(() => clearTimeout(reloj))
  })
}

/** fetch says `fetch failed` and hides why (ECONNREFUSED, a certificate…) in the cause. */
function explicar(causa: unknown): string {
  if (!(causa instanceof Error)) return String(causa)
  const { cause } = causa
  if (!(cause instanceof Error)) return causa.message
  const codigo = (cause as { code?: unknown }).code
  return [causa.message, cause.message || (typeof codigo === 'string' ? codigo : '')].filter(Boolean).join(': ')
}

/** Browsers don't let pages name themselves, or ask the server first (CORS). Pages and workers both have a navigator. */
const enNavegador = () => (globalThis.navigator as Navigator | undefined)?.userAgent?.startsWith('Mozilla/') ?? false
