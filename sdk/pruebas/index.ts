import {
  Guias as Cliente,
  type GuiaParaCrear,
  type LoteParaCrear,
  type OpcionesDeGuias,
  type WebhookParaCrear,
} from '@guias/sdk'
import { admite, type Envio, Envios, type Recibir } from './envios.ts'
import { Guias } from './guias.ts'
import { desconocido, Rechazo } from './problema.ts'

export type { Envio, Recibir } from './envios.ts'

/** Opciones de {@link ServicioDePruebas}. */
export interface OpcionesDelServicio {
  /** Hora del servicio al empezar; si falta, la de su reloj. Después solo la mueve `avanzar`. */
  ahora?: Date | undefined
  /**
   * Función que recibe los webhooks, en lugar de los servidores de sus direcciones: su propio receptor. Si falta, se
   * envían con `fetch`.
   */
  recibir?: Recibir | undefined
}

/** Tiempo que pasa. Las partes se suman. */
export interface Tiempo {
  /** Días que pasan. */
  dias?: number
  /** Horas que pasan. */
  horas?: number
  /** Minutos que pasan. */
  minutos?: number
  /** Segundos que pasan. */
  segundos?: number
}

interface Entrada {
  path: string[]
  query: URLSearchParams
  // biome-ignore lint/suspicious/noExplicitAny: the merchant's body, of which the double reads what it knows
  body: any
}

interface Salida {
  status?: number
  datos?: unknown
  repetida?: boolean
}

const URL_BASE = 'http://guias.pruebas'
const PASO_MAXIMO = 100

/**
 * Doble del servicio para sus propias pruebas: vive en su proceso y no abre ningún puerto. Guarda en memoria las guías,
 * los eventos y los webhooks, firma los avisos como el servicio y mueve el tiempo cuando usted lo dice.
 *
 * Conoce lo que más se prueba: crear (también por lotes), consultar, listar, cancelar, confirmar el lugar, el flujo de
 * eventos, los webhooks y el simulador. Lo demás contesta `ruta_desconocida`: pruébelo con una llave `guia_test_…`.
 *
 * ```ts
 * const servicio = new ServicioDePruebas({ recibir: (solicitud) => miReceptor(solicitud) })
 * const api = servicio.cliente()
 * const { secreto } = await api.webhooks.crear({ url: 'https://tienda.ejemplo.com/guias' })
 * const { guia } = await api.guias.crear(pedido)
 * await api.simulador.confirmarUbicacion(guia) // el aviso ya llegó a miReceptor
 * await servicio.avanzar({ dias: 3 })
 * ```
 */
export class ServicioDePruebas {
  readonly #guias: Guias
  readonly #envios: Envios
  readonly #claves = new Map<string, { cuerpo: unknown; salida: Salida }>()
  #ahora: number
  #avisados = 0
  #trabaja = false

  constructor({ ahora = new Date(), recibir = (solicitud) => globalThis.fetch(solicitud) }: OpcionesDelServicio = {}) {
    this.#ahora = ahora.getTime()
    const reloj = () => new Date(this.#ahora)
    this.#guias = new Guias(reloj)
    this.#envios = new Envios(reloj, recibir)
  }

  /** Hora del servicio. */
  get ahora(): Date {
    return new Date(this.#ahora)
  }

  /** Envíos de webhooks hasta ahora, con lo que contestó cada intento. */
  get envios(): Envio[] {
    return this.#envios.hechos.map(({ webhook, evento, intentos, estados, entregado }) => {
      return { webhook, evento, intentos, estados: [...estados], entregado }
    })
  }

  /** Da un cliente del SDK que habla con este doble. */
  cliente(opciones: OpcionesDeGuias = {}): Cliente {
    return new Cliente({ llave: 'guia_test_pruebas', baseUrl: URL_BASE, fetch: this.fetch, ...opciones })
  }

  /** Función `fetch` que habla con este doble, para la opción `fetch` de `Guias`. */
  readonly fetch = async (
    url: string | URL,
    { method = 'GET', headers: dadas, body }: RequestInit = {},
  ): Promise<Response> => {
    const { pathname, searchParams } = new URL(url)
    try {
      const clave = new Headers(dadas).get('idempotency-key')
      const hacer = () => this.#atender(method, pathname, searchParams, body)
      const {
        status = 200,
        datos,
        repetida,
      } = clave === null || method === 'GET' ? hacer() : this.#unaVez(`${method} ${pathname} ${clave}`, body, hacer)
      const headers = { 'content-type': 'application/json', ...(repetida ? { 'idempotent-replayed': 'true' } : {}) }
      const respuesta = new Response(datos === undefined ? null : JSON.stringify(datos), { status, headers })
      await this.#trabajar()
      return respuesta
    } catch (error) {
      if (!(error instanceof Rechazo)) throw error
      const { problema } = error
      return Response.json(problema, { status: problema.estado_http })
    }
  }

  /**
   * Deja pasar el tiempo: vencen los plazos para confirmar el lugar, y se repiten los webhooks que fallaron. Termina
   * cuando ya se hizo todo lo que tocaba.
   */
  async avanzar({ dias = 0, horas = 0, minutos = 0, segundos = 0 }: Tiempo): Promise<void> {
    const fin = this.#ahora + (((dias * 24 + horas) * 60 + minutos) * 60 + segundos) * 1000
    for (let paso = 0; paso < PASO_MAXIMO && this.#envios.proximo() <= fin; paso++) {
      this.#ahora = Math.max(this.#ahora, this.#envios.proximo())
      await this.#trabajar()
    }
    this.#ahora = fin
    await this.#trabajar()
  }

  /**
   * Does the automatic work of the service between two requests. A receiver of webhooks may call the service meanwhile.
   */
  async #trabajar() {
    if (this.#trabaja) return
    this.#trabaja = true
    try {
      do {
        this.#guias.trabajar()
        for (const uno of this.#guias.eventos.slice(this.#avisados)) this.#envios.anotar(uno)
        this.#avisados = this.#guias.eventos.length
        await this.#envios.enviar()
      } while (this.#avisados < this.#guias.eventos.length)
    } finally {
      this.#trabaja = false
    }
  }

  /** Executes a request once for each key, as the service does. A request that fails does not use up its key. */
  #unaVez(clave: string, cuerpo: unknown, hacer: () => Salida): Salida {
    const primera = this.#claves.get(clave)
    if (primera === undefined) {
      const salida = hacer()
      this.#claves.set(clave, { cuerpo, salida })
      return salida
    }
    if (primera.cuerpo === cuerpo) return { ...primera.salida, repetida: true }
    throw new Rechazo(409, 'idempotencia_en_conflicto', 'La Idempotency-Key ya se usó con otros datos. Use una nueva.')
  }

  #atender(metodo: string, ruta: string, query: URLSearchParams, cuerpo: unknown): Salida {
    for (const [operacion, hacer] of Object.entries(this.#operaciones)) {
      const [suyo, patron = ''] = operacion.split(' ')
      const partes = new RegExp(`^/api/v1${patron.replaceAll('*', '([^/]+)')}$`).exec(ruta)
      if (suyo !== metodo || !partes) continue
      const body = typeof cuerpo === 'string' ? JSON.parse(cuerpo) : {}
      return hacer({ path: partes.slice(1).map(decodeURIComponent), query, body })
    }
    throw desconocido(
      'ruta_desconocida',
      `El servicio de pruebas no tiene ${metodo} ${ruta}: use una llave guia_test_….`,
    )
  }

  readonly #operaciones: Readonly<Record<string, (entrada: Entrada) => Salida>> = {
    'POST /guias': ({ body }) => {
      const { guia, repetida } = this.#guias.crear(body)
      return { status: repetida ? 200 : 201, datos: guia, repetida }
    },
    'POST /guias/bulk': ({ body }) => ({ datos: this.#crearLote(body) }),
    'GET /guias': ({ query }) => {
      const [referencia, estados] = [query.get('external_ref'), query.getAll('estado')]
      const todas = [...this.#guias.todas.values()].reverse().filter(({ external_ref, estado }) => {
        return (
          (referencia === null || external_ref === referencia) && (estados.length === 0 || estados.includes(estado))
        )
      })
      return { datos: { ...paginar(todas, query), parcial: false } }
    },
    'GET /guias/*': ({ path, query }) => {
      const guia = this.#guias.buscar(path[0]!)
      return { datos: { ...guia, eventos: paginar(this.#eventosDe(guia.guia), query) } }
    },
    'GET /guias/*/eventos': ({ path, query }) => {
      return { datos: paginar(this.#eventosDe(this.#guias.buscar(path[0]!).guia), query) }
    },
    'POST /guias/*/cancelar': ({ path }) => ({ datos: this.#guias.cancelar(path[0]!) }),
    'POST /guias/*/ubicacion': ({ path, body }) => ({ datos: this.#guias.confirmar(path[0]!, 'comercio', body) }),
    'POST /simulador/guias/*/avanzar': ({ path, body }) => ({ datos: this.#guias.mover(path[0]!, body) }),
    'POST /simulador/guias/*/confirmar-ubicacion': ({ path, body }) => {
      return { datos: this.#guias.responder(path[0]!, body) }
    },
    'GET /eventos': ({ query }) => ({ datos: this.#flujo(query) }),
    'POST /webhooks': ({ body }) => ({ status: 201, datos: this.#envios.crear(body as WebhookParaCrear) }),
    'GET /webhooks': ({ query }) => {
      return { datos: paginar([...this.#envios.todos.values()].map(({ webhook }) => webhook).reverse(), query) }
    },
    'GET /webhooks/*': ({ path }) => ({ datos: this.#envios.buscar(path[0]!) }),
    'DELETE /webhooks/*': ({ path }) => {
      this.#envios.buscar(path[0]!)
      this.#envios.todos.delete(path[0]!)
      return { status: 204 }
    },
  }

  #eventosDe(codigo: string) {
    return this.#guias.eventos.flatMap(({ evento }) => (evento.guia === codigo ? [evento] : []))
  }

  #crearLote({ guias, recogida }: LoteParaCrear) {
    const resultados = guias.map((una: GuiaParaCrear, indice) => {
      try {
        const { guia, repetida } = this.#guias.crear({ ...(recogida ? { recogida } : {}), ...una })
        const { guia: codigo, estado, external_ref, advertencias } = guia
        return { indice, ok: true, guia: codigo, estado, external_ref, repetida, advertencias }
      } catch (error) {
        if (!(error instanceof Rechazo)) throw error
        return { indice, ok: false, external_ref: una.external_ref ?? null, error: error.problema }
      }
    })
    const contar = (cual: boolean) => resultados.filter(({ ok, repetida }) => ok && repetida === cual).length
    const fallidas = resultados.filter(({ ok }) => !ok).length
    const cuentas = { ok: fallidas === 0, creadas: contar(false), repetidas: contar(true), fallidas }
    return { ...cuentas, resultados, advertencias: [] }
  }

  /** Returns a page of the event feed. Its cursor is the number of events already read. */
  #flujo(query: URLSearchParams) {
    const [desde, tipos, guia] = [query.get('desde'), query.getAll('tipo'), query.get('guia')]
    const todos = this.#guias.eventos
    const primero = todos.findIndex(({ evento }) => desde !== null && evento.registrado_en >= desde)
    const alDesde = desde === 'ahora' || (desde !== null && primero < 0) ? todos.length : Math.max(0, primero)
    let cursor = Number(query.get('cursor') ?? alDesde)
    const limite = Number(query.get('limite') ?? 25)
    const datos = []
    for (; cursor < todos.length && datos.length < limite; cursor++) {
      const { evento } = todos[cursor]!
      if ((tipos.length === 0 || admite(tipos, String(evento.tipo))) && (guia === null || evento.guia === guia))
        datos.push(evento)
    }
    return { datos, cursor_siguiente: String(cursor) }
  }
}

/** Returns a page of a list. Its cursor is the position of the next element. */
function paginar<T>(todos: readonly T[], query: URLSearchParams) {
  const desde = Number(query.get('cursor') ?? 0)
  const hasta = desde + Number(query.get('limite') ?? 25)
  return { datos: todos.slice(desde, hasta), cursor_siguiente: hasta < todos.length ? String(hasta) : null }
}
