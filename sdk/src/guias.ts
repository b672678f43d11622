import { crearCliente } from './cliente.js'
import { ErrorGuias } from './errores.js'
import { esAlgo } from './formas.js'
import { ajustar, type OpcionesDeSolicitud, type Registro } from './opciones.js'
import { armarOtra, type DatosDeAlguna } from './pedido.js'
import { RecursoCatalogo } from './recursoCatalogo.js'
import { RecursoCuenta } from './recursoCuenta.js'
import { RecursoEventos } from './recursoEventos.js'
import { RecursoGuias } from './recursoGuias.js'
import { RecursoSimulador } from './recursoSimulador.js'
import { RecursoWebhooks } from './recursoWebhooks.js'
import { Solicitud } from './solicitud.js'
import { crearTransporte, type Enviar, type Fetch } from './transporte.js'

/** Opciones de {@link Guias}. */
export interface OpcionesDeGuias extends Omit<OpcionesDeSolicitud, 'signal'> {
  /** Su llave, `guia_live_…` o `guia_test_…`. Si falta, la de la variable de entorno `GUIAS_LLAVE`. */
  llave?: string | undefined
  /**
   * Dirección del servicio, sin `/api/v1`. Si falta, la de la variable de entorno `GUIAS_URL`; si tampoco está, una llave de
   * prueba va al servicio de su propia máquina, `http://127.0.0.1:3000`, y con otra es un error.
   */
  baseUrl?: string | undefined
  /** Otro `fetch`, por ejemplo para salir por un proxy. Si falta, el del entorno. */
  fetch?: Fetch | undefined
  /** Recibe qué fue de cada intento de cada solicitud: `registro: (suceso) => console.log(suceso)`. */
  registro?: Registro | undefined
  /**
   * Pone una `external_ref` al azar (`auto-…`) a cada guía que se crea sin la suya, y así repetir la solicitud es seguro.
   * Protege de lo que falla durante la llamada; si su proceso muere y la vuelve a hacer, crea otra guía: para eso hace
   * falta una referencia de usted, como el número de pedido.
   */
  referenciaAutomatica?: boolean | undefined
  /**
   * Deja usar una llave `guia_live_…` en una página. La página la enseña a quien la vea: hágalo solo donde entra su
   * propia gente.
   */
  permitirNavegador?: boolean | undefined
}

/** Opciones de `api.get`, `api.post` y las demás. */
export interface OpcionesDeLlamada extends OpcionesDeSolicitud {
  /**
   * Si la solicitud se puede enviar dos veces sin más efecto que una. Si falta, lo que este paquete sepa de la operación; si
   * no la conoce, sí en `get`, `put` y `delete`, y no en `post` y `patch`.
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
  readonly guias: RecursoGuias
  /** El flujo de eventos de todas sus guías. */
  readonly eventos: RecursoEventos
  /** Los departamentos y municipios que el servicio conoce. */
  readonly catalogo: RecursoCatalogo
  /** La cuenta de la llave: de quién es, qué puede, qué ajustes tiene y su bitácora. */
  readonly cuenta: RecursoCuenta
  /** Sus webhooks: adónde se envía cada evento, y qué fue de cada envío. */
  readonly webhooks: RecursoWebhooks
  /** El simulador: con llaves de prueba, hacer de repartidor y de destinatario, sin esperar a nadie. */
  readonly simulador: RecursoSimulador
  readonly #opciones: OpcionesDeGuias
  readonly #enviar: Enviar

  constructor(opciones: OpcionesDeGuias = {}) {
    const { fetch, registro, referenciaAutomatica = false, permitirNavegador = false } = opciones
    const llave = leerLlave(opciones.llave ?? delEntorno('GUIAS_LLAVE'), permitirNavegador)
    const baseUrl = opciones.baseUrl ?? (delEntorno('GUIAS_URL') || undefined)
    const ajustes = ajustar(opciones)
    // What it fell back on for its key is not kept: it may be no place for another's.
    this.#opciones = { ...opciones, ...ajustes, llave, baseUrl }
    this.#enviar = crearTransporte({
      llave,
      baseUrl: leerBaseUrl(baseUrl ?? porOmision(llave)),
      // The environment's is looked up at each call, so that tools which replace it are seen.
      fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
      ajustes,
      registro: leerRegistro(registro),
    })
    const cliente = crearCliente(this.#enviar)
    this.guias = new RecursoGuias(cliente, referenciaAutomatica)
    this.eventos = new RecursoEventos(cliente)
    this.catalogo = new RecursoCatalogo(cliente)
    this.cuenta = new RecursoCuenta(cliente)
    this.webhooks = new RecursoWebhooks(cliente)
    this.simulador = new RecursoSimulador(cliente)
  }

  /**
   * Otro cliente como este, con lo que cambie: otra llave, otros plazos. Las `cabeceras` se suman a las suyas; lo demás
   * toma el lugar de lo que había.
   *
   * ```ts
   * const sinPrisa = api.conOpciones({ tiempoLimite: 120_000, reintentos: 5 })
   * ```
   */
  conOpciones(opciones: OpcionesDeGuias): Guias {
    const dadas = Object.entries(opciones).filter(([, valor]) => valor !== undefined)
    const cabeceras = { ...this.#opciones.cabeceras, ...opciones.cabeceras }
    return new Guias({ ...this.#opciones, ...Object.fromEntries(dadas), cabeceras })
  }

  /**
   * Consulta una ruta de la API para la que este paquete no tiene método: la misma llave, reintentos, plazos y errores.
   *
   * ```ts
   * const { datos } = await api.get<{ datos: Zona[] }>('/api/v1/zonas', { limite: 10 })
   * ```
   */
  get<T = unknown>(ruta: string, parametros?: object, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#llamar('GET', ruta, { query: parametros }, opciones)
  }

  /**
   * Envía un cuerpo a una ruta para la que este paquete no tiene método. No se repite si no se sabe que es seguro: dígalo con
   * `repetible`.
   *
   * ```ts
   * const zona = await api.post<Zona>('/api/v1/zonas', { nombre: 'Norte' }, { repetible: true })
   * ```
   */
  post<T = unknown>(ruta: string, cuerpo?: unknown, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#llamar('POST', ruta, { body: cuerpo }, opciones)
  }

  /** Como `post`, con `PUT`, que se puede repetir. */
  put<T = unknown>(ruta: string, cuerpo?: unknown, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#llamar('PUT', ruta, { body: cuerpo }, opciones)
  }

  /** Como `post`, con `PATCH`. */
  patch<T = unknown>(ruta: string, cuerpo?: unknown, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#llamar('PATCH', ruta, { body: cuerpo }, opciones)
  }

  /** Como `get`, con `DELETE`. */
  delete<T = unknown>(ruta: string, parametros?: object, opciones?: OpcionesDeLlamada): Solicitud<T> {
    return this.#llamar('DELETE', ruta, { query: parametros }, opciones)
  }

  #llamar<T>(metodo: string, ruta: string, datos: DatosDeAlguna, opciones: OpcionesDeLlamada | undefined) {
    const pedido = () => armarOtra(metodo, ruta, datos, opciones?.repetible)
    return new Solicitud(this.#enviar(pedido, esAlgo<T>, opciones))
  }
}

/** Where there is one: a page has no `process`, and bundlers put nothing in the place of this. */
function delEntorno(nombre: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[nombre]
}

const esDePrueba = (llave: string) => llave.startsWith('guia_test_')

/** What a header doesn't take is refused here: the engine's own error would show the key in a log. */
function leerLlave(llave: unknown, permitirNavegador: boolean): string {
  const limpia = typeof llave === 'string' ? llave.trim() : ''
  if (!limpia) throw new ErrorGuias('Falta la llave: new Guias({ llave }), o la variable de entorno GUIAS_LLAVE.')
  if (!/^[\x21-\x7e]+$/.test(limpia)) {
    throw new ErrorGuias('La llave tiene espacios o caracteres que no son de una llave: cópiela de nuevo, entera.')
  }
  // Jsdom and its like have a document too, but test keys.
  if (!permitirNavegador && 'document' in globalThis && !esDePrueba(limpia)) {
    throw new ErrorGuias(
      'Esta llave da acceso a todas sus guías y aquí la vería quien abra la página: úsela en su servidor. Si la página es solo para su gente, pase permitirNavegador: true.',
    )
  }
  return limpia
}

/** Guides that are real are not sent to whatever listens on this machine. */
function porOmision(llave: string): string {
  if (esDePrueba(llave)) return 'http://127.0.0.1:3000'
  throw new ErrorGuias(
    'Falta la dirección del servicio: new Guias({ baseUrl }), o la variable de entorno GUIAS_URL. Solo una llave guia_test_… va sin ella a esta máquina.',
  )
}

function leerBaseUrl(baseUrl: unknown): string {
  const falla = (que: string) => new ErrorGuias(`baseUrl ${que}: escriba algo como https://guias.ejemplo.com.`)
  let url: URL
  try {
    url = new URL(String(baseUrl))
  } catch {
    throw falla('no es una dirección')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw falla('debe empezar por https:// o http://')
  if (url.username || url.password || url.search || url.hash) throw falla('no lleva usuario, «?» ni «#»')
  const base = (url.origin + url.pathname).replace(/\/+$/, '')
  if (base.endsWith('/api/v1')) throw falla('va sin /api/v1, que se añade solo')
  return base
}

function leerRegistro(registro: Registro | undefined): Registro | undefined {
  if (registro === undefined || typeof registro === 'function') return registro
  throw new ErrorGuias('registro debe ser una función: registro: (suceso) => console.log(suceso).')
}
