import { ErrorGuias } from './errores.js'
import { RecursoCatalogo } from './recursoCatalogo.js'
import { RecursoEventos } from './recursoEventos.js'
import { RecursoGuias } from './recursoGuias.js'
import { RecursoPruebas } from './recursoPruebas.js'
import { RecursoWebhooks } from './recursoWebhooks.js'
import { crearTransporte, type Fetch } from './transporte.js'

/** Opciones de {@link Guias}. */
export interface OpcionesDeGuias {
  /** Su llave, `guia_live_…` o `guia_test_…`. No la ponga en páginas que ve el público. */
  llave: string
  /** Dirección del servicio, sin `/api/v1`. Si falta, la del servicio local: `http://127.0.0.1:3000`. */
  baseUrl?: string
  /** Otro `fetch`, por ejemplo para salir por un proxy. Si falta, el del entorno. */
  fetch?: Fetch
  /** Milisegundos que se espera cada respuesta entera; 30 000 si falta. `Infinity` espera siempre. */
  tiempoLimite?: number
}

/**
 * Cliente de la API de guías de envío.
 *
 * ```ts
 * import { Guias } from '@guias/sdk'
 *
 * const api = new Guias({ llave: process.env.GUIAS_LLAVE!, baseUrl: 'https://guias.ejemplo.com' })
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
  /** Sus webhooks: adónde se envía cada evento, y qué fue de cada envío. */
  readonly webhooks: RecursoWebhooks
  /** Con llaves de prueba: hacer de mensajero y de destinatario, sin esperar a nadie. */
  readonly pruebas: RecursoPruebas

  constructor(opciones: OpcionesDeGuias) {
    const enviar = crearTransporte({
      llave: leerLlave(opciones?.llave),
      baseUrl: leerBaseUrl(opciones.baseUrl ?? 'http://127.0.0.1:3000'),
      fetch: leerFetch(opciones.fetch),
      tiempoLimite: leerTiempoLimite(opciones.tiempoLimite ?? 30_000),
    })
    this.guias = new RecursoGuias(enviar)
    this.eventos = new RecursoEventos(enviar)
    this.catalogo = new RecursoCatalogo(enviar)
    this.webhooks = new RecursoWebhooks(enviar)
    this.pruebas = new RecursoPruebas(enviar)
  }
}

/** What a header doesn't take is refused here: the engine's own error would show the key in a log. */
function leerLlave(llave: unknown): string {
  const limpia = typeof llave === 'string' ? llave.trim() : ''
  if (!limpia) throw new ErrorGuias('Falta la llave: new Guias({ llave: process.env.GUIAS_LLAVE }).')
  if (!/^[\x21-\x7e]+$/.test(limpia)) {
    throw new ErrorGuias('La llave tiene espacios o caracteres que no son de una llave: cópiela de nuevo, entera.')
  }
  return limpia
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

/** The environment's is looked up at each call, so that tools which replace it are seen. */
function leerFetch(propio: Fetch | undefined): Fetch {
  if (propio === undefined && typeof globalThis.fetch !== 'function') {
    throw new ErrorGuias('Este entorno no tiene fetch: use Node 20 o posterior, o pase uno en la opción fetch.')
  }
  return propio ?? ((url, init) => globalThis.fetch(url, init))
}

function leerTiempoLimite(tiempoLimite: unknown): number {
  if (typeof tiempoLimite === 'number' && tiempoLimite > 0) return tiempoLimite
  throw new ErrorGuias('tiempoLimite debe ser un número de milisegundos mayor que 0, o Infinity.')
}
