import {
  type GuiaParaCrear,
  type LoteParaCrear,
  type OpcionesDeGuias,
  Guias as SdkClient,
  type WebhookParaCrear,
} from '@guias/sdk'
import { admitsType, Deliveries, type Envio, type Recibir } from './deliveries.ts'
import { Guias } from './guias.ts'
import { notFound, Refusal } from './problema.ts'

export type { Envio, Recibir } from './deliveries.ts'

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

interface OperationInput {
  path: string[]
  query: URLSearchParams
  // biome-ignore lint/suspicious/noExplicitAny: the merchant's body, of which the double reads what it knows
  body: any
}

interface OperationResult {
  status?: number
  datos?: unknown
  repetida?: boolean
}

const URL_BASE = 'http://guias.pruebas'
const MAX_STEPS = 100

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
  readonly #deliveries: Deliveries
  readonly #resultsByKey = new Map<string, { cuerpo: unknown; output: OperationResult }>()
  #now: number
  #notifiedCount = 0
  #isWorking = false

  constructor({ ahora = new Date(), recibir = (solicitud) => globalThis.fetch(solicitud) }: OpcionesDelServicio = {}) {
    this.#now = ahora.getTime()
    const clock = () => new Date(this.#now)
    this.#guias = new Guias(clock)
    this.#deliveries = new Deliveries(clock, recibir)
  }

  /** Hora del servicio. */
  get ahora(): Date {
    return new Date(this.#now)
  }

  /** Envíos de webhooks hasta ahora, con lo que contestó cada intento. */
  get envios(): Envio[] {
    return this.#deliveries.deliveries.map(({ webhook, evento, intentos, estados, entregado }) => {
      return { webhook, evento, intentos, estados: [...estados], entregado }
    })
  }

  /** Da un cliente del SDK que habla con este doble. */
  cliente(opciones: OpcionesDeGuias = {}): SdkClient {
    return new SdkClient({ llave: 'guia_test_pruebas', baseUrl: URL_BASE, fetch: this.fetch, ...opciones })
  }

  /** Función `fetch` que habla con este doble, para la opción `fetch` de `Guias`. */
  readonly fetch = async (
    url: string | URL,
    { method = 'GET', headers: givenHeaders, body }: RequestInit = {},
  ): Promise<Response> => {
    const { pathname, searchParams } = new URL(url)
    try {
      const clave = new Headers(givenHeaders).get('idempotency-key')
      const perform = () => this.#handle(method, pathname, searchParams, body)
      const {
        status = 200,
        datos,
        repetida,
      } = clave === null || method === 'GET'
        ? perform()
        : this.#performOnce(`${method} ${pathname} ${clave}`, body, perform)
      const headers = { 'content-type': 'application/json', ...(repetida ? { 'idempotent-replayed': 'true' } : {}) }
      const respuesta = new Response(datos === undefined ? null : JSON.stringify(datos), { status, headers })
      await this.#work()
      return respuesta
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { problema } = error
      return Response.json(problema, { status: problema.estado_http })
    }
  }

  /**
   * Deja pasar el tiempo: vencen los plazos para confirmar el lugar, y se repiten los webhooks que fallaron. Termina
   * cuando ya se hizo todo lo que tocaba.
   */
  async avanzar({ dias = 0, horas = 0, minutos = 0, segundos = 0 }: Tiempo): Promise<void> {
    const end = this.#now + (((dias * 24 + horas) * 60 + minutos) * 60 + segundos) * 1000
    for (let paso = 0; paso < MAX_STEPS && this.#deliveries.proximo() <= end; paso++) {
      this.#now = Math.max(this.#now, this.#deliveries.proximo())
      await this.#work()
    }
    this.#now = end
    await this.#work()
  }

  /**
   * Does the automatic work of the service between two requests. A receiver of webhooks may call the service meanwhile.
   */
  async #work() {
    if (this.#isWorking) return
    this.#isWorking = true
    try {
      do {
        this.#guias.work()
        for (const recordedEvento of this.#guias.eventos.slice(this.#notifiedCount))
          this.#deliveries.record(recordedEvento)
        this.#notifiedCount = this.#guias.eventos.length
        await this.#deliveries.send()
      } while (this.#notifiedCount < this.#guias.eventos.length)
    } finally {
      this.#isWorking = false
    }
  }

  /** Executes a request once for each key, as the service does. A request that fails does not use up its key. */
  #performOnce(clave: string, cuerpo: unknown, perform: () => OperationResult): OperationResult {
    const firstCall = this.#resultsByKey.get(clave)
    if (firstCall === undefined) {
      const output = perform()
      this.#resultsByKey.set(clave, { cuerpo, output })
      return output
    }
    if (firstCall.cuerpo === cuerpo) return { ...firstCall.output, repetida: true }
    throw new Refusal(409, 'idempotencia_en_conflicto', 'La Idempotency-Key ya se usó con otros datos. Use una nueva.')
  }

  #handle(metodo: string, ruta: string, query: URLSearchParams, cuerpo: unknown): OperationResult {
    for (const [operacion, perform] of Object.entries(this.#operaciones)) {
      const [operationMethod, pathPattern = ''] = operacion.split(' ')
      const pathMatch = new RegExp(`^/api/v1${pathPattern.replaceAll('*', '([^/]+)')}$`).exec(ruta)
      if (operationMethod !== metodo || !pathMatch) continue
      const body = typeof cuerpo === 'string' ? JSON.parse(cuerpo) : {}
      return perform({ path: pathMatch.slice(1).map(decodeURIComponent), query, body })
    }
    throw notFound('ruta_desconocida', `El servicio de pruebas no tiene ${metodo} ${ruta}: use una llave guia_test_….`)
  }

  readonly #operaciones: Readonly<Record<string, (input: OperationInput) => OperationResult>> = {
    'POST /guias': ({ body }) => {
      const { guia, repetida } = this.#guias.crear(body)
      return { status: repetida ? 200 : 201, datos: guia, repetida }
    },
    'POST /guias/bulk': ({ body }) => ({ datos: this.#createLote(body) }),
    'GET /guias': ({ query }) => {
      const [referencia, estados] = [query.get('external_ref'), query.getAll('estado')]
      const todas = [...this.#guias.todas.values()].reverse().filter(({ external_ref, estado }) => {
        return (
          (referencia === null || external_ref === referencia) && (estados.length === 0 || estados.includes(estado))
        )
      })
      return { datos: { ...paginate(todas, query), parcial: false } }
    },
    'GET /guias/*': ({ path, query }) => {
      const guia = this.#guias.buscar(path[0]!)
      return { datos: { ...guia, eventos: paginate(this.#eventosOf(guia.guia), query) } }
    },
    'GET /guias/*/eventos': ({ path, query }) => {
      return { datos: paginate(this.#eventosOf(this.#guias.buscar(path[0]!).guia), query) }
    },
    'POST /guias/*/cancelar': ({ path }) => ({ datos: this.#guias.cancelar(path[0]!) }),
    'POST /guias/*/ubicacion': ({ path, body }) => ({ datos: this.#guias.confirm(path[0]!, 'comercio', body) }),
    'POST /simulador/guias/*/avanzar': ({ path, body }) => ({ datos: this.#guias.mover(path[0]!, body) }),
    'POST /simulador/guias/*/confirmar-ubicacion': ({ path, body }) => {
      return { datos: this.#guias.responder(path[0]!, body) }
    },
    'GET /eventos': ({ query }) => ({ datos: this.#readFeed(query) }),
    'POST /webhooks': ({ body }) => ({ status: 201, datos: this.#deliveries.crear(body as WebhookParaCrear) }),
    'GET /webhooks': ({ query }) => {
      return {
        datos: paginate([...this.#deliveries.webhooksByCode.values()].map(({ webhook }) => webhook).reverse(), query),
      }
    },
    'GET /webhooks/*': ({ path }) => ({ datos: this.#deliveries.buscar(path[0]!) }),
    'DELETE /webhooks/*': ({ path }) => {
      this.#deliveries.buscar(path[0]!)
      this.#deliveries.webhooksByCode.delete(path[0]!)
      return { status: 204 }
    },
  }

  #eventosOf(codigo: string) {
    return this.#guias.eventos.flatMap(({ evento }) => (evento.guia === codigo ? [evento] : []))
  }

  #createLote({ guias, recogida }: LoteParaCrear) {
    const resultados = guias.map((requestedGuia: GuiaParaCrear, indice) => {
      try {
        const { guia, repetida } = this.#guias.crear({ ...(recogida ? { recogida } : {}), ...requestedGuia })
        const { guia: codigo, estado, external_ref, advertencias } = guia
        return { indice, ok: true, guia: codigo, estado, external_ref, repetida, advertencias }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return { indice, ok: false, external_ref: requestedGuia.external_ref ?? null, error: error.problema }
      }
    })
    const countResults = (isRepeated: boolean) =>
      resultados.filter(({ ok, repetida }) => ok && repetida === isRepeated).length
    const fallidas = resultados.filter(({ ok }) => !ok).length
    const counts = { ok: fallidas === 0, creadas: countResults(false), repetidas: countResults(true), fallidas }
    return { ...counts, resultados, advertencias: [] }
  }

  /** Returns a page of the event feed. Its cursor is the number of events already read. */
  #readFeed(query: URLSearchParams) {
    const [desde, tipos, guia] = [query.get('desde'), query.getAll('tipo'), query.get('guia')]
    const allEventos = this.#guias.eventos
    const firstIndex = allEventos.findIndex(({ evento }) => desde !== null && evento.registrado_en >= desde)
    const startIndex =
      desde === 'ahora' || (desde !== null && firstIndex < 0) ? allEventos.length : Math.max(0, firstIndex)
    let cursor = Number(query.get('cursor') ?? startIndex)
    const limite = Number(query.get('limite') ?? 25)
    const datos = []
    for (; cursor < allEventos.length && datos.length < limite; cursor++) {
      const { evento } = allEventos[cursor]!
      if ((tipos.length === 0 || admitsType(tipos, String(evento.tipo))) && (guia === null || evento.guia === guia))
        datos.push(evento)
    }
    return { datos, cursor_siguiente: String(cursor) }
  }
}

/** Returns a page of a list. Its cursor is the position of the next element. */
function paginate<T>(elements: readonly T[], query: URLSearchParams) {
  const desde = Number(query.get('cursor') ?? 0)
  const hasta = desde + Number(query.get('limite') ?? 25)
  return { datos: elements.slice(desde, hasta), cursor_siguiente: hasta < elements.length ? String(hasta) : null }
}
