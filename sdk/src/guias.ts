import { RecursoArchivos } from './archivosResource.js'
import { type AnyOperationData, buildOtherRequest } from './call.js'
import { RecursoCatalogo } from './catalogoResource.js'
import { createResourceClient } from './client.js'
import { RecursoCuenta } from './cuentaResource.js'
import { ErrorGuias } from './errors.js'
import { RecursoEventos } from './eventosResource.js'
import { RecursoGuias } from './guiasResource.js'
import { type OpcionesConClave, type OpcionesDeSolicitud, type Registro, resolveSettings } from './options.js'
import { Solicitud } from './request.js'
import { isAnything } from './shapes.js'
import { RecursoSimulador } from './simuladorResource.js'
import { createTransport, type Fetch, type Transport } from './transport.js'
import { RecursoWebhooks } from './webhooksResource.js'

/** Opciones de {@link Guias}. */
export interface OpcionesDeGuias extends Omit<OpcionesDeSolicitud, 'signal'> {
  /** Su llave, `guia_live_…` o `guia_test_…`. Si falta, se toma de la variable de entorno `GUIAS_LLAVE`. */
  llave?: string | undefined
  /**
   * Dirección del servicio, sin `/api/v1`. Si falta, se toma de la variable de entorno `GUIAS_URL`. Si tampoco está,
   * una llave de prueba usa el servicio de su propia máquina, `http://127.0.0.1:3000`; con otra llave es un error.
   */
  baseUrl?: string | undefined
  /** Función `fetch` propia, por ejemplo para salir por un proxy. Si falta, se usa la del entorno. */
  fetch?: Fetch | undefined
  /** Función que recibe el resultado de cada intento de cada solicitud: `registro: (suceso) => console.log(suceso)`. */
  registro?: Registro | undefined
  /**
   * Función que recibe los avisos para quien mantiene el programa, cada uno una vez: el servicio va a retirar lo que se
   * usa (`Deprecation`, `Sunset`), o `crear` dio una guía que ya se canceló o se devolvió. Si falta, van a `console.warn`.
   */
  alAvisar?: ((aviso: string) => void) | undefined
  /**
   * Verdadero para permitir una llave `guia_live_…` en una página. Quien abre la página puede ver la llave: hágalo solo
   * en páginas donde entra su propia gente.
   */
  permitirNavegador?: boolean | undefined
}

/** Opciones de `api.get`, `api.post` y los demás métodos para cualquier ruta. */
export interface OpcionesDeLlamada extends OpcionesConClave {
  /**
   * Verdadero si enviar la solicitud dos veces tiene el mismo efecto que enviarla una vez. Si falta, vale lo que este
   * paquete sabe de la operación. Si no la conoce, es verdadero en `get`, `put` y `delete`, y falso en `post` y
   * `patch`.
   */
  repetible?: boolean | undefined
}

/**
 * Cliente de la API de guías de envío.
 *
 * ```ts
 * import { Guias } from '@guias/sdk'
 *
 * const api = new Guias({ llave: process.env.GUIAS_LLAVE, baseUrl: 'https://guias.ejemplo.com' })
 * const { guia } = await api.guias.crear({ … })
 * ```
 */
export class Guias {
  /** Sus guías: crearlas, verlas, listarlas y cancelarlas. */
  declare readonly guias: RecursoGuias
  /** Los archivos de las respuestas, por sus enlaces firmados. */
  declare readonly archivos: RecursoArchivos
  /** El flujo de eventos de todas sus guías. */
  declare readonly eventos: RecursoEventos
  /** Los departamentos y municipios que el servicio conoce. */
  declare readonly catalogo: RecursoCatalogo
  /** La cuenta de la llave: el comercio, sus permisos, sus ajustes y su bitácora. */
  declare readonly cuenta: RecursoCuenta
  /** Sus webhooks: la dirección que recibe cada evento y el resultado de cada envío. */
  declare readonly webhooks: RecursoWebhooks
  /** El simulador: con llaves de prueba, usted hace de repartidor y de destinatario, sin esperar a nadie. */
  declare readonly simulador: RecursoSimulador
  readonly #options: OpcionesDeGuias
  readonly #send: Transport

  constructor(opciones: OpcionesDeGuias = {}) {
    const { fetch, registro, alAvisar: onNotice = console.warn, permitirNavegador: allowsBrowser = false } = opciones
    const llave = readLlave(opciones.llave ?? readEnvironment('GUIAS_LLAVE'), allowsBrowser)
    const baseUrl = opciones.baseUrl ?? (readEnvironment('GUIAS_URL') || undefined)
    const settings = resolveSettings(opciones)
    // The default address is not stored, because `conOpciones` may set another key, which must not go to that address.
    this.#options = { ...opciones, ...settings, llave, baseUrl }
    const notifiedAvisos = new Set<string>()
    const notify = (aviso: string) => {
      if (notifiedAvisos.has(aviso)) return
      notifiedAvisos.add(aviso)
      onNotice(aviso)
    }
    this.#send = createTransport({
      llave,
      baseUrl: readBaseUrl(baseUrl ?? defaultBaseUrl(llave)),
      // `globalThis.fetch` is read at each call, so that a tool that replaces it takes effect.
      fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
      settings,
      registro: checkLogger(registro),
      notify,
    })
    const cliente = createResourceClient(this.#send)
    this.guias = new RecursoGuias(cliente, notify)
    this.archivos = new RecursoArchivos(cliente)
    this.eventos = new RecursoEventos(cliente)
    this.catalogo = new RecursoCatalogo(cliente)
    this.cuenta = new RecursoCuenta(cliente)
    this.webhooks = new RecursoWebhooks(cliente)
    this.simulador = new RecursoSimulador(cliente)
  }

  /**
   * Crea otro cliente igual a este, con las opciones que usted cambie: otra llave, otros plazos. Las `cabeceras` se
   * suman a las anteriores; cada una de las demás opciones reemplaza a la anterior.
   *
   * ```ts
   * const sinPrisa = api.conOpciones({ tiempoLimite: 120_000, reintentos: 5 })
   * ```
   */
  conOpciones(opciones: OpcionesDeGuias): Guias {
    const givenOptions = Object.entries(opciones).filter(([, valor]) => valor !== undefined)
    const cabeceras = { ...this.#options.cabeceras, ...opciones.cabeceras }
    return new Guias({ ...this.#options, ...Object.fromEntries(givenOptions), cabeceras })
  }

  /**
   * Consulta una ruta de la API para la que este paquete no tiene método. Usa la misma llave, los mismos reintentos,
   * plazos y errores.
   *
   * ```ts
   * const { datos } = await api.get<{ datos: Zona[] }>('/api/v1/zonas', { limite: 10 })
   * ```
   */
  get<T = unknown>(ruta: string, parametros?: object, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#call('GET', ruta, { query: parametros }, opciones)
  }

  /**
   * Envía un cuerpo a una ruta para la que este paquete no tiene método. El paquete repite la solicitud solo si sabe
   * que es seguro; dígalo con `repetible`.
   *
   * ```ts
   * const zona = await api.post<Zona>('/api/v1/zonas', { nombre: 'Norte' }, { repetible: true })
   * ```
   */
  post<T = unknown>(ruta: string, cuerpo?: unknown, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#call('POST', ruta, { body: cuerpo }, opciones)
  }

  /** Envía un cuerpo como `post`, con el método `PUT`, que se puede repetir. */
  put<T = unknown>(ruta: string, cuerpo?: unknown, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#call('PUT', ruta, { body: cuerpo }, opciones)
  }

  /** Envía un cuerpo como `post`, con el método `PATCH`. */
  patch<T = unknown>(ruta: string, cuerpo?: unknown, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#call('PATCH', ruta, { body: cuerpo }, opciones)
  }

  /** Llama a una ruta como `get`, con el método `DELETE`. */
  delete<T = unknown>(ruta: string, parametros?: object, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#call('DELETE', ruta, { query: parametros }, opciones)
  }

  #call<T>(metodo: string, ruta: string, datos: AnyOperationData, opciones: OpcionesDeLlamada | undefined) {
    const prepareRequest = () => buildOtherRequest(metodo, ruta, datos, opciones?.repetible)
    return new Solicitud(this.#send(prepareRequest, isAnything<T>, opciones))
  }
}

/**
 * Reads an environment variable; undefined in a page, which has no `process`. Bundlers do not replace `process` in this
 * form.
 */
function readEnvironment(nombre: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[nombre]
}

const isTestLlave = (llave: string) => llave.startsWith('guia_test_')

/**
 * Returns the key without surrounding spaces. Refuses a key that a header cannot carry, because the engine's own error
 * would show the key in a log.
 *
 * @throws ErrorGuias if the key is missing, malformed, or a live key in a page
 */
function readLlave(llave: unknown, allowsBrowser: boolean): string {
  const trimmedLlave = typeof llave === 'string' ? llave.trim() : ''
  if (!trimmedLlave) throw new ErrorGuias('Falta la llave: new Guias({ llave }), o la variable de entorno GUIAS_LLAVE.')
  if (!/^[\x21-\x7e]+$/.test(trimmedLlave)) {
    throw new ErrorGuias('La llave tiene caracteres que no son de una llave: cópiela de nuevo.')
  }
  // Test environments such as jsdom also have a document, but use test keys.
  if (!allowsBrowser && 'document' in globalThis && !isTestLlave(trimmedLlave)) {
    throw new ErrorGuias(
      'Quien abra esta página vería su llave: úsela en su servidor. Si la página es solo para su gente, pase permitirNavegador: true.',
    )
  }
  return trimmedLlave
}

/**
 * Returns the default address of the service, which is on this machine. Only test keys have a default, because real
 * guides must not go to an unknown program that listens here.
 *
 * @throws ErrorGuias for any other key
 */
function defaultBaseUrl(llave: string): string {
  if (isTestLlave(llave)) return 'http://127.0.0.1:3000'
  throw new ErrorGuias('Falta la dirección del servicio: new Guias({ baseUrl }), o la variable de entorno GUIAS_URL.')
}

function readBaseUrl(baseUrl: unknown): string {
  try {
    const { protocol, username, password, search, hash, origin, pathname } = new URL(String(baseUrl))
    const base = (origin + pathname).replace(/\/+$/, '')
    if (/^https?:$/.test(protocol) && !(username + password + search + hash) && !base.endsWith('/api/v1')) return base
  } catch {}
  throw new ErrorGuias(
    'baseUrl debe ser una dirección como https://guias.ejemplo.com, con https:// o http://, sin /api/v1 (se añade solo), usuario, «?» ni «#».',
  )
}

function checkLogger(registro: Registro | undefined): Registro | undefined {
  if (registro === undefined || typeof registro === 'function') return registro
  throw new ErrorGuias('registro debe ser una función.')
}
