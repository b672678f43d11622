import type { ResourceClient } from './client.js'
import type { Evento } from './evento.js'
import type { ListarEventosData, PaginaDelFlujo } from './generated/types.gen.js'
import type { ConFechas, OpcionesDeSolicitud } from './options.js'
import type { Listado } from './pages.js'
import { sleepUnlessAborted } from './retries.js'
import { checkInterval } from './tracking.js'

/** Filtros del flujo de eventos, con su principio, el cursor y el tamaño de la página. */
export type FiltrosDelFlujo = ConFechas<NonNullable<ListarEventosData['query']>>

/** Filtros del flujo que se sigue, cada cuánto se pregunta y qué se hace con el cursor. */
export interface OpcionesDelFlujo extends FiltrosDelFlujo {
  /** Milisegundos entre una pregunta y la siguiente, cuando está al día; 5 000 si falta. */
  intervalo?: number | undefined
  /** Función que guarda el cursor de lo que ya se atendió. Se llama después de cada página, y se espera. */
  guardar?: ((cursor: string) => unknown) | undefined
}

/** El flujo de eventos de todas sus guías. */
export class RecursoEventos {
  readonly #list: ResourceClient['listar']

  /**
   * Creates the resource; only the client `Guias` calls it.
   * @internal
   */
  constructor({ listar }: ResourceClient) {
    this.#list = listar
  }

  /**
   * Lista los eventos de todas sus guías, en orden y sin huecos. Sin `cursor`, empieza por el primero o donde diga
   * `desde` (un instante o `ahora`). `tipo` y `guia` dejan solo los eventos que le interesan.
   *
   * `cursor_siguiente` viene siempre: guárdelo y páselo después como `cursor` para recibir solo lo nuevo. El recorrido
   * termina cuando está al día, con una página vacía.
   *
   * ```ts
   * const eventos = api.eventos.listar({ cursor, desde: 'ahora', limite: 100 })
   * for await (const { datos, cursor_siguiente } of eventos.paginas()) {
   *   for (const evento of datos) await atender(evento)
   *   await guardar(cursor_siguiente)
   * }
   * ```
   */
  listar(filtros: FiltrosDelFlujo = {}, opciones?: OpcionesDeSolicitud): Listado<Evento, PaginaDelFlujo> {
    return this.#list('GET /eventos', { query: filtros }, opciones, (pagina) => pagina.datos.length > 0)
  }

  /**
   * Sigue el flujo sin fin: da cada evento y, cuando está al día, pregunta otra vez cada `intervalo` milisegundos. Empieza
   * en `cursor`, o donde diga `desde`. Salga con `break`, o corte con `signal`.
   *
   * Cada evento llega al menos una vez: `guardar` recibe el cursor cuando usted ya atendió toda su página. Si su proceso
   * muere antes, la página llega otra vez; reconozca los repetidos por `evento.id`. Lo pasajero (la red, un 5xx, un 429)
   * se repite hasta que pase, si no da otros `reintentos`; lo demás lanza su error.
   *
   * ```ts
   * for await (const evento of api.eventos.seguir({ cursor: await leer(), desde: 'ahora', guardar })) await atender(evento)
   * ```
   */
  async *seguir(
    { intervalo = 5_000, guardar, ...filtros }: OpcionesDelFlujo = {},
    opciones: OpcionesDeSolicitud = {},
  ): AsyncGenerator<Evento, void, undefined> {
    checkInterval(intervalo)
    for (let { cursor } = filtros; ; ) {
      const eventoList = this.listar({ limite: 100, ...filtros, cursor }, { reintentos: Infinity, ...opciones })
      for await (const { datos, cursor_siguiente } of eventoList.paginas()) {
        yield* datos
        if (cursor !== cursor_siguiente) await guardar?.(cursor_siguiente)
        cursor = cursor_siguiente
      }
      await sleepUnlessAborted(intervalo, opciones.signal)
    }
  }
}
